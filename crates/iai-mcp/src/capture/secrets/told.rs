//! Secrets told in a sentence that says what they are for: `the root password for staging is …`,
//! `пароль от базы: …`. A few words lie between the name and the value, so the value must look
//! drawn.

use super::spoken::{DRAWN_BYTES_MIN, NATIVE_NAMES, drawn_at};
use super::{Found, named, names};

/// From the name on, a sentence has at most so many words and bytes before its value.
const WORDS_MAX: usize = 8;
const CLAUSE_BYTES_MAX: usize = 120;
/// So much of a value tells whether it is worth looking for its name.
const JUDGED_BYTES: usize = 40;

/// What follows a name when it is told whose secret it is. Where another word follows, something
/// else is told: `the password hash for …`, `token count of …`.
const JOINERS: &[&str] = &[
    "for", "on", "of", "in", "to", "at", "from", "you", "we", "i", "that", "which", "für", "von",
    "vom", "zum", "zur", "auf", "am", "im", "beim", "des", "der", "pour", "de", "du", "sur", "del",
    "para", "en", "do", "da", "dos", "no", "na", "per", "di", "della", "dell", "sul", "voor",
    "van", "op", "dla", "od", "от", "для", "к", "на", "в", "из", "için",
];

/// Verbs before a value that have letters beyond ASCII around them or in them.
const NATIVE_VERBS: &[&str] = &[" é ", " è ", " to ", " это ", " є "];

/// `password for staging: …`, with `at` on the sign between them.
pub(super) fn after_sign(text: &str, at: usize) -> Option<Found> {
    let name =
        may_be_drawn(text, at + 1).then(|| name_in(text.get(..at)?, Gap::Words)).flatten()?;
    drawn_at(text, at + 1, &name)
}

/// `the root password for staging is …`, with `verb` where the verb begins and `start` behind it.
pub(super) fn after_verb(text: &str, verb: usize, start: usize) -> Option<Found> {
    let is_possible = may_be_drawn(text, start);
    let name = is_possible.then(|| name_in(text.get(..verb)?, Gap::Any)).flatten()?;
    drawn_at(text, start, &name)
}

/// `a senha do banco é …`: verbs in texts that are not all ASCII.
pub(super) fn after_native_verbs(text: &str) -> impl Iterator<Item = Found> {
    let verbs = NATIVE_VERBS.iter().flat_map(move |verb| text.match_indices(verb));
    verbs.filter_map(move |(at, verb)| after_verb(text, at, at + verb.len() - 1))
}

/// What lies between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Words, or none.
    Any,
    /// Words; what stands right before a sign is judged where signs are. Only names in other
    /// letters are not.
    Words,
}

/// Tells whether a value may be drawn, by its first letters: looking back is dear, and nearly
/// everything behind a colon is a word.
pub(super) fn may_be_drawn(text: &str, start: usize) -> bool {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let letters = || rest.iter().take(JUDGED_BYTES).take_while(|byte| !byte.is_ascii_whitespace());
    letters().any(u8::is_ascii_digit)
        && letters().any(u8::is_ascii_uppercase)
        && DRAWN_BYTES_MIN <= letters().count()
}

/// Returns the name of the secret that a clause tells of, if it ends with it or goes on with what
/// it is for.
fn name_in(before: &str, gap: Gap) -> Option<String> {
    let clause = clause(before);
    let mut end = clause.len();
    let mut next: Option<&str> = None;
    for _ in 0..WORDS_MAX {
        let told = clause.get(..end)?.trim_end();
        let start = told.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = told.get(start..).filter(|word| !word.is_empty())?;
        let joins =
            |next: &str| next.starts_with('(') || JOINERS.contains(&next.to_lowercase().as_str());
        let is_told = next.is_none_or(joins);
        let is_far = next.is_some() || gap == Gap::Any;
        if let Some(name) = is_told.then(|| name_at_end(told, is_far)).flatten() {
            return Some(name);
        }
        next = Some(word);
        end = start;
    }
    None
}

/// Returns the name that a text ends with, whatever letters it is written in, or only in others.
fn name_at_end(told: &str, may_be_plain: bool) -> Option<String> {
    // To pass is also something that tests and arguments do.
    let is_name = |name: &String| names::is_secret_name(name) && name != "pass";
    let plain = names::name_before(told).filter(|name| may_be_plain && is_name(name));
    let is_native = || NATIVE_NAMES.iter().any(|name| told.ends_with(name));
    plain.or_else(|| is_native().then(|| "password".to_owned()))
}

/// Returns the end of the last line, from where its last part begins.
fn clause(before: &str) -> &str {
    let line = named::last_line(before);
    let mut start = line.len().saturating_sub(CLAUSE_BYTES_MAX);
    while !line.is_char_boundary(start) {
        start += 1;
    }
    let line = line.get(start..).unwrap_or_default();
    let part = line.rsplit(['!', '?', ';', ':', '=', '|', ',']).next().unwrap_or_default();
    part.rsplit(". ").next().unwrap_or_default()
}
