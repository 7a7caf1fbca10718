//! Secrets that are surely secrets never reach the disk: a mark stands where each one stood.
//!
//! One pass over the bytes, inside the hook. A rule that could be wrong is not here: hashes, ids,
//! code and images are somebody's words too.

mod broken;
mod keys;
mod labelled;
mod logins;
mod made_up;
mod manifests;
mod named;
mod names;
mod spoken;
mod starts;
mod tables;
mod tokens;
mod told;

use std::borrow::Cow;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use tokens::Token;

/// No token is longer; a text made to keep us busy has no end.
const TOKEN_BYTES_MAX: usize = 8192;
/// So much of a token tells whether it was drawn.
const JUDGED_BYTES_MAX: usize = 128;

/// A secret that is only told by the word before it has at least so many letters.
const WORD_BYTES_MIN: usize = 8;
/// So many letters in a row that follow each other, or are the same, were typed by somebody.
const TYPED_RUN_MIN: usize = 9;

/// What is done about secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretPolicy {
    /// They are kept like any other word.
    pub(crate) is_off: bool,
    /// Texts that look like secrets and are none: whole, or their marks.
    pub(crate) allowed: Vec<String>,
}

/// A secret, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) kind: &'static str,
    pub(crate) range: Range<usize>,
}

/// A text after it was searched.
pub(crate) struct Searched<'a> {
    pub(crate) text: Cow<'a, str>,
    /// A secret stood in it, whether it is kept or not.
    pub(crate) has_secret: bool,
}

/// Puts a mark in the place of every secret; the same secret has the same mark.
pub(crate) fn without_secrets<'a>(text: &'a str, policy: &SecretPolicy) -> Searched<'a> {
    let all = secrets_in(text);
    let has_secret = !all.is_empty();
    if policy.is_off || !has_secret {
        return Searched { text: Cow::Borrowed(text), has_secret };
    }
    let mut kept = String::new();
    let mut end = 0;
    for found in all {
        let secret = text.get(found.range.clone()).unwrap_or_default();
        let mark = mark(found.kind, secret);
        if policy.allowed.iter().any(|allowed| *allowed == secret || *allowed == mark) {
            continue;
        }
        kept.push_str(text.get(end..found.range.start).unwrap_or_default());
        kept.push_str(&mark);
        end = found.range.end;
    }
    if end == 0 {
        return Searched { text: Cow::Borrowed(text), has_secret };
    }
    kept.push_str(text.get(end..).unwrap_or_default());
    Searched { text: Cow::Owned(kept), has_secret }
}

/// Returns a text with every secret marked, whatever the user set: what a turn is known by,
/// however its secrets were kept when it was stored.
pub(crate) fn all_marked(text: &str) -> Cow<'_, str> {
    without_secrets(text, &SecretPolicy::default()).text
}

/// Names the secrets of a text by their kinds and marks; what the user allowed is none. Looks also
/// where the user wants no marks made.
pub(crate) fn secret_marks(text: &str, policy: &SecretPolicy) -> Vec<(&'static str, String)> {
    let marked = secrets_in(text).into_iter().filter_map(|found| {
        let secret = text.get(found.range)?;
        let mark = mark(found.kind, secret);
        let is_allowed = policy.allowed.iter().any(|one| *one == secret || *one == mark);
        (!is_allowed).then_some((found.kind, mark))
    });
    marked.collect()
}

/// Finds secrets, in order, none inside another.
pub(crate) fn secrets_in(text: &str) -> Vec<Found> {
    with_larger(text, in_lines(text), broken::across_lines(text, in_lines))
}

