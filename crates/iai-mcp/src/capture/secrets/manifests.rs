//! Secrets of Kubernetes: a manifest that says `kind: Secret` is one, whatever its keys are called.

use std::ops::Range;

use super::{Found, named};

/// A shorter value says nothing that could be opened with it.
const VALUE_BYTES_MIN: usize = 12;

/// Where the values of a manifest stand, and how they are written.
#[derive(Clone, Copy)]
enum Values {
    Base64,
    AsTheyAre,
}

/// Finds the values under `data:` and `stringData:` in manifests of secrets, in YAML or in JSON
/// with a line for each.
pub(super) fn in_manifests(text: &str) -> Vec<Found> {
    if !text.contains("kind") || !lines(text).any(|(_, line)| is_kind_of_secret(line)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    // How far the key above is indented, while we are below it.
    let mut data = None;
    for (start, line) in lines(text).filter(|(_, line)| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        if let Some(values) = key_of_values(line) {
            data = Some((indent, values));
        } else if let Some((_, values)) = data.filter(|(data, _)| *data < indent) {
            let value = match values {
                Values::Base64 => value_of(line),
                Values::AsTheyAre => plain_value_of(line),
            };
            let value = value.map(|value| start + value.start..start + value.end);
            found.extend(value.map(|range| Found { kind: "kubernetes-secret", range }));
        } else {
            data = None;
        }
    }
    found
}

/// Returns every line with the place it begins at.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let begin = start;
        start += line.len();
        (begin, line)
    })
}

fn is_kind_of_secret(line: &str) -> bool {
    let line = line.trim().trim_start_matches("- ");
    let value = line.strip_prefix("kind:").or_else(|| line.strip_prefix("\"kind\":"));
    let value = value.map(|value| value.trim().trim_end_matches(',').trim_matches(['"', '\'']));
    value.is_some_and(|kind| kind.eq_ignore_ascii_case("secret"))
}

fn key_of_values(line: &str) -> Option<Values> {
    match line.trim().trim_end_matches(" {") {
        "data:" | "\"data\":" => Some(Values::Base64),
        "stringData:" | "\"stringData\":" => Some(Values::AsTheyAre),
        _ => None,
    }
}

/// Returns where a value of base64 stands in its line: behind its key, or alone below it.
fn value_of(line: &str) -> Option<Range<usize>> {
    let behind = line.split_once(": ").map_or(line, |(_, value)| value);
    let value = behind.trim().trim_end_matches(',').trim_matches(['"', '\'']);
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let fits = VALUE_BYTES_MIN <= value.len() && value.len().is_multiple_of(4);
    let start = line.len() - behind.len() + behind.find(value)?;
    (fits && value.bytes().all(is_base64)).then(|| start..start + value.len())
}

/// Returns where a value stands that is written as it is. Addresses are judged by what is in them.
fn plain_value_of(line: &str) -> Option<Range<usize>> {
    let (key, behind) = line.split_once(": ").unwrap_or(("", line));
    let value = behind.trim().trim_end_matches(',');
    // Behind a quote, or a blank and a `#`, somebody says something about it.
    let value = match value.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        Some(quote) => value.get(1..)?.split(quote).next()?,
        None => value.split_once(" #").map_or(value, |(value, _)| value).trim(),
    };
    let is_one = !key.is_empty() || !value.contains(char::is_whitespace);
    let is_comment = line.trim_start().starts_with('#');
    let is_elsewhere = named::is_stand_in(value) || value.contains("://") || is_template(value);
    let fits = VALUE_BYTES_MIN <= value.len() && is_one && !is_comment && !is_elsewhere;
    let start = line.len() - behind.len() + behind.find(value)?;
    fits.then(|| start..start + value.len())
}

/// `${NAME}`, `$(NAME)`, `{{ name }}`, `<name>`, `*name`, and marks that stand where one was.
fn is_template(value: &str) -> bool {
    ["${", "$(", "{{", "<%", "[secret:"].iter().any(|sign| value.contains(sign))
        || value.starts_with(['<', '*', '&'])
}
