//! `memory_capture`: keeps one text, word for word.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, SESSION_ID_CHARS_MAX, Shape, Tool, plain};

const TIERS: &[&str] = &["working", "episodic", "semantic", "procedural", "parametric"];
const ROLES: &[&str] = &["user", "assistant", "system"];

pub(super) const TOOL: Tool = Tool {
    name: "memory_capture",
    title: "Capture a memory",
    description: "Use when the user decides, corrects or prefers something. Mutates: stores the \
                  text verbatim.",
    effect: Effect::Adds,
    parameters: Shape { properties: parameters, required: &["text"] },
    result: Shape { properties: result, required: &["status"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "text": {"type": "string"},
        "cue": {"type": "string"},
        "tier": {"enum": TIERS},
        "session_id": {"type": "string"},
        "role": {"enum": ROLES},
    })
}

fn result() -> Value {
    json!({
        "status": {"enum": ["inserted", "reinforced", "skipped", "deferred"]},
        "record_id": {"type": ["string", "null"]},
        "reason": {"type": "string"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let text = arguments.text("text")?;
    let cue = arguments.optional_text("cue")?;
    let tier = arguments.choice("tier", TIERS)?;
    let session = arguments.word("session_id", SESSION_ID_CHARS_MAX)?;
    let role = arguments.choice("role", ROLES)?;
    Ok(Call::new("memory_capture")
        .with("text", text)
        .with_given("cue", cue)
        .with("tier", tier.unwrap_or("episodic"))
        .with_given("session_id", session)
        .with("role", role.unwrap_or("user")))
}

fn render(result: &Value) -> String {
    let (status, reason) = (plain(&result["status"]), plain(&result["reason"]));
    match result["record_id"].as_str() {
        Some(id) => format!("{status} {id} ({reason})"),
        None => format!("{status} ({reason})"),
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
            json!({"text": "We ship on Fridays."}),
            &json!({"memory_capture": {
                "text": "We ship on Fridays.", "tier": "episodic", "role": "user", "session_id": "s"
            }}),
        );
        check_call(
            &TOOL,
            json!({
                "text": "x", "cue": "c", "tier": "semantic", "session_id": "t", "role": "assistant"
            }),
            &json!({"memory_capture": {
                "text": "x", "cue": "c", "tier": "semantic", "session_id": "t", "role": "assistant"
            }}),
        );
        check_refused(
            &TOOL,
            json!({"text": "x", "tier": "forever"}),
            "`tier` is the string \"forever\"; give one of working, episodic, semantic, \
             procedural, parametric",
        );
        check_refused(&TOOL, json!({"text": 5}), "`text` is the number 5; give a string");
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({"status": "inserted", "record_id": "a", "reason": "tier=episodic"});
        check_result(&TOOL, &result, "inserted a (tier=episodic)");
        let result = json!({"status": "skipped", "record_id": null, "reason": "too short"});
        check_result(&TOOL, &result, "skipped (too short)");
    }
}