/// Adds what takes the place of smaller secrets inside; both come in order. Where it only overlaps
/// one it is cut: that one keeps its mark, and nothing of either stays in clear.
fn with_larger(text: &str, all: Vec<Found>, larger: Vec<Found>) -> Vec<Found> {
    let mut merged: Vec<Found> = Vec::with_capacity(all.len() + larger.len());
    let mut all = all.into_iter().peekable();
    for Found { kind, mut range } in larger {
        while let Some(found) = all.next_if(|found| found.range.start < range.start) {
            merged.push(found);
        }
        // Half of a secret may have been taken for one.
        while all.next_if(|half| half.range.end <= range.end && half.range != range).is_some() {}
        range.start = merged.last().map_or(range.start, |last| range.start.max(last.range.end));
        range.end = all.peek().map_or(range.end, |next| range.end.min(next.range.start));
        // What is left may be nothing but the end of a line.
        let rest = text.get(range.clone()).unwrap_or_default();
        if !rest.trim_matches(['\\', '\r', '\n']).is_empty() {
            merged.push(Found { kind, range });
        }
    }
    merged.extend(all);
    merged
}

fn in_lines(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some((place, byte)) = starts::next(bytes, at) {
        at = place;
        let found = match byte {
            b'-' => keys::private_key(text, at)
                .or_else(|| named::after_flag(text, at))
                .or_else(|| spoken::after_command(text, at))
                .or_else(|| spoken::after_dash(text, at))
                .or_else(|| labelled::token(text, at)),
            b'_' => labelled::token(text, at),
            b':' => named::in_url(text, at)
                .or_else(|| named::assigned(text, at))
                .or_else(|| bot_in_address(text, at))
                .or_else(|| told::after_sign(text, at))
                .or_else(|| tables::pgpass(text, at)),
            b'=' => named::assigned(text, at).or_else(|| told::after_sign(text, at)),
            b'|' => tables::cell(text, at),
            b'\t' => tables::column(text, at),
            b'>' => named::in_element(text, at),
            b'~' => azure_secret(text, at),
            COLOUR => coloured(text, at),
            // Nearly every word is short; what was drawn is not.
            b' ' if is_long_word(bytes, at + 1) => {
                named::after_word(text, at).or_else(|| spoken::after_name(text, at))
            }
            b' ' => None,
            b'0'..=b'9' => bot_token(text, at),
            b'e' => web_token(text, at),
            _ => known_token(text, at),
        };
        // What says by itself what it is need not be called by the name before it.
        let itself = found.as_ref().and_then(|found| web_token(text, found.range.start));
        match itself.or(found) {
            Some(found) => {
                at = found.range.end.max(at + 1);
                all.push(found);
            }
            None => at += 1,
        }
    }
    with_whole_text(text, all)
}

fn is_long_word(bytes: &[u8], at: usize) -> bool {
    let word = bytes.get(at..at + WORD_BYTES_MIN);
    word.is_some_and(|word| !word.iter().any(|byte| matches!(byte, b' ' | b'\n' | b',' | b'.')))
}

/// Adds what whole documents say; what was found there by itself keeps its name.
fn with_whole_text(text: &str, mut all: Vec<Found>) -> Vec<Found> {
    // A token may begin before the sign that it was noticed by.
    all.sort_by_key(|found| found.range.start);
    // A value goes whole, whatever was found inside.
    let mut values = manifests::in_manifests(text);
    values.sort_by_key(|value| value.range.start);
    all = with_larger(text, all, values);
    let beside = tables::beside_ids(text, &all);
    all = with_larger(text, all, beside);
    for whole in [spoken::in_other_letters(text), spoken::in_calls(text), keys::of_putty(text)] {
        all = with_others(all, whole);
    }
    all
}

/// Adds, in order, what overlaps nothing that is there already.
fn with_others(all: Vec<Found>, mut others: Vec<Found>) -> Vec<Found> {
    if others.is_empty() {
        return all;
    }
    others.sort_by_key(|other| other.range.start);
    let mut merged: Vec<Found> = Vec::with_capacity(all.len() + others.len());
    let mut all = all.into_iter().peekable();
    for other in others {
        while let Some(found) = all.next_if(|found| found.range.start < other.range.end) {
            merged.push(found);
        }
        if merged.last().is_none_or(|last| last.range.end <= other.range.start) {
            merged.push(other);
        }
    }
    merged.extend(all);
    merged
}

/// The mark tells one secret from another and nothing else about it.
fn mark(kind: &str, secret: &str) -> String {
    let digest = match secret.contains('\\') {
        true => Sha256::digest(broken::joined(secret).as_bytes()),
        false => Sha256::digest(secret.as_bytes()),
    };
    let [first, second, ..] = digest.as_slice() else { return format!("[secret:{kind}]") };
    format!("[secret:{kind}:{first:02x}{second:02x}]")
}

