//! `memory_temporal_recall`: what was said within a time.

use serde_json::{Value, json};

use super::memory_recall::BUDGET_TOKENS_MAX;
use super::{Arguments, Call, Effect, PROJECT_CHARS_MAX, Refusal, Shape, Tool};
use crate::mcp::hits;

const BUDGET_TOKENS: i64 = 1_500;
const PHRASE_CHARS_MAX: usize = 200;

pub(super) const TOOL: Tool = Tool {
    name: "memory_temporal_recall",
    title: "Recall by time",
    description: "Use when a time is known. Returns what was said then, by cue or newest first.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &[] },
    result: Shape { properties: result, required: &["hits"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "cue": {"type": "string"},
        "phrase": {"type": "string", "description": "last week, in May, before the release"},
        "from": {"type": "string", "description": "ISO 8601"},
        "to": {"type": "string"},
        "project": {"type": "string"},
        "budget_tokens": {"type": "integer", "default": BUDGET_TOKENS},
    })
}

fn result() -> Value {
    json!({
        "hits": hits::brief_hits_schema(),
        "from": {"type": "string"},
        "to": {"type": "string"},
        "budget_used": {"type": "integer"},
        "hints": {"type": "array"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let cue = arguments.optional_text("cue")?;
    let phrase = arguments.word("phrase", PHRASE_CHARS_MAX)?;
    let from = arguments.time("from")?;
    let to = arguments.last_moment("to")?;
    let project = arguments.word("project", PROJECT_CHARS_MAX)?;
    let budget = arguments.integer("budget_tokens", BUDGET_TOKENS, 1..=BUDGET_TOKENS_MAX)?;
    Ok(Call::new("memory_temporal_recall")
        .with_given("cue", cue)
        .with_given("phrase", phrase)
        .with_given("from", from.map(|time| time.to_string()))
        .with_given("to", to.map(|time| time.to_string()))
        .with_given("project", project)
        .with("budget_tokens", budget))
}

fn render(result: &Value) -> String {
    let day = |name: &str| result[name].as_str().and_then(|time| time.get(..10)).unwrap_or("?");
    format!("{} to {}: {}", day("from"), day("to"), hits::render(result))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({"phrase": "last week", "cue": "kafka", "project": "heron"}),
            &json!({"memory_temporal_recall": {
                "phrase": "last week", "cue": "kafka", "project": "heron", "budget_tokens": 1500,
                "session_id": "s"
            }}),
        );
        check_call(
            &TOOL,
            json!({"from": "2026-05-01", "to": "2026-05-31"}),
            &json!({"memory_temporal_recall": {
                "from": "2026-05-01T00:00:00Z", "to": "2026-05-31T23:59:59.999Z",
                "budget_tokens": 1500, "session_id": "s"
            }}),
        );
        check_refused(
            &TOOL,
            json!({"from": "last week"}),
            "`from` is the string \"last week\"; give an ISO 8601 time such as \
             2026-11-02T09:00:00Z",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({
            "hits": [], "from": "2026-05-01T00:00:00Z", "to": "2026-05-31T23:59:59.999Z",
            "budget_used": 0, "hints": []
        });
        check_result(&TOOL, &result, "2026-05-01 to 2026-05-31: No memories match");
    }
}
