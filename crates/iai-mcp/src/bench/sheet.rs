//! A list of figures with what they were measured on, as JSON and for people.

use serde_json::{Map, Value};

use super::figures::{self, Times};
use super::machine;

/// The result of a benchmark that measures time and space.
pub(crate) struct Sheet {
    title: String,
    described: Value,
    rows: Vec<(String, String)>,
    values: Map<String, Value>,
}

impl Sheet {
    /// Begins a sheet; `status` is the measured daemon's.
    pub(super) fn new(title: impl Into<String>, status: &Value) -> Self {
        Self {
            title: title.into(),
            described: machine::describe(status),
            rows: Vec::new(),
            values: Map::new(),
        }
    }

    /// Adds a figure: how people read it, and its value.
    pub(super) fn add(&mut self, name: &str, text: impl Into<String>, value: impl Into<Value>) {
        self.rows.push((name.to_owned(), text.into()));
        self.values.insert(name.to_owned(), value.into());
    }

    /// Adds how long something took, many times.
    pub(super) fn add_times(&mut self, name: &str, times: &Times) {
        self.add(name, times.summary(), times.document());
    }

    /// Returns everything as one JSON document.
    pub(crate) fn document(&self) -> Value {
        let mut told = self.described.clone();
        if let Some(fields) = told.as_object_mut() {
            fields.insert("benchmark".to_owned(), self.title.clone().into());
            fields.insert("figures".to_owned(), self.values.clone().into());
        }
        told
    }

    /// Returns the figures for people.
    pub(crate) fn text(&self) -> String {
        let machine = machine::line(&self.described);
        format!("{machine}\n\n{}:\n{}", self.title, figures::table(&self.rows))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::fields::Fields as _;

    #[test]
    fn a_figure_is_told_to_people_and_to_programs() {
        let mut sheet = Sheet::new("recall", &Value::Null);
        sheet.add("memory", "14.0 MB", 14_000_000);
        sheet.add_times("warm", &[Duration::from_millis(2)].into_iter().collect());
        let text = sheet.text();
        assert!(text.contains("memory  14.0 MB") && text.contains("p50 2.00 ms"), "{text}");
        let told = sheet.document();
        assert_eq!(told.at("figures").at("memory"), 14_000_000);
        assert_eq!(told.at("figures").at("warm").at("p50_ms"), 2.0);
        assert!(told.at("machine").at("cores").is_u64());
    }
}
