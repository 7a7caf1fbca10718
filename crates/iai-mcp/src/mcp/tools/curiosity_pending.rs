//! `curiosity_pending`: what memory would like to ask the user.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, SESSION_ID_CHARS_MAX, Shape, Tool, lines, plain};

pub(super) const TOOL: Tool = Tool {
    name: "curiosity_pending",
    title: "Open questions",
    description: "Returns open questions about gaps in memory, to ask the user when it fits.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &[] },
    result: Shape { properties: result, required: &["questions"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({"session_id": {"type": "string", "description": "only this session's"}})
}

fn result() -> Value {
    json!({
        "questions": {"type": "array", "items": {
            "type": "object", "required": ["id", "text"]
        }},
        "count": {"type": "integer"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let session = arguments.word("session_id", SESSION_ID_CHARS_MAX)?;
    Ok(Call::new("curiosity_pending").with_given("session_id", session).session_filters())
}

fn render(result: &Value) -> String {
    let heading = format!("{} open questions", result["count"]);
    lines(&heading, &result["questions"], |question| format!("- {}", plain(&question["text"])))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        // Without a session everything is meant: the host's own must not slip in as a filter.
        check_call(&TOOL, json!({}), &json!({"curiosity_pending": {}}));
        check_call(
            &TOOL,
            json!({"session_id": "t"}),
            &json!({"curiosity_pending": {"session_id": "t"}}),
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let question = json!({
            "id": "q", "text": "Which day?", "tier": "inline", "entropy": 0.4,
            "triggered_by_record_ids": ["a"]
        });
        let result = json!({"questions": [question], "count": 1});
        check_result(&TOOL, &result, "1 open questions\n- Which day?");
    }
}
