//! `events_query`: what memory did to itself, newest first.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, Shape, Tool, lines, plain};
use crate::mcp::arguments::missing;

const KIND_CHARS_MAX: usize = 64;
const LIMIT: i64 = 100;
const LIMIT_MAX: i64 = 1_000;
const SEVERITIES: &[&str] = &["info", "warning", "critical"];

pub(super) const TOOL: Tool = Tool {
    name: "events_query",
    title: "Memory events",
    description: "Use for audits. Returns logged events of one kind, newest first.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &["kind"] },
    result: Shape { properties: result, required: &["events"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "kind": {"type": "string", "description": "e.g. cls_consolidation_run"},
        "since": {"type": "string", "description": "ISO 8601"},
        "severity": {"enum": SEVERITIES},
        "limit": {"type": "integer", "minimum": 1, "default": LIMIT, "description": "up to 1000"},
    })
}

fn result() -> Value {
    json!({
        "events": {"type": "array", "items": {
            "type": "object", "required": ["id", "kind", "ts", "data"]
        }},
        "count": {"type": "integer"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let expected = "a kind of event such as cls_consolidation_run";
    let kind = arguments.word("kind", KIND_CHARS_MAX)?;
    let kind = kind.ok_or_else(|| missing("kind", expected))?;
    let since = arguments.time("since")?;
    let severity = arguments.choice("severity", SEVERITIES)?;
    let limit = arguments.count_up_to("limit", LIMIT, LIMIT_MAX)?;
    Ok(Call::new("events_query")
        .with("kind", kind)
        .with_given("since", since.map(|time| time.to_string()))
        .with_given("severity", severity)
        .with("limit", limit))
}

fn render(result: &Value) -> String {
    lines(&format!("{} events", result["count"]), &result["events"], |event| {
        let severity = event["severity"].as_str().unwrap_or("info");
        format!("- {} {} {severity} {}", plain(&event["ts"]), plain(&event["kind"]), event["data"])
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({"kind": "llm_health", "since": "2026-11-02T09:00:00", "severity": "info"}),
            &json!({"events_query": {
                "kind": "llm_health", "since": "2026-11-02T09:00:00Z", "severity": "info",
                "limit": 100, "session_id": "s"
            }}),
        );
        check_refused(
            &TOOL,
            json!({}),
            "`kind` is missing; give a kind of event such as cls_consolidation_run",
        );
        check_call(
            &TOOL,
            json!({"kind": "k", "limit": 1001}),
            &json!({"events_query": {"kind": "k", "limit": 1000, "session_id": "s"}}),
        );
        check_refused(
            &TOOL,
            json!({"kind": "k", "limit": 0}),
            "`limit` is the number 0; give an integer of at least 1",
        );
        check_refused(
            &TOOL,
            json!({"kind": "k", "since": "last week"}),
            "`since` is the string \"last week\"; give an ISO 8601 time such as \
             2026-11-02T09:00:00Z",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let event = json!({
            "id": "e", "kind": "llm_health", "severity": null, "domain": "x",
            "ts": "2026-11-02T09:00:00Z", "data": {"ok": true}, "session_id": null, "source_ids": []
        });
        let result = json!({"events": [event], "count": 1});
        let text = "1 events\n- 2026-11-02T09:00:00Z llm_health info {\"ok\":true}";
        check_result(&TOOL, &result, text);
    }
}
