//! Reads the arguments of one tool call, field by field, into values that are valid.
//!
//! Hosts do not check arguments against our schemas, so this is the door. What it refuses it
//! explains in one sentence the model can act on; what the values mean is left to the tools.

use std::ops::RangeInclusive;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

/// How much of a wrong value is repeated in a refusal: enough to recognise it, too little to leak a
/// text.
const GIVEN_CHARS_MAX: usize = 40;

/// From the first to the last millisecond of a day.
const DAY_BUT_A_MOMENT: SignedDuration = SignedDuration::from_millis(24 * 3_600_000 - 1);

/// Why a call was not made or not answered: one sentence, without a final full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal(pub(super) String);

/// The fields of one call. Every reader takes its field out; `finish` refuses what nobody asked
/// for.
///
/// `null` counts as absent: several hosts fill optional fields with it.
pub(super) struct Arguments {
    tool: &'static str,
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Arguments {
    pub(super) fn new(tool: &'static str, fields: Map<String, Value>) -> Self {
        Self { tool, left: fields, known: Vec::new() }
    }

    /// Any text, an empty one included.
    pub(super) fn text(&mut self, name: &'static str) -> Result<String, Refusal> {
        self.required(name, "a string", as_text)
    }

    /// A text that says something.
    pub(super) fn phrase(&mut self, name: &'static str) -> Result<String, Refusal> {
        self.required(name, "a non-empty string", |value| {
            as_text(value).filter(|text| !text.trim().is_empty())
        })
    }

    pub(super) fn word(
        &mut self,
        name: &'static str,
        chars_max: usize,
    ) -> Result<Option<String>, Refusal> {
        let expected = format!("a string of 1 to {chars_max} characters");
        self.optional(name, &expected, |value| {
            as_text(value).filter(|text| (1..=chars_max).contains(&text.chars().count()))
        })
    }

    pub(super) fn optional_text(&mut self, name: &'static str) -> Result<Option<String>, Refusal> {
        self.optional(name, "a string", as_text)
    }

    pub(super) fn integer(
        &mut self,
        name: &'static str,
        default: i64,
        range: RangeInclusive<i64>,
    ) -> Result<i64, Refusal> {
        let expected = match (*range.start(), *range.end()) {
            (start, i64::MAX) => format!("an integer of at least {start}"),
            (start, end) => format!("an integer from {start} to {end}"),
        };
        let given = self.optional(name, &expected, |value| {
            as_integer(value).filter(|number| range.contains(number))
        })?;
        Ok(given.unwrap_or(default))
    }

    /// Reads a count of which more than there may be means as many as there may be.
    pub(super) fn count_up_to(
        &mut self,
        name: &'static str,
        default: i64,
        max: i64,
    ) -> Result<i64, Refusal> {
        Ok(self.integer(name, default, 1..=i64::MAX)?.min(max))
    }

    pub(super) fn number(
        &mut self,
        name: &'static str,
        default: f64,
        range: RangeInclusive<f64>,
    ) -> Result<f64, Refusal> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        let given = self.optional(name, &expected, |value| {
            value.as_f64().filter(|number| range.contains(number))
        })?;
        Ok(given.unwrap_or(default))
    }

