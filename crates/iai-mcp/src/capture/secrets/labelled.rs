//! Tokens of services nobody listed: a short name, a sign, and many letters that were drawn. Most
//! services give out keys like that, `acme_live_8sKd…`, and new ones every month.

use super::tokens::Letters;
use super::{Found, is_random, n_distinct, run};

/// The name before the first sign.
const NAME_BYTES_MIN: usize = 2;
const NAME_BYTES_MAX: usize = 12;
/// Shorter ones are ids: of messages, of calls, of payments.
const BODY_BYTES_MIN: usize = 32;
/// So much of what follows is judged.
const BODY_BYTES_JUDGED: usize = 160;
/// Where a token has signs inside, a part of it is still this long.
const PART_BYTES_MIN: usize = 24;
/// Of so many letters, at least so many are different where capitals and small ones are mixed, and
/// where they are not.
const DISTINCT_MIN: u32 = 16;
const DISTINCT_SMALL_MIN: u32 = 14;
/// Hashes say so.
const HASHES: &[&str] = &["sha", "md5", "blake", "nonce", "integrity"];

/// Finds `name_…` or `name-…`, with `at` on the first sign of its word.
pub(super) fn token(text: &str, at: usize) -> Option<Found> {
    let name = name_before(text, at)?;
    let behind = text.get(at + 1..)?;
    let n_body = run(behind.as_bytes(), 0, |byte| Letters::Url.has(byte));
    let body = behind.get(..n_body)?.trim_end_matches(['-', '_']);
    // What goes on like this is base64, or an address.
    let is_ended = !behind.get(n_body..)?.starts_with(['+', '/', '=', '@']);
    let judged = body.get(..BODY_BYTES_JUDGED).unwrap_or(body);
    let longest = judged.split(['-', '_']).max_by_key(|part| part.len())?;
    let fits = is_ended && BODY_BYTES_MIN <= body.len() && PART_BYTES_MIN <= longest.len();
    let range = at - name.len()..at + 1 + body.len();
    (fits && is_drawn(longest)).then_some(Found { kind: "token", range })
}

/// Returns the word before a sign, if it is a name that stands at the beginning of its word.
fn name_before(text: &str, at: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let start = at.saturating_sub(NAME_BYTES_MAX + 1);
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric();
    let n = bytes.get(start..at)?.iter().rev().take_while(is_letter).count();
    let name = text.get(at - n..at)?;
    let before = (at - n).checked_sub(1).and_then(|before| bytes.get(before));
    let is_begun = before.is_none_or(|byte| !Letters::Any.has(*byte) || *byte == b'=');
    let has_case = |is_other: fn(&u8) -> bool| !name.as_bytes().iter().any(is_other);
    let is_name = name.as_bytes().first()?.is_ascii_alphabetic()
        && (has_case(u8::is_ascii_uppercase) || has_case(u8::is_ascii_lowercase));
    let lower = name.to_ascii_lowercase();
    let is_hash = HASHES.iter().any(|hash| lower.starts_with(hash));
    let fits = (NAME_BYTES_MIN..=NAME_BYTES_MAX).contains(&n) && is_begun && is_name && !is_hash;
    fits.then_some(name)
}

/// Tells drawn letters from words and from hashes, which are everywhere in what developers say.
fn is_drawn(part: &str) -> bool {
    let bytes = part.as_bytes();
    let has = |is_in: fn(&u8) -> bool| bytes.iter().any(is_in);
    let n_changes = |is_in: fn(&u8) -> bool| {
        bytes.windows(2).filter(|pair| matches!(pair, [a, b] if is_in(a) != is_in(b))).count()
    };
    let is_mixed = has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && part.len() <= 3 * n_changes(u8::is_ascii_uppercase)
        && DISTINCT_MIN <= n_distinct(part);
    let is_small = !has(u8::is_ascii_uppercase)
        && has(|byte| matches!(byte, b'g'..=b'z'))
        && part.len() <= 4 * n_changes(u8::is_ascii_digit)
        && DISTINCT_SMALL_MIN <= n_distinct(part);
    has(u8::is_ascii_digit) && (is_mixed || is_small) && is_random(part)
}
