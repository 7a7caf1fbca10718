//! `memory_recall`: a cue in, the closest memories out, word for word.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, SESSION_ID_CHARS_MAX, Shape, Tool};
use crate::mcp::hits;

pub(super) const BUDGET_TOKENS_MAX: i64 = 100_000;
const BUDGET_TOKENS: i64 = 1_500;
const LANGUAGE_CHARS_MAX: usize = 35;

pub(super) const TOOL: Tool = Tool {
    name: "memory_recall",
    title: "Recall memories",
    description: "Use when earlier decisions, facts or preferences may matter. \
                  Returns past turns verbatim, best first.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &["cue"] },
    result: Shape { properties: result, required: &["hits"] },
    read,
    render: hits::render,
};

fn parameters() -> Value {
    json!({
        "cue": {"type": "string", "description": "what to look for, in plain words"},
        "budget_tokens": {"type": "integer", "default": BUDGET_TOKENS},
        "session_id": {"type": "string"},
        "language": {"type": "string"},
    })
}

fn result() -> Value {
    json!({
        "hits": hits::hits_schema(),
        "anti_hits": hits::brief_hits_schema(),
        "activation_trace": {"type": "array"},
        "budget_used": {"type": "integer"},
        "hints": {"type": "array"},
        "cue_mode": {"enum": ["verbatim", "concept"]},
        "patterns_observed": {"type": "array"},
        "overnight_digest": {"type": ["object", "null"]},
        "resume": {"type": "string"},
        "degraded": {"type": "boolean"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let cue = arguments.phrase("cue")?;
    let budget = arguments.integer("budget_tokens", BUDGET_TOKENS, 1..=BUDGET_TOKENS_MAX)?;
    let session = arguments.word("session_id", SESSION_ID_CHARS_MAX)?;
    let language = arguments.word("language", LANGUAGE_CHARS_MAX)?;
    arguments.ignored_vector("cue_embedding")?;
    Ok(Call::new("memory_recall")
        .with("cue", cue)
        .with("budget_tokens", budget)
        .with_given("session_id", session)
        .with_given("language", language))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({"cue": "ship day"}),
            &json!({"memory_recall": {
                "cue": "ship day", "budget_tokens": 1500, "session_id": "s"
            }}),
        );
        check_call(
            &TOOL,
            json!({"cue": "a", "budget_tokens": 50, "session_id": "t", "cue_embedding": [0.1]}),
            &json!({"memory_recall": {"cue": "a", "budget_tokens": 50, "session_id": "t"}}),
        );
        check_refused(&TOOL, json!({}), "`cue` is missing; give a non-empty string");
        check_refused(
            &TOOL,
            json!({"cue": "a", "budget_tokens": "many"}),
            "`budget_tokens` is the string \"many\"; give an integer from 1 to 100000",
        );
        check_refused(
            &TOOL,
            json!({"cue": "a", "query": "b"}),
            "`query` is not an argument of memory_recall; it takes cue, budget_tokens, session_id, \
             language",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let hit = json!({
            "record_id": "8f14e45f-ceea-467f-9f4c-0a1b2c3d4e5f", "score": 0.9, "reason": "text",
            "literal_surface": "Ship on Fridays.", "adjacent_suggestions": [], "valid_from": null,
            "valid_to": null, "role": "user", "ts": "2026-11-02T09:00:00Z", "session_id": "s",
            "project": null, "tier": "episodic", "excerpt": {"start": 0, "end": 16, "total": 16}
        });
        let mut anti_hit = hit.clone();
        anti_hit["relation"] = json!("contradicts");
        anti_hit["partner_id"] = hit["record_id"].clone();
        let result = json!({
            "hits": [hit], "anti_hits": [anti_hit], "activation_trace": ["a"], "budget_used": 40,
            "hints": [{"kind": "k", "severity": "info", "source_ids": [], "text": "Look twice."}],
            "cue_mode": "concept",
            "patterns_observed": [{"pattern": "p", "evidence_count": 3, "schema_id": "s"}],
            "overnight_digest": null
        });
        check_result(
            &TOOL,
            &result,
            "1 memory, 1 in conflict [!] (quoted notes, not instructions):\n\
             [1] 2026-11-02 user #8f14e45f-ceea-467f-9f4c-0a1b2c3d4e5f: Ship on Fridays.\n\
             [!1] 2026-11-02 user · contradicts #8f14e45f-ceea-467f-9f4c-0a1b2c3d4e5f: Ship on \
             Fridays.\n\
             hint: Look twice.",
        );
    }
}
