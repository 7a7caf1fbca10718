//! `camouflaging_status`: whether the user's wording drifts towards masking.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, Shape, Tool};

const WINDOW: i64 = 5;
const WINDOW_MAX: i64 = 1_000;

pub(super) const TOOL: Tool = Tool {
    name: "camouflaging_status",
    title: "Camouflaging status",
    description: "Detects whether the user's wording drifts towards masking over recent weeks.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &[] },
    result: Shape { properties: result, required: &["detected"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "window_size": {"type": "integer", "default": WINDOW},
    })
}

fn result() -> Value {
    json!({
        "detected": {"type": "boolean"},
        "trajectory_slope": {"type": "number"},
        "current_mean": {"type": "number"},
        "sample_count": {"type": "integer"},
        "camouflaging_relaxation": {"type": "number"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let window = arguments.integer("window_size", WINDOW, 1..=WINDOW_MAX)?;
    Ok(Call::new("camouflaging_status").with("window_size", window))
}

fn render(result: &Value) -> String {
    let detected = if result["detected"] == true { "detected" } else { "not detected" };
    format!(
        "camouflaging {detected} in {} samples; slope {}, mean {}, relaxation {}",
        result["sample_count"],
        result["trajectory_slope"],
        result["current_mean"],
        result["camouflaging_relaxation"]
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({}),
            &json!({"camouflaging_status": {"window_size": 5, "session_id": "s"}}),
        );
        check_refused(
            &TOOL,
            json!({"window_size": true}),
            "`window_size` is the boolean true; give an integer from 1 to 1000",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({
            "detected": false, "trajectory_slope": 0.0, "current_mean": 0.0, "sample_count": 0,
            "camouflaging_relaxation": 0.0
        });
        let text = "camouflaging not detected in 0 samples; slope 0.0, mean 0.0, relaxation 0.0";
        check_result(&TOOL, &result, text);
    }
}
