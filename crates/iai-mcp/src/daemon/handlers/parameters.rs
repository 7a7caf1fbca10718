//! Reads a call's parameters by name and type; what is wrong is said by name.

use std::collections::BTreeMap;
use std::str::FromStr;

use iai_wire::code;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::Failure;

/// The parameters of one call.
pub(super) struct Parameters<'a>(&'a Map<String, Value>);

impl<'a> Parameters<'a> {
    pub(super) fn new(given: &'a Value) -> Result<Self, Failure> {
        match given.as_object() {
            Some(fields) => Ok(Self(fields)),
            None => Err(wrong("params must be an object with names")),
        }
    }

    pub(super) fn value(&self, name: &str) -> Result<&'a Value, Failure> {
        self.0.get(name).ok_or_else(|| missing(name))
    }

    pub(super) fn text(&self, name: &str) -> Result<String, Failure> {
        self.optional_text(name)?.ok_or_else(|| missing(name))
    }

    pub(super) fn optional_text(&self, name: &str) -> Result<Option<String>, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(&format!("`{name}` must be a string"))),
        }
    }

    pub(super) fn count(&self, name: &str, default: u64) -> Result<u64, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value
                .as_u64()
                .ok_or_else(|| wrong(&format!("`{name}` must be a whole number of at least 0"))),
        }
    }

    /// Understands a whole number that may be below 0; 0 when there is none.
    pub(super) fn whole_number(&self, name: &str) -> Result<i64, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(0),
            Some(value) => {
                value.as_i64().ok_or_else(|| wrong(&format!("`{name}` must be a whole number")))
            }
        }
    }

    /// Understands a share from 0 to 1; 0 when there is none.
    pub(super) fn share(&self, name: &str) -> Result<f64, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(0.0),
            Some(value) => value
                .as_f64()
                .filter(|share| (0.0..=1.0).contains(share))
                .ok_or_else(|| wrong(&format!("`{name}` must be a number from 0 to 1"))),
        }
    }

    pub(super) fn optional_count(&self, name: &str) -> Result<Option<usize>, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => Ok(Some(usize::try_from(self.count(name, 0)?).unwrap_or(usize::MAX))),
        }
    }

    /// Understands an ISO time; one without a zone is UTC.
    pub(super) fn optional_time(&self, name: &str) -> Result<Option<Timestamp>, Failure> {
        let Some(text) = self.optional_text(name)? else { return Ok(None) };
        let complaint =
            || wrong(&format!("`{name}` must be an ISO 8601 time such as 2026-11-15T10:00:00Z"));
        parse_time(&text).map(Some).ok_or_else(complaint)
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(value) => {
                value.as_bool().ok_or_else(|| wrong(&format!("`{name}` must be true or false")))
            }
        }
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Failure> {
        let complaint = || wrong(&format!("`{name}` must be a list of strings"));
        let list = self.value(name)?.as_array().ok_or_else(complaint)?;
        list.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(complaint)).collect()
    }

    pub(super) fn text_map(&self, name: &str) -> Result<BTreeMap<String, String>, Failure> {
        let complaint = || wrong(&format!("`{name}` must map strings to strings"));
        let Some(given) = self.0.get(name) else { return Ok(BTreeMap::new()) };
        let map = given.as_object().ok_or_else(complaint)?;
        map.iter()
            .map(|(key, value)| {
                value.as_str().map(|text| (key.clone(), text.to_owned())).ok_or_else(complaint)
            })
            .collect()
    }

    pub(super) fn parsed<T: FromStr>(&self, name: &str, default: T) -> Result<T, Failure> {
        match self.optional_text(name)? {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| wrong(&format!("`{name}` cannot be `{text}`"))),
        }
    }
}

fn parse_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let naive: DateTime = text.parse().ok()?;
    naive.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

fn missing(name: &str) -> Failure {
    Failure::new(code::BAD_PARAMS, format!("missing required param: '{name}'"))
}

fn wrong(why: &str) -> Failure {
    Failure::new(code::BAD_PARAMS, why)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let given = json!({"cue": 4, "budget_tokens": -1, "ids": ["a", 2]});
        let given = Parameters::new(&given).unwrap();
        for (failure, word) in [
            (given.text("cue").unwrap_err(), "`cue`"),
            (given.text("text").unwrap_err(), "missing required param: 'text'"),
            (given.count("budget_tokens", 1).unwrap_err(), "`budget_tokens`"),
            (given.texts("ids").unwrap_err(), "`ids`"),
        ] {
            assert_eq!(failure.code, code::BAD_PARAMS);
            assert!(failure.message.contains(word), "{}", failure.message);
        }
        assert!(Parameters::new(&json!([1])).is_err());
    }

    #[test]
    fn a_time_without_a_zone_is_utc() {
        for text in ["2026-11-15T10:00:00Z", "2026-11-15T10:00:00", "2026-11-15T11:00:00+01:00"] {
            assert_eq!(parse_time(text).unwrap().to_string(), "2026-11-15T10:00:00Z", "{text}");
        }
        assert_eq!(parse_time("2026-11-15").unwrap().to_string(), "2026-11-15T00:00:00Z");
        assert_eq!(parse_time("yesterday"), None);
        let given = json!({"asof": "yesterday"});
        let failure = Parameters::new(&given).unwrap().optional_time("asof").unwrap_err();
        assert!(failure.message.starts_with("`asof` must be"), "{}", failure.message);
    }
}
