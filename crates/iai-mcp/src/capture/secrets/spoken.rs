//! Secrets by a name that is not followed by a sign: `--password …`, `password …`, `sshpass -p …`,
//! names in other alphabets, and calls that take a name or are one.

use super::named::{self, value_at};
use super::names::NAME_BYTES_MAX;
use super::{Found, made_up, names, told};

/// A value after a blank could be the next word; one that was drawn is at least so long.
pub(super) const DRAWN_BYTES_MIN: usize = 10;
/// From here on a value is long.
const LONG_BYTES_MIN: usize = 20;

/// Commands, and the flag behind which they take a password; a flag without a blank has its value
/// right behind it.
const FLAGS: &[(&str, &str)] = &[
    ("sshpass", "-p "),
    ("sshpass", "-p"),
    ("docker login", "-p "),
    ("podman login", "-p "),
    ("registry login", "-p "),
    ("az login", "-p "),
    ("twine", "-p "),
    ("mysql", "-p"),
    ("mysqldump", "-p"),
    ("mysqladmin", "-p"),
    ("redis-cli", "-a "),
    ("openssl", "-k "),
    ("openssl", "pass:"),
    ("ldapsearch", "-w "),
    ("sqlcmd", "-P "),
];

/// What a password is called where names have no Latin letters, or signs on them.
pub(super) const NATIVE_NAMES: &[&str] = &[
    "contraseña",
    "Contraseña",
    "пароль",
    "Пароль",
    "пароля",
    "password è",
    "senha é",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "密钥",
    "ключ api",
    "hasło",
    "Hasło",
    "hasła",
    "şifre",
    "Şifre",
    "şifresi",
    "Şifresi",
    "geheime Schlüssel",
    "geheimer Schlüssel",
    "API-Schlüssel",
];
/// What stands between such a name and the value.
const NATIVE_SIGNS: &[char] =
    &[' ', ':', '：', '=', 'は', '是', '为', '為', '：', '은', '는', '—', '–', '-'];
/// Dashes and arrows that stand between a name and its value, with blanks around them.
const DASHES: &[char] = &['—', '–', '→'];
/// Words that do the same, with blanks around them.
const NATIVE_VERBS: &[&str] = &["es", "это", "is", "to", "şu"];

/// `sshpass -p …`, with `at` on the dash, or on the colon of `pass:…`.
pub(super) fn after_command(text: &str, at: usize) -> Option<Found> {
    let rest = text.get(at..)?;
    // Few dashes are such a flag; only then is it worth looking whose.
    let mut flags = FLAGS.iter().filter(|(_, flag)| rest.starts_with(flag)).peekable();
    flags.peek()?;
    let line = named::last_line(text.get(..at)?).rsplit([';', '|', '&', ',']).next()?;
    let (_, flag) = flags.find(|(command, _)| line.contains(command))?;
    drawn_at(text, at + flag.len(), "password")
}

/// `password …`, `--token …`, with `at` on the blank behind the name.
pub(super) fn after_name(text: &str, at: usize) -> Option<Found> {
    let before = text.get(..at)?;
    let name = names::name_before(before)?;
    names::is_secret_name(&name).then(|| drawn_at(text, at + 1, &name)).flatten()
}

/// `the password is: …`, with `verb` where the verb begins, and `start` behind the colon.
pub(super) fn after_verb(text: &str, verb: usize, start: usize) -> Option<Found> {
    let name = names::name_before(text.get(..verb)?)?;
    let drawn = names::is_secret_name(&name).then(|| drawn_at(text, start, &name)).flatten();
    drawn.or_else(|| made_up::said(text, start, &name))
}

/// A value alone in the line below its name, with `start` behind the colon.
pub(super) fn below(text: &str, start: usize, name: &str) -> Option<Found> {
    let behind = text.get(start..)?.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n')?;
    let value = behind.trim_start_matches([' ', '\t']);
    let found = drawn_at(text, text.len() - value.len(), name)?;
    let rest = text.get(found.range.end..)?.trim_start_matches(['"', '\'', '`', ' ', '\r']);
    (rest.is_empty() || rest.starts_with('\n')).then_some(found)
}

