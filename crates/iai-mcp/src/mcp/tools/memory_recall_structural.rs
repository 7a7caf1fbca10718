//! `memory_recall_structural`: recall by what is known about a memory instead of what it says.

use serde_json::{Value, json};

use super::memory_recall::BUDGET_TOKENS_MAX;
use super::{Arguments, Call, Effect, Refusal, Shape, Tool};
use crate::mcp::hits;

const BUDGET_TOKENS: i64 = 2_000;
const RECORDS: i64 = 5_000;
const RECORDS_MAX: i64 = 50_000;
const ROLES_MAX: usize = 32;
const ROLES: &str =
    "ROLE WHEN PROJECT SESSION_ID TIER LANG TOPIC ENTITY FILE COMMAND TOOL SOURCE CERTAINTY";

pub(super) const TOOL: Tool = Tool {
    name: "memory_recall_structural",
    title: "Recall by attributes",
    description: "Use when attributes are known, e.g. {\"ENTITY\":\"Kafka\",\"WHEN\":\"last \
                  week\"}. Returns what has most of them.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &[] },
    result: Shape { properties: result, required: &["hits"] },
    read,
    render: hits::render,
};

fn parameters() -> Value {
    json!({
        "structure_query": {
            "type": "object", "additionalProperties": {"type": "string"}, "description": ROLES
        },
        "budget_tokens": {"type": "integer", "default": BUDGET_TOKENS},
        "max_records": {"type": "integer", "default": RECORDS},
    })
}

fn result() -> Value {
    json!({
        "hits": hits::brief_hits_schema(),
        "anti_hits": {"type": "array"},
        "activation_trace": {"type": "array"},
        "budget_used": {"type": "integer"},
        "structural_query_size": {"type": "integer"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let query = arguments.text_map("structure_query", ROLES_MAX)?;
    let budget = arguments.integer("budget_tokens", BUDGET_TOKENS, 1..=BUDGET_TOKENS_MAX)?;
    let records = arguments.integer("max_records", RECORDS, 1..=RECORDS_MAX)?;
    Ok(Call::new("memory_recall_structural")
        .with("structure_query", query)
        .with("budget_tokens", budget)
        .with("max_records", records))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(
            &TOOL,
            json!({"structure_query": {"TIER": "semantic"}}),
            &json!({"memory_recall_structural": {
                "structure_query": {"TIER": "semantic"}, "budget_tokens": 2000, "max_records": 5000,
                "session_id": "s"
            }}),
        );
        check_refused(
            &TOOL,
            json!({"structure_query": {"TIER": 3}}),
            "`structure_query` is an object of 1; give an object of at most 32 string values",
        );
        check_refused(
            &TOOL,
            json!({"max_records": 0}),
            "`max_records` is the number 0; give an integer from 1 to 50000",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({
            "hits": [], "anti_hits": [], "activation_trace": [], "budget_used": 0,
            "structural_query_size": 1
        });
        check_result(&TOOL, &result, "No memories match");
    }
}
