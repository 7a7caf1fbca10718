//! `memory_search`: plain text, as it stands.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, PROJECT_CHARS_MAX, Refusal, Shape, Tool};
use crate::mcp::hits;

const LIMIT: i64 = 10;
const LIMIT_MAX: i64 = 50;

pub(super) const TOOL: Tool = Tool {
    name: "memory_search",
    title: "Search text",
    description: "Use for exact words, ids or errors. Returns what has that text, newest first.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &["text"] },
    result: Shape { properties: result, required: &["hits"] },
    read,
    render: hits::render,
};

fn parameters() -> Value {
    json!({
        "text": {"type": "string"},
        "project": {"type": "string"},
        "limit": {"type": "integer", "default": LIMIT},
    })
}

fn result() -> Value {
    json!({
        "hits": hits::brief_hits_schema(),
        "count": {"type": "integer"},
        "budget_used": {"type": "integer"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let text = arguments.phrase("text")?;
    let project = arguments.word("project", PROJECT_CHARS_MAX)?;
    let limit = arguments.integer("limit", LIMIT, 1..=LIMIT_MAX)?;
    Ok(Call::new("text_search")
        .with("text", text)
        .with_given("project", project)
        .with("limit", limit))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({"text": "E0502"}),
            &json!({"text_search": {"text": "E0502", "limit": 10, "session_id": "s"}}),
        );
        check_refused(&TOOL, json!({}), "`text` is missing; give a non-empty string");
        check_refused(
            &TOOL,
            json!({"text": "a", "limit": 51}),
            "`limit` is the number 51; give an integer from 1 to 50",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({"hits": [], "count": 0, "budget_used": 0});
        check_result(&TOOL, &result, "No memories match");
    }
}
