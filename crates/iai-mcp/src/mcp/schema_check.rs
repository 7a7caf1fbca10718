//! Holds a JSON value against the few JSON Schema words our tools use; for tests only.
//!
//! A word it does not know is itself a violation, so a schema cannot outgrow its checker unnoticed.

use serde_json::{Map, Value};

/// Returns every way `value` breaks `schema`, each with the path to the place; empty when it fits.
pub(super) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    hold(schema, value, "$", &mut found);
    found
}

fn hold(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(words) = schema.as_object() else {
        return found.push(format!("{at}: the schema is not an object"));
    };
    for (word, says) in words {
        match word.as_str() {
            "type" if !has_type(says, value) => found.push(format!("{at}: {value} is not {says}")),
            "enum" if !says.as_array().is_some_and(|allowed| allowed.contains(value)) => {
                found.push(format!("{at}: {value} is not among {says}"));
            }
            "minimum" if value.as_f64() < says.as_f64() => found.push(format!("{at}: too small")),
            "maximum" if value.as_f64() > says.as_f64() => found.push(format!("{at}: too large")),
            "maxItems" if value.as_array().map(Vec::len) > says.as_u64().map(as_length) => {
                found.push(format!("{at}: too many items"));
            }
            "required" => hold_required(says, value, at, found),
            "items" => {
                for (item_idx, item) in value.as_array().into_iter().flatten().enumerate() {
                    hold(says, item, &format!("{at}[{item_idx}]"), found);
                }
            }
            "properties" | "additionalProperties" => {}
            "type" | "enum" | "minimum" | "maximum" | "maxItems" | "default" | "format"
            | "description" => {}
            unknown => found.push(format!("{at}: the checker does not know `{unknown}`")),
        }
    }
    if let Some(fields) = value.as_object() {
        hold_fields(words, fields, at, found);
    }
}

fn hold_required(names: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for name in names.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.is_object() && value.get(name).is_none() {
            found.push(format!("{at}.{name}: missing"));
        }
    }
}

fn hold_fields(
    words: &Map<String, Value>,
    fields: &Map<String, Value>,
    at: &str,
    found: &mut Vec<String>,
) {
    let listed = words.get("properties").and_then(Value::as_object);
    for (name, field) in fields {
        let place = format!("{at}.{name}");
        match (listed.and_then(|listed| listed.get(name)), words.get("additionalProperties")) {
            (Some(schema), _) => hold(schema, field, &place, found),
            (None, Some(Value::Bool(false))) => found.push(format!("{place}: not listed")),
            (None, Some(schema @ Value::Object(_))) => hold(schema, field, &place, found),
            (None, _) => {}
        }
    }
}

fn has_type(says: &Value, value: &Value) -> bool {
    match says {
        Value::Array(types) => types.iter().any(|one| has_type(one, value)),
        _ => match says.as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("null") => value.is_null(),
            Some("number") => value.is_number(),
            Some("integer") => value.is_i64() || value.is_u64(),
            _ => false,
        },
    }
}

fn as_length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, value: &Value, expect: &[&str]) {
        assert_eq!(violations(schema, value), expect);
    }

    #[test]
    fn types_and_words_are_held() {
        check(&json!({"type": "integer"}), &json!(3), &[]);
        check(&json!({"type": "integer"}), &json!(3.5), &["$: 3.5 is not \"integer\""]);
        check(&json!({"type": ["string", "null"]}), &Value::Null, &[]);
        check(
            &json!({"type": ["string", "null"]}),
            &json!(1),
            &["$: 1 is not [\"string\",\"null\"]"],
        );
        check(&json!({"enum": ["a"]}), &json!("b"), &["$: \"b\" is not among [\"a\"]"]);
        check(&json!({"minimum": 1, "maximum": 2}), &json!(3), &["$: too large"]);
        check(&json!({"maxItems": 1}), &json!([1, 2]), &["$: too many items"]);
        check(&json!({"oneOf": []}), &json!(1), &["$: the checker does not know `oneOf`"]);
    }

    #[test]
    fn containers_are_held_inside() {
        let schema = json!({
            "type": "object",
            "properties": {"list": {"type": "array", "items": {"type": "string"}}},
            "required": ["list"],
            "additionalProperties": false
        });
        check(&schema, &json!({"list": ["a"]}), &[]);
        check(&schema, &json!({"list": ["a", 1]}), &["$.list[1]: 1 is not \"string\""]);
        check(&schema, &json!({}), &["$.list: missing"]);
        check(&schema, &json!({"list": [], "more": 1}), &["$.more: not listed"]);
        let map = json!({"type": "object", "additionalProperties": {"type": "number"}});
        check(&map, &json!({"a": 1, "b": "x"}), &["$.b: \"x\" is not \"number\""]);
    }
}
