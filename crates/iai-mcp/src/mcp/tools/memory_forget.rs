//! `memory_forget`: the user wants something forgotten. Listed only where the user allowed it, and
//! nothing goes by its first call.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, Shape, Tool, lines, plain};

pub(super) const TOOL: Tool = Tool {
    name: "memory_forget",
    title: "Forget memories for good",
    description: "Use when the user asks to forget. Returns what would go and a token; a second \
                  call with confirm erases it.",
    effect: Effect::Erases,
    parameters: Shape { properties: parameters, required: &[] },
    result: Shape { properties: result, required: &["status", "count"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "ids": {"type": "array", "items": {"type": "string"}},
        "session": {"type": "string"},
        "project": {"type": "string"},
        "match": {"type": "string", "description": "text they contain"},
        "before": {"type": "string", "format": "date-time"},
        "confirm": {
            "type": "string",
            "description": "token of the dry run, after the user agreed to exactly that"
        },
    })
}

fn result() -> Value {
    json!({
        "status": {"type": "string", "enum": ["dry_run", "forgotten"]},
        "count": {"type": "integer"},
        "confirm": {"type": "string"},
        "memories": {"type": "array"},
        "receipt": {"type": "integer"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let ids = arguments.any("ids");
    let before = arguments.time("before")?;
    let call = Call::new("memory_forget_asked")
        .with_given("ids", ids)
        .with_given("session", arguments.optional_text("session")?)
        .with_given("project", arguments.optional_text("project")?)
        .with_given("match", arguments.optional_text("match")?)
        .with_given("before", before.map(|time| time.to_string()))
        .with_given("confirm", arguments.optional_text("confirm")?);
    Ok(call)
}

fn render(result: &Value) -> String {
    let count = &result["count"];
    if result["status"] == "forgotten" && result["receipt"].is_null() {
        return "nothing fits; nothing was forgotten".to_owned();
    }
    if result["status"] == "forgotten" {
        let done = format!("{count} memories are forgotten; receipt {}", result["receipt"]);
        return done + &holding_again(result);
    }
    let heading = format!(
        "{count} memories would be forgotten for good. Show them to the user; if they agree, call \
         again with the same arguments and confirm={}",
        plain(&result["confirm"])
    );
    let going = lines(&heading, &result["memories"], |memory| {
        format!("{} {}", plain(&memory["ts"]), plain(&memory["first_words"]))
    });
    going + &holding_again(result)
}

/// What nobody asked for, and the user is to know: older wordings that come back.
fn holding_again(result: &Value) -> String {
    if result["holds_again"].as_array().is_none_or(Vec::is_empty) {
        return String::new();
    }
    lines("\nwhat they had replaced holds again:", &result["holds_again"], |memory| {
        format!("{} {}", plain(&memory["record_id"]), plain(&memory["first_words"]))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({"match": "sea", "confirm": "forget-1"}),
            &json!({"memory_forget_asked": {
                "match": "sea", "confirm": "forget-1", "session_id": "s"
            }}),
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let shown = json!({
            "status": "dry_run", "count": 1, "confirm": "forget-1",
            "memories": [{"ts": "2026-05-01T10:00:00Z", "first_words": "the sea"}],
        });
        check_result(
            &TOOL,
            &shown,
            "1 memories would be forgotten for good. Show them to the user; if they agree, call \
             again with the same arguments and confirm=forget-1\n2026-05-01T10:00:00Z the sea",
        );
        let done = json!({"status": "forgotten", "count": 1, "receipt": 3});
        check_result(&TOOL, &done, "1 memories are forgotten; receipt 3");
        let done = json!({
            "status": "forgotten", "count": 1, "receipt": 3,
            "holds_again": [{"record_id": "0011", "first_words": "the hill"}],
        });
        check_result(
            &TOOL,
            &done,
            "1 memories are forgotten; receipt 3\nwhat they had replaced holds again:\n\
             0011 the hill",
        );
        let nothing = json!({"status": "forgotten", "count": 0});
        check_result(&TOOL, &nothing, "nothing fits; nothing was forgotten");
    }
}
