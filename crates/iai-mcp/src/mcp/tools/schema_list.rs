//! `schema_list`: the patterns memory has found so far.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, Shape, Tool, lines, plain};

const DOMAIN_CHARS_MAX: usize = 128;

pub(super) const TOOL: Tool = Tool {
    name: "schema_list",
    title: "Learned patterns",
    description: "Returns recurring patterns found in memories, with confidence and evidence.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &[] },
    result: Shape { properties: result, required: &["schemas"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({
        "domain": {"type": "string"},
        "confidence_min": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
    })
}

fn result() -> Value {
    json!({
        "schemas": {"type": "array", "items": {
            "type": "object", "required": ["id", "pattern", "confidence"]
        }},
        "total": {"type": "integer"},
    })
}

fn read(arguments: &mut Arguments) -> Result<Call, Refusal> {
    let domain = arguments.word("domain", DOMAIN_CHARS_MAX)?;
    let confidence = arguments.number("confidence_min", 0.0, 0.0..=1.0)?;
    Ok(Call::new("schema_list").with_given("domain", domain).with("confidence_min", confidence))
}

fn render(result: &Value) -> String {
    lines(&format!("{} patterns", result["total"]), &result["schemas"], |schema| {
        let pattern = plain(&schema["pattern"]);
        let status = plain(&schema["status"]);
        format!(
            "- {pattern} ({status}, {} of 1, {} cases)",
            schema["confidence"], schema["evidence_count"]
        )
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
            json!({}),
            &json!({"schema_list": {"confidence_min": 0.0, "session_id": "s"}}),
        );
        check_call(
            &TOOL,
            json!({"domain": "work", "confidence_min": 1}),
            &json!({"schema_list": {"domain": "work", "confidence_min": 1.0, "session_id": "s"}}),
        );
        check_refused(
            &TOOL,
            json!({"confidence_min": 70}),
            "`confidence_min` is the number 70; give a number from 0 to 1",
        );
    }

    #[test]
    fn the_result_fits_its_schema() {
        let schema = json!({
            "id": "a", "pattern": "deploys on Fridays", "confidence": 0.8, "evidence_count": 4,
            "exceptions_count": 0, "status": "active", "language": "en"
        });
        let result = json!({"schemas": [schema], "total": 1});
        let text = "1 patterns\n- deploys on Fridays (active, 0.8 of 1, 4 cases)";
        check_result(&TOOL, &result, text);
    }
}
