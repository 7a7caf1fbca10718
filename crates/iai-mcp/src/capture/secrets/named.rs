//! Secrets that say what they are by the name before them: `password = …`, `user:…@host`.

use std::ops::Range;

use super::names::{NAME_BYTES_MAX, ends_like_a_name, is_secret_name, name_before};
use super::tokens::Letters;
use super::{Found, WEB_TOKEN_EXAMPLE, counts_up, logins, made_up, n_distinct, spoken, told};

/// A secret is at least so long …
const SECRET_BYTES_MIN: usize = 8;
/// … and not longer than this.
const SECRET_BYTES_MAX: usize = 512;
/// How much of a line is looked at for the command that it is.
const LINE_BYTES_MAX: usize = 400;
/// An exclamation mark belongs to a value that changes its kind of letters so often.
const SHOUTED_CHANGES_MIN: usize = 4;
/// What stands for a secret that is not told, or refers to where it is kept.
const STAND_INS: &[&str] = &[
    "example",
    "changeme",
    "change_me",
    "placeholder",
    "your",
    "xxx",
    "***",
    "...",
    "…",
    "redacted",
    "secret:",
    "[secret",
    "env.",
    "environ",
    "getenv",
    "process.",
    "config.",
    "settings.",
    "self.",
    "this.",
    "password",
    "dummy",
    "sample",
    "vault:",
    "op://",
    "ssm:",
    "arn:",
];

/// What stands for one where it is the whole value; many a password begins with it.
const STAND_INS_WHOLE: &[&str] = &["hunter2"];

/// What everybody writes who means nobody's.
const NOBODYS_PASSWORDS: &[&str] =
    &["pass", "postgres", "root", "admin", "secret", "test", "guest", "user", "mysql", "pwd"];

/// What stands between a name and its value where somebody tells it.
const VERBS: &[&str] = &["is", "ist", "lautet", "est", "es"];

/// `name = value`, `"name": "value"`, with `at` on the sign between them.
pub(super) fn assigned(text: &str, at: usize) -> Option<Found> {
    // `:=`, `::=` and `?=` assign as well.
    let before = text.get(..at)?.trim_end_matches([':', '?']);
    if !ends_like_a_name(before) {
        return None;
    }
    let name = name_before(before)?;
    if name.ends_with("authorization") {
        return authorization(text, at + 1);
    }
    if name == "value" {
        return attribute(text, before, at + 1).or_else(|| listed(text, before, at + 1));
    }
    if name == "auth" {
        return logins::in_base64(text, at + 1);
    }
    if name == "sig" {
        return logins::signature(text, at + 1);
    }
    if VERBS.contains(&name.as_str()) {
        // In French, a blank stands before the colon.
        let told = before.trim_end_matches([' ', '\t']);
        return spoken::after_verb(text, told.len() - name.len(), at + 1);
    }
    // `PASS: TestOfSomething1` is what programs say that run tests.
    if name == "pass" && text.as_bytes().get(at) == Some(&b':') {
        return None;
    }
    let name = if is_secret_name(&name) { name } else { annotated(before).unwrap_or(name) };
    // Our own marks have the shape of an assignment.
    if !is_secret_name(&name) || before.ends_with("[secret") {
        return None;
    }
    let behind = text.get(at + 1..)?;
    // `==` compares and `=>` maps; only the second has a value.
    let behind = behind.strip_prefix('>').unwrap_or(behind);
    if behind.starts_with('=') || behind.starts_with(':') {
        return None;
    }
    let start = text.len() - behind.len();
    value(text, start, &name)
        .or_else(|| made_up::assigned(text, at, start, &name))
        .or_else(|| spoken::below(text, start, &name))
}

/// `Authorization: Token …`, and without a scheme; with `start` behind the colon.
fn authorization(text: &str, start: usize) -> Option<Found> {
    let rest = text.get(start..)?.trim_start_matches([' ', '\t', '"', '\'']);
    let is_scheme = |word: &str| word.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
    let (first, behind) = rest.split_once(' ').unwrap_or((rest, ""));
    let value = if is_scheme(first) { behind.trim_start() } else { rest };
    let start = text.len() - value.len();
    // What stands behind its own scheme was looked at by `after_word`.
    let (range, _) = value_at(text, start).filter(|_| !first.eq_ignore_ascii_case("basic"))?;
    let secret = text.get(range.clone())?;
    let is_token = secret.bytes().all(|byte| Letters::Any.has(byte)) && 16 <= secret.len();
    let has_digit = secret.bytes().any(|byte| byte.is_ascii_digit());
    let is_told = is_token && has_digit && !is_stand_in(secret) && !is_reference(secret);
    is_told.then_some(Found { kind: "authorization", range })
}

