//! `memory_consolidate`: does now what the daemon otherwise does when idle.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, SESSION_ID_CHARS_MAX, Shape, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "memory_consolidate",
    title: "Consolidate now",
    description: "Use when the user asks to tidy memory now. Mutates: adds summaries and patterns; \
                  idempotent.",
    effect: Effect::AddsOnce,
    parameters: Shape { properties: parameters, required: &[] },
    result: Shape { properties: result, required: &["summaries_created"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({"session_id": {"type": "string"}})
}

fn result() -> Value {
    json!({
        "mode": {"type": "string"},
        "tier": {"type": "string"},
        "summaries_created": {"type": "integer"},
        "decay_result": {"type": "object"},
        "schema_candidates": {"type": "array"},
        "steps": {"type": "object"},
        "is_finished": {"type": "boolean"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let session = arguments.word("session_id", SESSION_ID_CHARS_MAX)?;
    Ok(Call::new("memory_consolidate").with_given("session_id", session))
}

fn render(result: &Value) -> String {
    let decay = &result["decay_result"];
    let n_patterns = result["schema_candidates"].as_array().map_or(0, Vec::len);
    let rest = match result["is_finished"].as_bool() {
        Some(false) => "; the rest goes on behind",
        _ => "",
    };
    format!(
        "{} summaries added, {n_patterns} pattern candidates, {} links weakened, {} dropped{rest}",
        result["summaries_created"], decay["decayed"], decay["pruned"]
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(&TOOL, json!({}), &json!({"memory_consolidate": {"session_id": "s"}}));
        check_call(
            &TOOL,
            json!({"session_id": "t"}),
            &json!({"memory_consolidate": {"session_id": "t"}}),
        );
        check_refused(
            &TOOL,
            json!({"session_id": ""}),
            "`session_id` is the string \"\"; give a string of 1 to 128 characters",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({
            "mode": "heavy", "tier": "tier0", "summaries_created": 2,
            "decay_result": {"decayed": 3, "pruned": 0},
            "schema_candidates": [{"pattern": "p", "confidence": 0.8, "evidence_count": 4}]
        });
        let text = "2 summaries added, 1 pattern candidates, 3 links weakened, 0 dropped";
        check_result(&TOOL, &result, text);
        let mut part = result;
        part["is_finished"] = json!(false);
        check_result(&TOOL, &part, &format!("{text}; the rest goes on behind"));
    }
}