    /// One of a few words, if given.
    pub(super) fn choice(
        &mut self,
        name: &'static str,
        words: &'static [&'static str],
    ) -> Result<Option<&'static str>, Refusal> {
        let expected = format!("one of {}", words.join(", "));
        self.optional(name, &expected, |value| {
            words.iter().copied().find(|word| value.as_str() == Some(*word))
        })
    }

    /// One of a few words; the caller must choose.
    pub(super) fn required_choice(
        &mut self,
        name: &'static str,
        words: &'static [&'static str],
    ) -> Result<&'static str, Refusal> {
        let chosen = self.choice(name, words)?;
        chosen.ok_or_else(|| missing(name, &format!("one of {}", words.join(", "))))
    }

    pub(super) fn id(&mut self, name: &'static str) -> Result<String, Refusal> {
        self.required(name, "a record_id (uuid) from memory_recall", as_uuid)
    }

    pub(super) fn ids(&mut self, name: &'static str, n_max: usize) -> Result<Vec<String>, Refusal> {
        let expected = format!("an array of at most {n_max} record_ids (uuids) from memory_recall");
        let items = self.required(name, &expected, |value| {
            value.as_array().filter(|items| items.len() <= n_max).cloned()
        })?;
        // The offending item is named, not the array: a model mends the one id it mistyped.
        items
            .iter()
            .map(|item| as_uuid(item).ok_or_else(|| wrong(&format!("{name}[]"), item, &expected)))
            .collect()
    }

    /// An ISO 8601 time, if given, as UTC. Without an offset it is taken as UTC.
    pub(super) fn time(&mut self, name: &'static str) -> Result<Option<Timestamp>, Refusal> {
        self.optional(name, "an ISO 8601 time such as 2026-11-02T09:00:00Z", as_time)
    }

    /// The same as an end: of a bare date, its last moment is meant.
    pub(super) fn last_moment(&mut self, name: &'static str) -> Result<Option<Timestamp>, Refusal> {
        let is_date = self.left.get(name).and_then(Value::as_str).is_some_and(is_bare_date);
        let time = self.time(name)?;
        Ok(time.map(|time| if is_date { time + DAY_BUT_A_MOMENT } else { time }))
    }

    /// An object whose values are strings, empty if not given.
    pub(super) fn text_map(
        &mut self,
        name: &'static str,
        n_max: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        let expected = format!("an object of at most {n_max} string values");
        let given = self.optional(name, &expected, |value| {
            value
                .as_object()
                .filter(|map| map.len() <= n_max && map.values().all(Value::is_string))
                .cloned()
        })?;
        Ok(given.unwrap_or_default())
    }

    /// A vector older hosts still send. The daemon embeds cues itself, so only the shape is looked
    /// at, and neither schema nor refusal advertises it.
    pub(super) fn ignored_vector(&mut self, name: &'static str) -> Result<(), Refusal> {
        let Some(given) = self.left.remove(name).filter(|value| !value.is_null()) else {
            return Ok(());
        };
        match given.as_array() {
            Some(items) if items.iter().all(Value::is_number) => Ok(()),
            _ => Err(wrong(name, &given, "an array of numbers")),
        }
    }

    /// Any JSON value but null, if given.
    pub(super) fn any(&mut self, name: &'static str) -> Option<Value> {
        self.take(name)
    }

    /// Refuses fields no reader asked for, so a misspelt option is not silently without effect.
    pub(super) fn finish(self) -> Result<(), Refusal> {
        let Some(name) = self.left.keys().next() else { return Ok(()) };
        let known = match self.known.as_slice() {
            [] => "no arguments".to_owned(),
            known => known.join(", "),
        };
        Err(Refusal(format!(
            "`{}` is not an argument of {}; it takes {known}",
            cut(name),
            self.tool
        )))
    }

    fn required<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Refusal> {
        self.optional(name, expected, read)?.ok_or_else(|| missing(name, expected))
    }

    fn optional<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(given) = self.take(name) else { return Ok(None) };
        read(&given).map(Some).ok_or_else(|| wrong(name, &given, expected))
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.left.remove(name).filter(|value| !value.is_null())
    }
}

pub(super) fn missing(name: &str, expected: &str) -> Refusal {
    Refusal(format!("`{name}` is missing; give {expected}"))
}

fn wrong(name: &str, given: &Value, expected: &str) -> Refusal {
    Refusal(format!("`{name}` is {}; give {expected}", describe(given)))
}

fn describe(given: &Value) -> String {
    match given {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("the boolean {flag}"),
        Value::Number(number) => format!("the number {}", cut(&number.to_string())),
        Value::String(text) => format!("the string \"{}\"", cut(text)),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(fields) => format!("an object of {}", fields.len()),
    }
}

fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(GIVEN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn as_text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// JSON has one kind of number: `50.0` is the integer 50.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the value has no fraction and lies inside ±2^53"
)]
fn as_integer(value: &Value) -> Option<i64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    value.as_i64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && number.abs() <= EXACT_MAX).then_some(number as i64)
    })
}

/// The hyphenated form only: it is what every answer of ours contains.
fn as_uuid(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let groups: Vec<&str> = text.split('-').collect();
    let has_shape = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
    let is_hex = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()));
    (has_shape && is_hex).then(|| text.to_ascii_lowercase())
}

fn is_bare_date(text: &str) -> bool {
    text.trim().parse::<Date>().is_ok() && !text.contains(['T', 't', ':'])
}