/// Returns how many bytes from `at` on satisfy `is_in`; more than a token has are not counted.
fn run(bytes: &[u8], at: usize, is_in: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(TOKEN_BYTES_MAX).take_while(|byte| is_in(**byte)).count()
}

fn known_token(text: &str, at: usize) -> Option<Found> {
    let rest = text.get(at..)?;
    // Behind a plus it is the middle of something in base64.
    if text.get(..at).is_some_and(|before| before.ends_with('+')) {
        return None;
    }
    tokens::beginning_with(rest.as_bytes()).find_map(|token| {
        let n = length_of(token, rest)?;
        Some(Found { kind: token.kind, range: at..at + n })
    })
}

fn length_of(token: &Token, rest: &str) -> Option<usize> {
    let body = rest.strip_prefix(token.beginning)?;
    let n_letters = run(body.as_bytes(), 0, |byte| token.letters.has(byte));
    // A full stop or a dash at the end belongs to the sentence, unless the token ends there.
    let body = body.get(..n_letters)?;
    let is_whole = n_letters == token.n_min && !body.ends_with(['.', '/']);
    let body = if is_whole { body } else { body.trim_end_matches(['.', '-', '/']) };
    let fits = if token.is_exact { n_letters == token.n_min } else { token.n_min <= body.len() };
    // A row of capitals has a digit only as often as not.
    let is_capitals = matches!(token.letters, tokens::Letters::Upper)
        && body.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_drawn = is_random(body) || (is_capitals && is_random(&format!("{body}0")));
    (fits && is_drawn).then(|| token.beginning.len() + body.len())
}

/// How a terminal is told a colour.
const COLOUR: u8 = 0x1b;

/// A token in colour, with `at` on the first byte of `\x1b[32m`.
fn coloured(text: &str, at: usize) -> Option<Found> {
    let behind = text.get(at + 1..)?.strip_prefix('[')?;
    let n = run(behind.as_bytes(), 0, |byte| byte.is_ascii_digit() || byte == b';');
    let token = behind.get(n..)?.strip_prefix('m')?;
    web_token(text, text.len() - token.len())
}

/// `123456789:AA…`, what a Telegram bot calls itself, or `123456789012345|…`, an app of Facebook.
fn bot_token(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let n_digits = run(bytes, at, |byte| byte.is_ascii_digit());
    if let Some(body) = text.get(at + n_digits..)?.strip_prefix('|') {
        let n_body = run(body.as_bytes(), 0, |byte| tokens::Letters::Url.has(byte));
        let fits = (15..=16).contains(&n_digits) && n_body == 27 && is_random(body.get(..n_body)?);
        let range = at..at + n_digits + 1 + n_body;
        return fits.then_some(Found { kind: "facebook-token", range });
    }
    let body = text.get(at + n_digits..)?.strip_prefix(":AA")?;
    let n_body = run(body.as_bytes(), 0, |byte| tokens::Letters::Url.has(byte));
    let fits = (8..=10).contains(&n_digits) && n_body == 33;
    fits.then(|| Found { kind: "telegram-token", range: at..at + n_digits + 3 + n_body })
}

/// `https://api.telegram.org/bot123456789:AA…`, with `at` on the colon behind the number.
fn bot_in_address(text: &str, at: usize) -> Option<Found> {
    let digits = text.get(..at)?.bytes().rev().take(11).take_while(u8::is_ascii_digit).count();
    text.get(..at - digits)?.ends_with("/bot").then(|| bot_token(text, at - digits)).flatten()
}

