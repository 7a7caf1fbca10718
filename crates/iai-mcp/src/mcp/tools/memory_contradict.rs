//! `memory_contradict`: a remembered fact has changed.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, Shape, Tool, plain};

pub(super) const TOOL: Tool = Tool {
    name: "memory_contradict",
    title: "Correct a memory",
    description: "Use when a remembered fact changed. Mutates: stores new_fact and marks the old \
                  memory superseded.",
    effect: Effect::Adds,
    parameters: Shape { properties: parameters, required: &["id", "new_fact"] },
    result: Shape { properties: result, required: &["new_record_id"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "id": {
            "type": "string", "format": "uuid", "description": "record_id of the outdated memory"
        },
        "new_fact": {"type": "string"},
    })
}

fn result() -> Value {
    json!({
        "original_id": {"type": "string"},
        "new_record_id": {"type": "string"},
        "edge_type": {"type": "string"},
        "ts": {"type": "string"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let id = arguments.id("id")?;
    let new_fact = arguments.phrase("new_fact")?;
    arguments.ignored_vector("cue_embedding")?;
    Ok(Call::new("memory_contradict").with("id", id).with("new_fact", new_fact))
}

fn render(result: &Value) -> String {
    let (new, old) = (plain(&result["new_record_id"]), plain(&result["original_id"]));
    format!("{new} now stands against {old}")
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
            json!({"id": UUID, "new_fact": "Пятница", "cue_embedding": []}),
            &json!({"memory_contradict": {"id": UUID, "new_fact": "Пятница", "session_id": "s"}}),
        );
        check_refused(
            &TOOL,
            json!({"id": "the first one", "new_fact": "x"}),
            "`id` is the string \"the first one\"; give a record_id (uuid) from memory_recall",
        );
        check_refused(&TOOL, json!({"id": UUID}), "`new_fact` is missing; give a non-empty string");
        check_refused(
            &TOOL,
            json!({"id": UUID, "new_fact": "x", "cue_embedding": "0.1"}),
            "`cue_embedding` is the string \"0.1\"; give an array of numbers",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({
            "original_id": "old", "new_record_id": "new", "edge_type": "contradicts",
            "ts": "2026-11-02T09:00:00Z"
        });
        check_result(&TOOL, &result, "new now stands against old");
    }
}
