//! What kind of value a few words are: a path, a date, a version, a number, a name, a "not".

use iai_store::Difference;

use super::tokens::Token;
use crate::attributes::number_of;

/// A value has at most so many words: "the 3rd of May", "New York City".
pub(super) const VALUE_TOKENS_MAX: usize = 4;
/// So many hexadecimal digits are no word.
const HASH_CHARS_MIN: usize = 12;
/// Days and months, by how they begin: long enough to mean nothing else.
const DATE_WORDS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "понедельник",
    "вторник",
    "среда",
    "среду",
    "четверг",
    "пятница",
    "пятницу",
    "суббота",
    "субботу",
    "воскресенье",
    "января",
    "февраля",
    "марта",
    "апреля",
    "мая",
    "июня",
    "июля",
    "августа",
    "сентября",
    "октября",
    "ноября",
    "декабря",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "lunes",
    "martes",
    "miércoles",
    "jueves",
    "viernes",
    "sábado",
    "domingo",
    "noon",
    "midnight",
    "am",
    "pm",
];

/// Says what kind of values these are, when both are of one kind.
pub(super) fn kind_of(old: &[Token], new: &[Token]) -> Option<Difference> {
    match (old, new) {
        ([], [only]) | ([only], []) => only.is_negation().then_some(Difference::Negation),
        // "is no longer used" stands against "is used".
        ([], [no, longer]) | ([no, longer], []) => {
            (no.is_negation() && longer.folded == "longer").then_some(Difference::Negation)
        }
        ([], _) | (_, []) => None,
        _ if VALUE_TOKENS_MAX < old.len().max(new.len()) => None,
        _ => {
            let both = |is: fn(&[Token]) -> bool| is(old) && is(new);
            if both(is_path) {
                Some(Difference::Path)
            } else if both(is_date) {
                Some(Difference::Date)
            } else if both(is_version) {
                Some(Difference::Version)
            } else if both(is_number) {
                // "Five" and "5" are one number, and no difference.
                let value = |side: &[Token]| side.first().and_then(number_in_words_or_figures);
                let is_same = old.len() == new.len() && value(old).is_some();
                let is_same = is_same && value(old) == value(new) && old.get(1) == new.get(1);
                (!is_same).then_some(Difference::Number)
            } else if both(is_name) {
                Some(Difference::Name)
            } else {
                None
            }
        }
    }
}

pub(super) fn is_path(value: &[Token]) -> bool {
    let is_path = |token: &Token| {
        let has_slash = token.written.contains('/') && 2 < token.written.chars().count();
        let extension = token.written.rsplit_once('.').map(|(_, end)| end);
        let has_extension = extension.is_some_and(|end| {
            (2..=5).contains(&end.len()) && end.chars().all(|letter| letter.is_ascii_lowercase())
        });
        has_slash || has_extension
    };
    matches!(value, [only] if is_path(only))
}

fn is_date(value: &[Token]) -> bool {
    let is_iso = |token: &Token| {
        let digits = token.written.split(['-', '/', '.', ':', 'T']);
        let n_groups = digits.clone().count();
        let is_clock = token.written.contains(':') && n_groups == 2;
        let all_digits = digits
            .into_iter()
            .all(|group| !group.is_empty() && group.chars().all(|letter| letter.is_ascii_digit()));
        (is_clock || 3 <= n_groups && token.written.contains('-')) && all_digits
    };
    let is_word = |token: &Token| is_date_word(&token.folded);
    let may_stand_beside = |token: &Token| token.has_digit() || !token.is_content();
    value.iter().any(|token| is_word(token) || is_iso(token))
        && value.iter().all(|token| is_word(token) || is_iso(token) || may_stand_beside(token))
}

/// Tells whether a word names a day, a month or a time of day.
pub(super) fn is_date_word(word: &str) -> bool {
    DATE_WORDS.contains(&word)
}

fn is_version(value: &[Token]) -> bool {
    let is_version = |token: &Token| {
        let bare = token.folded.strip_prefix('v').unwrap_or(&token.folded);
        let starts = bare.chars().next().is_some_and(|letter| letter.is_ascii_digit());
        let n_dots = bare.matches('.').count();
        let is_marked = token.folded.starts_with('v') || 2 <= n_dots;
        starts && is_marked && bare.split('.').all(|part| !part.is_empty())
    };
    matches!(value, [only] if is_version(only))
}

fn is_number(value: &[Token]) -> bool {
    let is_figure = |token: &Token| {
        token.written.chars().next().is_some_and(|first| first.is_ascii_digit())
            || number_in_words_or_figures(token).is_some()
    };
    match value {
        [only] => is_figure(only),
        // "30 seconds", "2 GB": the unit may change too.
        [figure, unit] => is_figure(figure) && !unit.has_digit(),
        _ => false,
    }
}

/// The tens from twenty on, by language.
const TENS: [&str; 4] = [
    "twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
    "vingt trente quarante cinquante soixante - - - cent",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien",
];

/// The number a token stands for: `5`, `five`, `twenty-five`.
fn number_in_words_or_figures(token: &Token) -> Option<usize> {
    let tens = |word: &str| {
        let find = |names: &&str| names.split(' ').position(|name| name == word && name != "-");
        Some((TENS.iter().find_map(find)? + 2) * 10)
    };
    let word = token.folded.as_str();
    if let Some((ten, one)) = word.split_once('-') {
        return Some(tens(ten)? + number_of(one).filter(|one| *one < 10)?);
    }
    word.parse().ok().or_else(|| number_of(word)).or_else(|| tens(word))
}

/// Written with a capital, or with a mark only names have.
pub(super) fn is_name(value: &[Token]) -> bool {
    let is_name = |token: &Token| {
        let mut letters = token.written.chars();
        let is_capital = letters.next().is_some_and(char::is_uppercase);
        let has_mark = token.written.contains(['_', '-', '.', '@'])
            || letters.any(char::is_uppercase)
            || token.has_digit();
        (is_capital || has_mark) && token.is_content() && !is_hash(token)
    };
    // "Linux, Windows" is a list, "New York" is a name.
    let is_list = value.iter().rev().skip(1).any(|token| token.ends_item);
    !is_list && value.iter().all(is_name)
}

/// A hash or a random id: another one is another thing, and nobody says it twice.
fn is_hash(token: &Token) -> bool {
    let is_hex = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    HASH_CHARS_MIN <= token.written.len() && token.written.chars().all(is_hex)
}