/// `password: str = …`: the name stands before its type.
fn annotated(before: &str) -> Option<String> {
    let line = last_line(before);
    let (named, kind) = line.rsplit_once(':')?;
    // One of our marks has colons too, and tells no type.
    if named.rfind("[secret:").is_some_and(|at| !named.get(at..).unwrap_or_default().contains(']'))
    {
        return None;
    }
    let is_kind = |letter: char| letter.is_ascii_alphanumeric() || " <>[]|&'_.".contains(letter);
    let fits = kind.len() <= NAME_BYTES_MAX && !kind.trim().is_empty() && kind.chars().all(is_kind);
    fits.then(|| name_before(named)).flatten()
}

/// `name: API_KEY` and, in the next line or behind a comma, `value: …`.
fn listed(text: &str, before: &str, start: usize) -> Option<Found> {
    let mut near = before.len().saturating_sub(NAME_BYTES_MAX * 3);
    while !before.is_char_boundary(near) {
        near += 1;
    }
    let near = before.get(near..)?;
    let (_, behind) = near.rsplit_once("name").or_else(|| near.rsplit_once("Name"))?;
    let named = behind.trim_start_matches(['"', '\'', ' ', ':', '=']);
    let end = named.find(['"', '\'', ',', '\n', ' '])?;
    let name = name_before(named.get(..end)?)?;
    is_secret_name(&name).then(|| value(text, start, &name)).flatten()
}

/// `<add key="Password" value="…"`, with `start` behind the second sign. Any of the attributes may
/// tell: a field of `type="password"` has a name of its own.
fn attribute(text: &str, before: &str, start: usize) -> Option<Found> {
    let element = last_line(before).rsplit('<').next()?;
    let name = ["key=", "name=", "type="].iter().find_map(|sign| {
        element.split(sign).skip(1).find_map(|named| {
            let name = named.trim_start_matches(['"', '\'']).split(['"', '\'']).next()?;
            name_before(name).filter(|name| is_secret_name(name))
        })
    })?;
    value(text, start, &name)
}

/// `<password>…</password>`, with `at` on the bracket before the value.
pub(super) fn in_element(text: &str, at: usize) -> Option<Found> {
    let before = text.get(..at)?;
    if !ends_like_a_name(before) {
        return None;
    }
    let name = name_before(before)?;
    let is_element = last_line(before).rfind('<').is_some_and(|open| {
        !last_line(before).get(open..).unwrap_or_default().contains([' ', '/'])
    });
    let behind = text.get(at + 1..)?;
    let told = behind.get(..behind.find('<')?)?;
    let is_named =
        is_element && is_secret_name(&name) && behind.get(told.len()..)?.starts_with("</");
    let is_secret = is_named && is_strong(told, true);
    let kind = kind_of(&name);
    is_secret.then(|| Found { kind, range: at + 1..at + 1 + told.len() })
}

/// `password is …`, `Bearer …`, with `at` on the space before the value.
pub(super) fn after_word(text: &str, at: usize) -> Option<Found> {
    let before = text.get(..at)?;
    // Nearly every space is behind another word; these are the last letters of ours.
    let last = before.as_bytes().last();
    if !matches!(last, Some(b's' | b'r' | b'R' | b'c' | b'C' | b't' | b'y' | b'Y')) {
        return None;
    }
    let last = last_word(before);
    if last.eq_ignore_ascii_case("by") {
        return identified_by(text, at);
    }
    if last.eq_ignore_ascii_case("bearer") || last.eq_ignore_ascii_case("basic") {
        let header = before.get(..before.len() - last.len())?.trim_end_matches([' ', '"', '\'']);
        let is_header = header.ends_with(':');
        let (range, _) = value_at(text, at + 1).filter(|_| is_header)?;
        let secret = text.get(range.clone())?;
        let is_token = secret.bytes().all(|byte| Letters::Any.has(byte)) && 16 <= secret.len();
        let is_told = is_token && !is_stand_in(secret) && !is_reference(secret);
        return is_told.then_some(Found { kind: "authorization", range });
    }
    if !VERBS.contains(&last) {
        return None;
    }
    let name = name_before(before.strip_suffix(last)?)?;
    let is_password = matches!(name.as_str(), "password" | "passphrase" | "passcode" | "passwort");
    let is_named = is_password
        || matches!(name.as_str(), "kennwort" | "motdepasse" | "apikey" | "wachtwoord" | "parola");
    match is_named {
        true => value(text, at + 1, &name),
        false => told::after_verb(text, at - last.len(), at + 1),
    }
    .or_else(|| made_up::said(text, at + 1, &name))
}