/// `abc8Q~…`: a client secret of Azure, with `at` on the first `~`.
fn azure_secret(text: &str, at: usize) -> Option<Found> {
    const BEFORE: usize = 5;
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"_~.-".contains(&byte);
    let bytes = text.as_bytes();
    let start = at.checked_sub(BEFORE)?;
    let head = bytes.get(start..at)?;
    let has_head = head.iter().all(|byte| is_in(*byte)) && head.ends_with(b"Q");
    let has_digit = head.get(BEFORE - 2).is_some_and(u8::is_ascii_digit);
    let is_begun = start
        .checked_sub(1)
        .is_none_or(|before| bytes.get(before).is_some_and(|byte| !byte.is_ascii_alphanumeric()));
    let n_body = run(bytes, at + 1, is_in);
    let fits = has_head && has_digit && is_begun && (31..=34).contains(&n_body);
    let fits = fits && is_random(text.get(at + 1..at + 1 + n_body)?);
    fits.then(|| Found { kind: "azure-secret", range: start..at + 1 + n_body })
}

/// The middle of what every introduction to web tokens shows: John Doe, number 1234567890.
const WEB_TOKEN_EXAMPLE: &str =
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ";

/// A JSON web token: three parts, the first two of which are JSON objects; one that is not signed
/// ends with its second dot.
fn web_token(text: &str, at: usize) -> Option<Found> {
    let rest = text.get(at..)?;
    let is_in = |byte| tokens::Letters::Url.has(byte);
    let n_head = run(rest.as_bytes(), 0, is_in);
    let n_body = run(rest.as_bytes(), n_head + 1, is_in);
    let n_seal = run(rest.as_bytes(), n_head + n_body + 2, is_in);
    let is_object = |start: usize| rest.get(start..).is_some_and(|part| part.starts_with("eyJ"));
    let has_dot = |place: usize| rest.as_bytes().get(place) == Some(&b'.');
    let fits = is_object(0) && is_object(n_head + 1);
    let is_unsigned = n_seal == 0 && 16 <= n_head && 16 <= n_body;
    let is_unsigned = is_unsigned && !has_dot(n_head + n_body + 2);
    let fits = fits && has_dot(n_head) && has_dot(n_head + 1 + n_body);
    let is_example = rest.get(n_head + 1..).is_some_and(|b| b.starts_with(WEB_TOKEN_EXAMPLE));
    let fits = fits && (16 <= n_seal || is_unsigned) && !is_example;
    fits.then(|| Found { kind: "jwt", range: at..at + n_head + n_body + n_seal + 2 })
        .or_else(|| known_token(text, at))
}

/// Tells letters that were drawn from words that were written: documentation has
/// `ghp_xxxxxxxxxxxx` and `AKIAIOSFODNN7EXAMPLE`.
fn is_random(body: &str) -> bool {
    let body = body.get(..JUDGED_BYTES_MAX).unwrap_or(body);
    let lower = body.to_ascii_lowercase();
    let is_example = ["example", "xxxx", "your", "token", "placeholder", "1234567890"]
        .iter()
        .any(|word| lower.contains(word));
    let has = |is_in: fn(&u8) -> bool| body.as_bytes().iter().any(is_in);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || has_changing_case(body) && n_distinct(body) >= 12;
    !is_example && is_mixed && n_distinct(body) >= 8 && !counts_up(&lower)
}

/// Letters that were drawn change their case every other letter or so; names in code do it once a
/// word.
fn has_changing_case(body: &str) -> bool {
    let is_changed =
        |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_uppercase() != b.is_ascii_uppercase());
    let n_changes = body.as_bytes().windows(2).filter(|pair| is_changed(pair)).count();
    body.len() <= 3 * n_changes && body.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// `abcdefghijkl` and `111111111111` were typed, not drawn.
fn counts_up(lower: &str) -> bool {
    let steps = |step: u8| {
        let mut longest = 0;
        let mut n = 0;
        for pair in lower.as_bytes().windows(2) {
            let is_step = matches!(pair, [a, b] if a.wrapping_add(step) == *b);
            n = if is_step { n + 1 } else { 0 };
            longest = longest.max(n);
        }
        longest
    };
    TYPED_RUN_MIN <= steps(0) || TYPED_RUN_MIN <= steps(1)
}

fn n_distinct(text: &str) -> u32 {
    text.bytes().fold(0_u128, |seen, byte| seen | 1 << (byte & 127)).count_ones()
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod sentences;
#[cfg(test)]
mod tests;
