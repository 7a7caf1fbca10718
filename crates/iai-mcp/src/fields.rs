//! Fields of a JSON answer that may or may not be there.

use serde_json::Value;

static ABSENT: Value = Value::Null;

/// Reads and sets fields without ever panicking: what is absent reads as null.
pub(crate) trait Fields {
    /// Returns the field, or null.
    fn at(&self, name: &str) -> &Value;

    /// Sets the field of an object; anything else has no fields and stays as it is.
    fn set(&mut self, name: &str, value: impl Into<Value>);
}

impl Fields for Value {
    fn at(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&ABSENT)
    }

    fn set(&mut self, name: &str, value: impl Into<Self>) {
        if let Some(fields) = self.as_object_mut() {
            fields.insert(name.to_owned(), value.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_absent_reads_as_nothing() {
        let mut value = json!({"a": "x"});
        assert_eq!((value.at("a"), value.at("b")), (&json!("x"), &json!(null)));
        value.set("b", 4);
        assert_eq!(value.at("b"), 4);
        let mut list = json!([1]);
        list.set("b", 4);
        assert_eq!(list, json!([1]));
    }
}
