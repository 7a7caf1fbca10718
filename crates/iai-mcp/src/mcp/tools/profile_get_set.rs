//! `profile_get_set`: reads or changes how memory behaves for this user.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, Shape, Tool, plain};
use crate::mcp::arguments::missing;

const KNOB_CHARS_MAX: usize = 64;

pub(super) const TOOL: Tool = Tool {
    name: "profile_get_set",
    title: "Profile knobs",
    description: "Use for the user's settings: get returns one knob or all, set mutates one; \
                  idempotent.",
    effect: Effect::AddsOnce,
    parameters: Shape { properties: parameters, required: &["operation"] },
    result: Shape { properties: result, required: &[] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "operation": {"enum": ["get", "set"]},
        "knob": {"type": "string"},
        "value": {"description": "for set"},
    })
}

fn result() -> Value {
    json!({
        "live": {"type": "object"},
        "deferred": {"type": "object"},
        "total_knobs": {"type": "integer"},
        "knob": {"type": "string"},
        "value": {},
        "status": {"type": "string"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let operation = arguments.required_choice("operation", &["get", "set"])?;
    let knob = arguments.word("knob", KNOB_CHARS_MAX)?;
    let value = arguments.any("value");
    if operation == "get" {
        // The value is let through: models send it along out of symmetry, and nothing is lost.
        return Ok(Call::new("profile_get").with("knob", knob));
    }
    let knob = knob.ok_or_else(|| missing("knob", "the name of the knob to set"))?;
    let value = value.ok_or_else(|| missing("value", "the new value of the knob"))?;
    Ok(Call::new("profile_set").with("knob", knob).with("value", value))
}

fn render(result: &Value) -> String {
    let knob = plain(&result["knob"]);
    match (result["live"].as_object(), result["status"].as_str()) {
        (Some(live), _) => {
            let knobs = live.iter().map(|(name, value)| format!("{name} = {value}"));
            knobs.collect::<Vec<_>>().join("\n")
        }
        (None, Some("unknown")) => format!("there is no knob {knob}; get without knob lists them"),
        (None, Some(_)) => format!("{knob} is now {}", result["value"]),
        (None, None) => format!("{knob} = {}", result["value"]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({"operation": "get"}),
            &json!({"profile_get": {"knob": null, "session_id": "s"}}),
        );
        check_call(
            &TOOL,
            json!({"operation": "set", "knob": "k", "value": [1]}),
            &json!({"profile_set": {"knob": "k", "value": [1], "session_id": "s"}}),
        );
        check_refused(&TOOL, json!({}), "`operation` is missing; give one of get, set");
        check_refused(
            &TOOL,
            json!({"operation": "reset"}),
            "`operation` is the string \"reset\"; give one of get, set",
        );
        check_refused(
            &TOOL,
            json!({"operation": "set", "value": 1}),
            "`knob` is missing; give the name of the knob to set",
        );
        check_refused(
            &TOOL,
            json!({"operation": "set", "knob": "k"}),
            "`value` is missing; give the new value of the knob",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let all = json!({"live": {"a": "x", "b": 2}, "deferred": {}, "total_knobs": 2});
        check_result(&TOOL, &all, "a = \"x\"\nb = 2");
        check_result(&TOOL, &json!({"knob": "a", "value": null}), "a = null");
        check_result(&TOOL, &json!({"status": "ok", "knob": "a", "value": true}), "a is now true");
        check_result(
            &TOOL,
            &json!({"knob": "z", "status": "unknown"}),
            "there is no knob z; get without knob lists them",
        );
    }

    #[test]
    fn a_refused_value_is_an_error_with_its_reason() {
        let result = json!({"status": "error", "reason": "a takes true or false", "knob": "a"});
        assert_eq!(TOOL.render(&result), Err(Refusal("a takes true or false".to_owned())));
    }
}
