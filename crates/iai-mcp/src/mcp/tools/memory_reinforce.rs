//! `memory_reinforce`: says which memories helped together.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, Shape, Tool};

/// Every pair gets a link, so the answer grows with the square of this.
const IDS_MAX: usize = 32;

pub(super) const TOOL: Tool = Tool {
    name: "memory_reinforce",
    title: "Reinforce memories",
    description: "Use when recalled memories helped together. Mutates: strengthens their links; \
                  idempotent per session.",
    effect: Effect::AddsOnce,
    parameters: Shape { properties: parameters, required: &["ids"] },
    result: Shape { properties: result, required: &["edges_boosted"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "ids": {
            "type": "array", "items": {"type": "string", "format": "uuid"}, "maxItems": IDS_MAX
        },
    })
}

fn result() -> Value {
    json!({
        "edges_boosted": {"type": "integer"},
        "new_weights": {"type": "object"},
        "skipped_ids": {"type": "array"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let ids = arguments.ids("ids", IDS_MAX)?;
    Ok(Call::new("memory_reinforce").with("ids", ids))
}

fn render(result: &Value) -> String {
    let n_skipped = result["skipped_ids"].as_array().map_or(0, Vec::len);
    let boosted = format!("{} links strengthened", result["edges_boosted"]);
    match n_skipped {
        0 => boosted,
        _ => format!("{boosted}, {n_skipped} unknown ids skipped"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    const UUID: &str = "8f14e45f-ceea-467f-9f4c-0a1b2c3d4e5f";

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({"ids": [UUID]}),
            &json!({"memory_reinforce": {"ids": [UUID], "session_id": "s"}}),
        );
        check_refused(
            &TOOL,
            json!({"ids": UUID}),
            "`ids` is the string \"8f14e45f-ceea-467f-9f4c-0a1b2c3d4e5f\"; give an array of at \
             most 32 record_ids (uuids) from memory_recall",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({"edges_boosted": 1, "new_weights": {"a|b": 0.2}, "skipped_ids": []});
        check_result(&TOOL, &result, "1 links strengthened");
        let result = json!({"edges_boosted": 0, "new_weights": {}, "skipped_ids": ["a"]});
        check_result(&TOOL, &result, "0 links strengthened, 1 unknown ids skipped");
    }
}
