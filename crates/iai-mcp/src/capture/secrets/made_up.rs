//! Passwords that people make up: a word and a year, or what somebody types into a file of
//! settings. They look like names in code, so what stands before them must leave no doubt.

use super::named::{self, value_at};
use super::{Found, counts_up, n_distinct, names};

/// A password is at least so long …
const BYTES_MIN: usize = 8;
/// … and has so many different letters.
const DISTINCT_MIN: u32 = 6;
/// What is made of a word has one of at least so many letters …
const WORD_LETTERS_MIN: usize = 3;
/// … and so many digits: a year. Types in code have fewer (`Varchar255`) …
const DIGITS_MIN: usize = 4;
const DIGITS_MAX: usize = 8;
/// … unless a sign stands behind them, which no type has.
const DIGITS_BEFORE_SIGN_MIN: usize = 2;
const SIGNS_MAX: usize = 3;
/// Signs that people put into passwords, and that join no names and paths.
const SIGNS: &str = "!?#$%&*+@^~";

/// Judges what a password's name is given, with `at` on the sign between them and `start` behind
/// it.
pub(super) fn assigned(text: &str, at: usize, start: usize, name: &str) -> Option<Found> {
    let is_setting = is_setting(text, at);
    let is_one = |value: &str| is_word_and_number(value) || (is_setting && is_typed(value));
    judged(text, start, name, is_one)
}

/// Judges what somebody says that a password is.
pub(super) fn said(text: &str, start: usize, name: &str) -> Option<Found> {
    judged(text, start, name, is_word_and_number)
}

fn judged(text: &str, start: usize, name: &str, is_one: impl Fn(&str) -> bool) -> Option<Found> {
    // Keys and tokens are drawn by machines.
    let is_password = named::kind_of(name) == "password"
        || ["passwd", "passphrase", "passcode"].iter().any(|end| name.ends_with(end));
    if !is_password || !names::is_secret_name(name) {
        return None;
    }
    let (mut range, is_quoted) = value_at(text, start)?;
    // It may end the sentence; one sign too many is better than a part of it in clear.
    let n_shouted = text.get(range.end..)?.bytes().take_while(|byte| *byte == b'!').count();
    range.end += if is_quoted { 0 } else { n_shouted.min(SIGNS_MAX) };
    let value = text.get(range.clone())?;
    let is_told = BYTES_MIN <= value.len()
        && DISTINCT_MIN <= n_distinct(value)
        && is_one(value)
        && !is_nobodys(value)
        && !named::is_stand_in(value)
        && !named::is_reference(value)
        && !counts_up(&value.to_ascii_lowercase());
    is_told.then_some(Found { kind: named::kind_of(name), range })
}

/// `DB_PASSWORD=…`, with no blanks: a line of a shell or of a file of settings, where a value is
/// what it is, and no name of something else.
fn is_setting(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let is_in = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let mut name = before.iter().rev().take(names::NAME_BYTES_MAX).take_while(is_in).peekable();
    let behind = text.get(at..).unwrap_or_default();
    let is_apart = behind.get(1..).is_none_or(|value| value.starts_with(char::is_whitespace));
    behind.starts_with('=')
        && !is_apart
        && name.peek().is_some()
        && name.all(|byte| !byte.is_ascii_lowercase())
}

/// `Winter2025`, `Sommer26!`.
fn is_word_and_number(value: &str) -> bool {
    let rest = value.trim_start_matches(char::is_alphabetic);
    let signs = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let word = value.get(..value.len() - rest.len()).unwrap_or_default();
    let n_digits = rest.len() - signs.len();
    let n_digits_min = if signs.is_empty() { DIGITS_MIN } else { DIGITS_BEFORE_SIGN_MIN };
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.all(char::is_lowercase)
        && WORD_LETTERS_MIN <= word.chars().count()
        && (n_digits_min..=DIGITS_MAX).contains(&n_digits)
        && signs.len() <= SIGNS_MAX
        && signs.chars().all(|sign| SIGNS.contains(sign))
}

/// Small letters and digits, and no name in code, which has a capital in its middle.
fn is_typed(value: &str) -> bool {
    let is_in = |letter: char| letter.is_ascii_alphanumeric() || SIGNS.contains(letter);
    let is_hump =
        |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
    value.chars().all(is_in)
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && !value.as_bytes().windows(2).any(is_hump)
}