/// `IDENTIFIED BY '…'`, with `at` on the blank before the value.
fn identified_by(text: &str, at: usize) -> Option<Found> {
    let line = last_line(text.get(..at)?).to_ascii_lowercase();
    let is_quoted = text.get(at + 1..)?.starts_with(['"', '\'']);
    let is_login = line.contains("identified with ")
        || (line.contains("identified by") && line.contains("user "));
    let is_told = is_quoted && is_login;
    is_told.then(|| value(text, at + 1, "password")).flatten()
}

/// `curl -u name:password`, with `at` on the dash.
pub(super) fn after_flag(text: &str, at: usize) -> Option<Found> {
    let rest = text.get(at..)?;
    let behind =
        ["-u ", "-u=", "-user ", "-user="].iter().find_map(|flag| rest.strip_prefix(flag))?;
    if !is_curl(text.get(..at)?) {
        return None;
    }
    let behind = behind.trim_start_matches(' ');
    let quote = behind.chars().next().filter(|letter| matches!(letter, '"' | '\''));
    let login = behind.strip_prefix(['"', '\'']).unwrap_or(behind);
    let ends = |letter: char| match quote {
        Some(quote) => letter == quote || letter == '\n',
        None => letter.is_whitespace() || letter == '\\',
    };
    let login = login.get(..login.find(ends).unwrap_or(login.len()))?;
    let (name, password) = login.split_once(':')?;
    // `user:pass` is how everybody writes it down who means nobody.
    let is_word = password.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_told = 4 <= password.len() && !is_word && !is_stand_in(password);
    let is_told = is_told && !is_reference(password);
    let start = text.len() - behind.len() + quote.map_or(0, char::len_utf8) + name.len() + 1;
    is_told.then(|| Found { kind: "password", range: start..start + password.len() })
}

/// A command may go on over lines that end with a backslash.
fn is_curl(before: &str) -> bool {
    let mut before = before;
    loop {
        let line = last_line(before);
        if line.contains("curl") {
            return true;
        }
        let above = before.get(..before.len() - line.len()).unwrap_or_default();
        let Some(above) = above.strip_suffix("\\\n") else { return false };
        before = above;
    }
}

/// `scheme://user:password@host`, with `at` on the colon behind the scheme.
pub(super) fn in_url(text: &str, at: usize) -> Option<Found> {
    let behind = text.get(at..)?.strip_prefix("://")?;
    let scheme = text.get(..at)?.bytes().next_back()?;
    let is_end = |letter: char| letter.is_whitespace() || "/?#\"'<>`".contains(letter);
    let authority = behind.get(..behind.find(is_end).unwrap_or(behind.len()))?;
    let (login, host) = authority.rsplit_once('@')?;
    let (user, password) = login.split_once(':')?;
    let is_nobodys = user == password || is_nobodys(password);
    let is_told = 3 <= password.len() && !is_stand_in(password) && !is_reference(password);
    let is_told = is_told && !is_nobodys;
    let is_url = scheme.is_ascii_alphanumeric() && !host.is_empty() && is_told;
    let start = at + 3 + login.len() - password.len();
    is_url.then(|| Found { kind: "url-password", range: start..start + password.len() })
}

/// Judges the value at `start`.
pub(super) fn value(text: &str, start: usize, name: &str) -> Option<Found> {
    let (range, is_quoted) = value_at(text, start)?;
    let secret = text.get(range.clone())?;
    // An exclamation mark ends a sentence more often than a password.
    let shouted = text.get(range.start..=range.end).filter(|shouted| shouted.ends_with('!'));
    let is_whole = |shouted: &str| {
        !is_quoted && SHOUTED_CHANGES_MIN <= n_changes(secret) && is_strong(shouted, false)
    };
    let kind = kind_of(name);
    if shouted.is_some_and(is_whole) {
        return Some(Found { kind, range: range.start..range.end + 1 });
    }
    is_strong(secret, is_quoted).then_some(Found { kind, range })
}

/// What a secret with this name is called in its mark.
pub(super) fn kind_of(name: &str) -> &'static str {
    let ends = ["word", "wort", "pwd", "pw", "pass", "passe"];
    if ends.iter().any(|end| name.ends_with(end)) { "password" } else { "named-secret" }
}