fn as_time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    text.parse::<Timestamp>().ok().or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UUID: &str = "8F14E45F-ceea-467f-9f4c-0a1b2c3d4e5f";

    fn arguments(fields: Value) -> Arguments {
        let Value::Object(fields) = fields else { panic!("a test gives an object") };
        Arguments::new("tool", fields)
    }

    /// Reads `x` out of `{"x": given}` and compares the value, or the sentence, with `expect`.
    fn check<T: std::fmt::Debug>(
        given: impl Into<Value>,
        read: impl FnOnce(&mut Arguments) -> Result<T, Refusal>,
        expect: &str,
    ) {
        let fields = json!({ "x": given.into() });
        let said = match read(&mut arguments(fields)) {
            Ok(value) => format!("{value:?}"),
            Err(Refusal(sentence)) => sentence,
        };
        assert_eq!(said, expect);
    }

    #[test]
    fn text_is_read_or_refused() {
        check(json!("a"), |a| a.text("x"), "\"a\"");
        check(json!(""), |a| a.text("x"), "\"\"");
        check(json!(null), |a| a.text("x"), "`x` is missing; give a string");
        check(json!(7), |a| a.text("x"), "`x` is the number 7; give a string");
        check(json!(["a"]), |a| a.text("x"), "`x` is an array of 1; give a string");
        check(json!({}), |a| a.text("x"), "`x` is an object of 0; give a string");
        check(json!(true), |a| a.text("x"), "`x` is the boolean true; give a string");
        check(
            json!(" \n"),
            |a| a.phrase("x"),
            "`x` is the string \" \n\"; give a non-empty string",
        );
        check(json!("ab"), |a| a.word("x", 2), "Some(\"ab\")");
        check(json!(null), |a| a.word("x", 2), "None");
        check(
            json!("abc"),
            |a| a.word("x", 2),
            "`x` is the string \"abc\"; give a string of 1 to 2 characters",
        );
    }

    #[test]
    fn numbers_keep_their_range() {
        check(json!(5), |a| a.integer("x", 3, 1..=9), "5");
        check(json!(5.0), |a| a.integer("x", 3, 1..=9), "5");
        check(json!(null), |a| a.integer("x", 3, 1..=9), "3");
        check(
            json!(0),
            |a| a.integer("x", 3, 1..=9),
            "`x` is the number 0; give an integer from 1 to 9",
        );
        check(
            json!(2.5),
            |a| a.integer("x", 3, 1..=9),
            "`x` is the number 2.5; give an integer from 1 to 9",
        );
        check(
            json!(1e300),
            |a| a.integer("x", 3, 1..=9),
            "`x` is the number 1e+300; give an integer from 1 to 9",
        );
        check(
            json!("5"),
            |a| a.integer("x", 3, 1..=9),
            "`x` is the string \"5\"; give an integer from 1 to 9",
        );
        check(json!(1), |a| a.number("x", 0.0, 0.0..=1.0), "1.0");
        check(
            json!(1.1),
            |a| a.number("x", 0.0, 0.0..=1.0),
            "`x` is the number 1.1; give a number from 0 to 1",
        );
    }

    #[test]
    fn choices_name_the_words() {
        check(json!("b"), |a| a.choice("x", &["a", "b"]), "Some(\"b\")");
        check(
            json!("c"),
            |a| a.choice("x", &["a", "b"]),
            "`x` is the string \"c\"; give one of a, b",
        );
        check(json!(null), |a| a.choice("x", &["a", "b"]), "None");
        check(
            json!(null),
            |a| a.required_choice("x", &["a", "b"]),
            "`x` is missing; give one of a, b",
        );
    }

    #[test]
    fn ids_are_uuids() {
        check(json!(UUID), |a| a.id("x"), "\"8f14e45f-ceea-467f-9f4c-0a1b2c3d4e5f\"");
        check(
            json!("8f14"),
            |a| a.id("x"),
            "`x` is the string \"8f14\"; give a record_id (uuid) from memory_recall",
        );
        let words = "an array of at most 2 record_ids (uuids) from memory_recall";
        check(json!([]), |a| a.ids("x", 2), "[]");
        check(json!([UUID, 4]), |a| a.ids("x", 2), &format!("`x[]` is the number 4; give {words}"));
        check(
            json!([UUID, UUID, UUID]),
            |a| a.ids("x", 2),
            &format!("`x` is an array of 3; give {words}"),
        );
        check(json!(UUID.replace('f', "g")), |a| a.id("x").map_err(|_| Refusal("no".into())), "no");
    }

    #[test]
    fn times_are_iso_and_become_utc() {
        check(json!("2026-11-02T09:00:00+02:00"), |a| a.time("x"), "Some(2026-11-02T07:00:00Z)");
        check(json!("2026-11-02T09:00:00"), |a| a.time("x"), "Some(2026-11-02T09:00:00Z)");
        check(json!("2026-11-02"), |a| a.time("x"), "Some(2026-11-02T00:00:00Z)");
        check(
            json!("yesterday"),
            |a| a.time("x"),
            "`x` is the string \"yesterday\"; give an ISO 8601 time such as 2026-11-02T09:00:00Z",
        );
    }

    #[test]
    fn containers_are_checked_to_the_bottom() {
        check(json!({"TIER": "semantic"}), |a| a.text_map("x", 2).map(|m| m.len()), "1");
        check(
            json!({"TIER": 1}),
            |a| a.text_map("x", 2),
            "`x` is an object of 1; give an object of at most 2 string values",
        );
        check(json!([0.1, 2]), |a| a.ignored_vector("x"), "()");
        check(
            json!(["a"]),
            |a| a.ignored_vector("x"),
            "`x` is an array of 1; give an array of numbers",
        );
    }

    #[test]
    fn a_long_value_is_not_repeated() {
        let Err(Refusal(sentence)) = arguments(json!({"x": "ä".repeat(500)})).id("x") else {
            panic!("500 letters are not a uuid");
        };
        assert!(sentence.chars().count() < 120, "{sentence}");
    }

    #[test]
    fn unknown_fields_are_named_with_the_known_ones() {
        let mut given = arguments(json!({"cue": "a", "limt": 3}));
        assert_eq!(given.text("cue"), Ok("a".to_owned()));
        assert_eq!(given.optional_text("language"), Ok(None));
        let refusal =
            Refusal("`limt` is not an argument of tool; it takes cue, language".to_owned());
        assert_eq!(given.finish(), Err(refusal));
        let refusal = Refusal("`y` is not an argument of tool; it takes no arguments".to_owned());
        assert_eq!(arguments(json!({"y": 1})).finish(), Err(refusal));
    }
}
