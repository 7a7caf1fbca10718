//! Secrets of Kubernetes: a manifest that says `kind: Secret` is one, whatever its keys are called.

use std::ops::Range;

use super::Found;

/// A shorter value says nothing that could be opened with it.
const VALUE_BYTES_MIN: usize = 12;

/// Finds the values under `data:` in manifests of secrets.
pub(super) fn in_manifests(text: &str) -> Vec<Found> {
    if !text.contains("kind") || !lines(text).any(|(_, line)| is_kind_of_secret(line)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    // How far `data:` is indented, while we are below it.
    let mut data = None;
    for (start, line) in lines(text).filter(|(_, line)| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        if line.trim() == "data:" {
            data = Some(indent);
        } else if data.is_some_and(|data| data < indent) {
            let value = value_of(line).map(|value| start + value.start..start + value.end);
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
    let value = line.trim().strip_prefix("kind:").map(str::trim);
    value.is_some_and(|kind| kind.trim_matches(['"', '\'']).eq_ignore_ascii_case("secret"))
}

/// Returns where a value of base64 stands in its line: behind its key, or alone below it.
fn value_of(line: &str) -> Option<Range<usize>> {
    let value = line.split_once(": ").map_or(line, |(_, value)| value).trim();
    let value = value.trim_matches(['"', '\'']);
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let fits = VALUE_BYTES_MIN <= value.len() && value.len().is_multiple_of(4);
    let start = line.rfind(value)?;
    (fits && value.bytes().all(is_base64)).then(|| start..start + value.len())
}