/// Reads a value, in quotes or up to where a value ends; a call is none.
pub(super) fn value_at(text: &str, start: usize) -> Option<(Range<usize>, bool)> {
    let rest = text.get(start..)?.trim_start_matches([' ', '\t']);
    let rest = rest.strip_prefix("!!str ").unwrap_or(rest);
    // A block of YAML has its value in the next line.
    let block = [">-\n", "|-\n", ">\n", "|\n"].iter().find_map(|sign| rest.strip_prefix(sign));
    let rest = block.map_or(rest, |block| block.trim_start_matches([' ', '\t']));
    // Inside a string of JSON, quotes have a backslash before them.
    let is_escaped = rest.starts_with("\\\"");
    let rest = rest.strip_prefix('\\').filter(|_| is_escaped).unwrap_or(rest);
    // Brackets that other languages quote with are not read as quotes: sentences stand in them too.
    let rest = rest.strip_prefix(['「', '『', '“', '„', '«']).unwrap_or(rest);
    let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\'' | '`'));
    let inner = quote.map_or(rest, |quote| rest.get(quote.len_utf8()..).unwrap_or_default());
    let ends = |letter: char| match quote {
        Some(_) if is_escaped => matches!(letter, '\\' | '\n'),
        Some(quote) => letter == quote || letter == '\n',
        None => letter.is_whitespace() || ",;\"'`<>()[]{}|，。；、！？）」』】”“»".contains(letter),
    };
    let end = inner.char_indices().find(|(at, letter)| SECRET_BYTES_MAX < *at || ends(*letter));
    let end = end.map_or(inner.len(), |(at, _)| at);
    let told = inner.get(..end)?;
    // A full stop ends the sentence; several say that something was left out.
    let is_cut = told.ends_with("...");
    let told =
        if quote.is_some() || is_cut { told } else { told.trim_end_matches(['.', '!', '?']) };
    let begun = text.len() - inner.len();
    let is_call = inner.get(end..).is_some_and(|behind| behind.starts_with(['(', '[', '{']));
    (!is_call).then(|| (begun..begun + told.len(), quote.is_some()))
}

/// A value that was made to be secret: long and mixed, and no word, path, number or reference.
pub(super) fn is_strong(secret: &str, is_quoted: bool) -> bool {
    if !(SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&secret.len())
        || secret.contains(char::is_whitespace)
        || is_stand_in(secret)
        || is_reference(secret)
    {
        return false;
    }
    let has = |is_in: fn(&u8) -> bool| usize::from(secret.bytes().any(|byte| is_in(&byte)));
    let (upper, lower) = (has(u8::is_ascii_uppercase), has(u8::is_ascii_lowercase));
    let (digit, sign) = (has(u8::is_ascii_digit), has(u8::is_ascii_punctuation));
    let is_long = 20 <= secret.len() && digit == 1 && upper + lower >= 1;
    let is_mixed = upper + lower + digit + sign >= if is_quoted { 3 } else { 4 };
    let n_distinct_min = if is_long { 8 } else { 6 };
    n_distinct_min <= n_distinct(secret)
        && digit == 1
        && (is_long || is_mixed || is_drawn(secret))
        && !counts_up(&secret.to_ascii_lowercase())
}

/// Letters that were drawn are of another kind every other place; names in code are not.
fn is_drawn(secret: &str) -> bool {
    10 <= secret.len() && secret.len() <= 2 * n_changes(secret)
}

/// Returns how often one kind of letters follows another.
pub(super) fn n_changes(secret: &str) -> usize {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changes = |pair: &&[u8]| matches!(pair, [a, b] if kind(*a) != kind(*b));
    secret.as_bytes().windows(2).filter(changes).count()
}

pub(super) fn is_stand_in(secret: &str) -> bool {
    let lower = secret.to_lowercase();
    STAND_INS.iter().any(|word| lower.contains(word))
        || STAND_INS_WHOLE.contains(&lower.as_str())
        || secret.contains(WEB_TOKEN_EXAMPLE)
}

pub(super) fn is_nobodys(password: &str) -> bool {
    NOBODYS_PASSWORDS.contains(&password)
}

/// `${NAME}`, `$NAME`, `{{ name }}`, `<name>`, `%s`, a path or a web address.
pub(super) fn is_reference(secret: &str) -> bool {
    secret.starts_with(['$', '<', '{', '%', '/', '~', '@', '&', '*', '#'])
        || secret.starts_with("./")
        || secret.contains("://")
        || secret.contains("${")
        || secret.contains("::")
        || secret.contains("->")
}

fn last_word(text: &str) -> &str {
    let start = text.rfind(|letter: char| !letter.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default()
}

pub(super) fn last_line(text: &str) -> &str {
    let mut start = text.len().saturating_sub(LINE_BYTES_MAX);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default().rsplit('\n').next().unwrap_or_default()
}