/// `password - …`, with `at` on the dash.
pub(super) fn after_dash(text: &str, at: usize) -> Option<Found> {
    let is_apart = text.get(at..)?.starts_with("- ");
    let before = text.get(..at)?.strip_suffix(' ').filter(|_| is_apart)?;
    let name = names::name_before(before)?;
    names::is_secret_name(&name).then(|| drawn_at(text, at + 1, &name)).flatten()
}

/// Values behind names that are not written in Latin letters.
pub(super) fn in_other_letters(text: &str) -> Vec<Found> {
    if text.is_ascii() {
        return Vec::new();
    }
    let names = NATIVE_NAMES.iter().flat_map(|name| text.match_indices(name));
    let found = names.filter_map(|(at, name)| {
        let behind = text.get(at + name.len()..)?;
        let value = behind.trim_start_matches(NATIVE_SIGNS);
        let value = NATIVE_VERBS
            .iter()
            .find_map(|verb| value.strip_prefix(verb)?.strip_prefix([' ', ':']))
            .unwrap_or(value);
        let is_apart = value.len() < behind.len();
        let start = text.len() - value.trim_start_matches(NATIVE_SIGNS).len();
        is_apart.then(|| drawn_at(text, start, "password")).flatten()
    });
    let dashes = DASHES.iter().flat_map(|dash| text.match_indices(*dash));
    let dashed = dashes.filter_map(|(at, dash)| {
        let start = at + dash.len();
        let is_apart = text.get(start..)?.starts_with(' ');
        let before = text.get(..at)?.strip_suffix(' ').filter(|_| is_apart)?;
        let name = names::name_before(before).filter(|name| names::is_secret_name(name));
        match name {
            Some(name) => drawn_at(text, start, &name),
            None => told::after_verb(text, at, start),
        }
    });
    found.chain(dashed).chain(told::after_native_verbs(text)).collect()
}

/// `define("DB_PASSWORD", "…")` and `setPassword("…")`.
pub(super) fn in_calls(text: &str) -> Vec<Found> {
    let calls = text.match_indices('(').filter_map(|(at, _)| {
        let behind = text.get(at + 1..)?.trim_start_matches(' ');
        if !behind.starts_with(['"', '\'']) {
            return None;
        }
        let start = text.len() - behind.len();
        let name = names::name_before(text.get(..at)?)?;
        if name == "define" {
            let near = behind.get(..behind.len().min(NAME_BYTES_MAX)).unwrap_or_default();
            let (named, _) = near.split_once(',')?;
            let name = names::name_before(named)?;
            let is_named = names::is_secret_name(&name);
            return is_named.then(|| drawn_at(text, start + named.len() + 1, &name)).flatten();
        }
        names::is_secret_name(&name).then(|| drawn_at(text, start, &name)).flatten()
    });
    calls.collect()
}

/// Judges the value at `start` by what a drawn one looks like, whatever stands around it.
pub(super) fn drawn_at(text: &str, start: usize, name: &str) -> Option<Found> {
    let (range, _) = value_at(text, start)?;
    let value = text.get(range.clone())?;
    let has = |is_in: fn(&u8) -> bool| value.as_bytes().iter().any(is_in);
    let is_mixed =
        has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_drawn = DRAWN_BYTES_MIN <= value.len() && is_mixed && changes_often(value);
    let kind = named::kind_of(name);
    (is_drawn && named::is_strong(value, true)).then_some(Found { kind, range })
}

/// What was drawn is of another kind of letter every other place; where it is long, chance evens
/// out and less is enough.
fn changes_often(value: &str) -> bool {
    let n_changes = named::n_changes(value);
    value.len() <= 2 * n_changes || (LONG_BYTES_MIN <= value.len() && value.len() <= 3 * n_changes)
}