/// `admin123` and `test1234`: what everybody writes who means nobody's, and a number that counts.
fn is_nobodys(value: &str) -> bool {
    let word = value.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = value.get(word.len()..).unwrap_or_default();
    "1234567890".starts_with(number) && named::is_nobodys(&word.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_kept, check_secret};

    #[test]
    fn a_word_and_a_number_are_a_password_behind_its_name() {
        for (before, secret, after) in [
            ("DB_PASSWORD=", "Winter2025", ""),
            ("export DB_PASSWORD=", "Winter2025!", "\n"),
            ("DB_PASSWORD='", "Winter2025", "'\n"),
            ("password: ", "Winter2025", "\n"),
            ("password = ", "Summer2024", "\n"),
            ("{\"password\": \"", "Winter2025", "\"}"),
            ("user=shop password=", "Winter2025", " host=db"),
            ("SMTP_PASS=", "Frühling2026", "\n"),
            ("my password is ", "Winter2025", ", thanks"),
            ("my password is ", "Winter25!", ""),
            ("das Passwort ist ", "Sommer2026!", ""),
            ("das Passwort ist ", "Sommer2026", "."),
            ("das Passwort lautet ", "Sommer2026!", " und bleibt so"),
            ("das Passwort ist: ", "Sommer2026!", ""),
            ("Das WLAN-Passwort ist ", "Sommer2026!", ""),
            ("le mot de passe est ", "Soleil2026", ""),
        ] {
            check_secret(before, secret, after, "password");
        }
    }

    #[test]
    fn what_a_setting_is_given_was_typed_by_somebody() {
        for (before, secret, after) in [
            ("DB_PASSWORD=", "hunter2xyz9", ""),
            ("docker run -e MYSQL_ROOT_PASSWORD=", "winter2025", " mysql"),
            ("PGPASSWORD=\"", "k3yboardcat", "\" psql"),
            ("SMTP_PASS=", "blau4711gelb", ";"),
        ] {
            check_secret(before, secret, after, "password");
        }
        check_secret("MYSQL_PASSWD=", "hunter2xyz9", "\n", "named-secret");
        // What stands for a password may also be where one begins.
        check_secret("postgres://shop:", "Hunter2xyz9", "@db.internal:5432/shop", "url-password");
        check_secret("curl -u shop:", "hunter2xyz9", " https://h", "password");
    }

    #[test]
    fn what_only_looks_made_up_stays() {
        for text in [
            "DB_PASSWORD=hunter2 and postgres://shop:hunter2@db.internal:5432/shop",
            "DB_PASSWORD=changeme DB_PASSWORD=changeme2025 DB_PASSWORD=<password>",
            "DB_PASSWORD=your-password DB_PASSWORD=yourpass2025 DB_PASSWORD=Example2025",
            "DB_PASSWORD=${DB_PASS2025} DB_PASSWORD=$DB_PASS2025 DB_PASSWORD=%DbPass2025%",
            "DB_PASSWORD=admin123 POSTGRES_PASSWORD=postgres1 PASSWORD=test1234",
            "DB_PASSWORD=Password2025 DB_PASSWORD=password123",
            "DB_PASSWORD=userInput2 DB_PASSWORD=getpass2() DB_PASSWORD=input2.value",
            "DB_PASSWORD=vault2/shop/db1 DB_PASSWORD=k8s-secret-ref1 DB_PASSWORD=SECRET_NAME_2",
            "DB_PASSWORD=required DB_PASSWORD=12345678 DB_PASSWORD=aaaa1111",
            "DB_PASSWORD= winter2025 is what follows, DB_PASSWORD == winter2025",
            "API_VERSION=winter2025 RELEASE=Winter2025 release: Winter2025",
            "API_KEY=apikey2025 SESSION_TOKEN=Token2025",
            "password: string, password: String255, password: Varchar255, password: Argon2id",
            "password: winterRelease2025, password=dbPass2025x, password = hashed2025",
            "connect(password=value2025, timeout=30)",
            "password: WinterRelease2025, password_hash: Winter2025",
            "the password is Argon2id, the password is stored, the password is required!",
            "das Passwort ist falsch! Das Passwort ist mindestens2025 lang",
            "the token is Winter2025, the winner is Winter2025!, das Ziel ist Sommer2026!",
            "PASS: Winter2025",
        ] {
            check_kept(text);
        }
    }
}
