//! Parts of a month or a year, weeks, and seasons: "first week of August", "Ende Oktober", "KW 41",
//! "over the summer".
//!
//! Without a year the latest one is meant that has begun. Words that are mostly something else
//! ("spring", "fall", "may") need more around them than others.

use jiff::ToSpan as _;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use super::Days;
use super::phrases::{Said, date, lower, whole_month};
use super::words::{Unit, Word, is_small};

/// Reads a part of something longer at the beginning of the words.
pub(super) fn part(words: &[Word], today: Date) -> Option<Said> {
    third(words, today)
        .or_else(|| nth_part(words, today))
        .or_else(|| week(words, today))
        .or_else(|| season(words, today))
}

/// Which third of a month or year a word names. Such a word is not exact: thirds overlap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Third {
    Early,
    Mid,
    Late,
}

/// Returns the third a word names, and whether it does so only with an "of" behind it: "the end
/// August came to" is none.
fn third_of(word: &str) -> Option<(Third, bool)> {
    let third = match word {
        "early" | "anfang" | "début" | "начале" => (Third::Early, false),
        "mid" | "mitte" | "mi" | "середине" => (Third::Mid, false),
        "late" | "ende" | "fin" | "конце" => (Third::Late, false),
        "beginning" | "start" | "principios" | "comienzos" => (Third::Early, true),
        "middle" | "mediados" => (Third::Mid, true),
        "end" | "finales" | "fines" => (Third::Late, true),
        _ => return None,
    };
    Some(third)
}

/// "early October", "the end of August", "Anfang Mai", "à la mi-juin", "late 2025".
fn third(words: &[Word], today: Date) -> Option<Said> {
    let (third, needs_joint) = third_of(&words.first()?.lower)?;
    let lower = lower(words);
    // "Early in October"; what ends in October is something else.
    let from = if matches!(lower.as_slice(), ["early" | "late", "in", ..]) { 2 } else { 1 };
    let place = after_joint(words, from);
    if needs_joint && place == 1 {
        return None;
    }
    if let Some(month) = month_at(words, from, today) {
        let part = |first: Date| {
            let (from, to) = match third {
                Third::Early => (1, 12),
                Third::Mid => (10, 21),
                Third::Late => (20, first.days_in_month()),
            };
            Days::between(on_day(first, from)?, on_day(first, to)?)
        };
        return month.begun(today, part);
    }
    let year = words.get(place)?.year().filter(|year| *year <= today.year())?;
    let (from, to) = match third {
        Third::Early => (1, 4),
        Third::Mid => (5, 8),
        Third::Late => (9, 12),
    };
    let last = Date::new(year, to, 1).ok()?.last_of_month();
    Some((Days::between(Date::new(year, from, 1).ok()?, last)?, place + 1))
}

/// Which of several, counted from 1; `None` inside is the last.
fn nth(word: &str) -> Option<Option<i8>> {
    let nth = match word {
        "first" | "1st" | "erste" | "ersten" | "première" | "primera" | "первая" | "первой"
        | "первую" => Some(1),
        "second" | "2nd" | "zweite" | "zweiten" | "deuxième" | "seconde" | "segunda" | "вторая"
        | "второй" | "вторую" => Some(2),
        "third" | "3rd" | "dritte" | "dritten" | "troisième" | "tercera" | "третья" | "третьей" => {
            Some(3)
        }
        "fourth" | "4th" | "vierte" | "vierten" | "quatrième" | "cuarta" | "четвертой" => {
            Some(4)
        }
        "last" | "letzte" | "letzten" | "dernière" | "última" | "последней" => None,
        _ => return None,
    };
    Some(nth)
}

/// "first week of August", "zweite Hälfte des September".
fn nth_part(words: &[Word], today: Date) -> Option<Said> {
    let nth = nth(&words.first()?.lower)?;
    let unit = words.get(1)?.lower.as_str();
    let is_half = matches!(unit, "half" | "hälfte" | "moitié" | "mitad" | "половине");
    let is_week = Unit::of(unit) == Some(Unit::Week);
    // "Last week August said" is no week of August.
    let is_joined = 2 < after_joint(words, 2) || unit == "hälfte";
    let month = month_at(words, 2, today).filter(|_| (is_half || is_week) && is_joined)?;
    let part = |first: Date| {
        let n_days = first.days_in_month();
        let (from, to) = match nth {
            Some(1) if is_half => (1, 15),
            Some(2) if is_half => (16, n_days),
            _ if is_half => return None,
            Some(nth) => (nth * 7 - 6, nth * 7),
            None => (n_days - 6, n_days),
        };
        Days::between(on_day(first, from)?, on_day(first, to)?)
    };
    month.begun(today, part)
}

/// "the week of October 5", "Woche vom 5. Oktober", "week 41", "KW 41 2025".
fn week(words: &[Word], today: Date) -> Option<Said> {
    let first = words.first()?;
    if let Some(number) = first.lower.strip_prefix("kw").and_then(|number| number.parse().ok()) {
        return numbered_week(number, words, 1, today);
    }
    let is_numbered = matches!(first.lower.as_str(), "kw" | "kalenderwoche");
    let is_week = Unit::of(&first.lower) == Some(Unit::Week);
    if !is_numbered && !is_week {
        return None;
    }
    let second = words.get(1)?;
    if let Ok(number) = second.lower.parse() {
        return numbered_week(number, words, 2, today);
    }
    let is_of = matches!(second.lower.as_str(), "of" | "vom" | "von" | "du" | "del");
    let place = 2 + usize::from(words.get(2).is_some_and(|word| is_article(&word.lower)));
    let (days, n_words) = date(words.get(place..)?, today).filter(|_| is_week && is_of)?;
    let monday = monday_of(days.first).filter(|_| days.first == days.last)?;
    Some((week_from(monday)?, place + n_words))
}

fn numbered_week(number: i8, words: &[Word], n_words: usize, today: Date) -> Option<Said> {
    let of_year =
        |year: i16| week_from(ISOWeekDate::new(year, number, Weekday::Monday).ok()?.date());
    // The third week of something else than a year has no place in the calendar.
    let is_of = words.get(n_words).is_some_and(|word| matches!(word.lower.as_str(), "of" | "von"));
    let place = n_words + usize::from(is_of);
    match words.get(place).and_then(Word::year) {
        Some(year) => Some((of_year(year)?, place + 1)),
        None if is_of => None,
        None => {
            let this_year = of_year(today.year()).filter(|days| days.first <= today);
            Some((this_year.or_else(|| of_year(today.year() - 1))?, n_words))
        }
    }
}

pub(super) fn monday_of(day: Date) -> Option<Date> {
    day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days()).ok()
}

pub(super) fn week_from(monday: Date) -> Option<Days> {
    Days::between(monday, monday.checked_add(6.days()).ok()?)
}

/// A season, by its first month, and how much a cue must say for it to be one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Season {
    month: i8,
    /// Its name is mostly something else: a framework, a verb.
    is_doubtful: bool,
    /// Its form alone says when: "летом".
    is_when: bool,
}

fn season_of(word: &str) -> Option<Season> {
    let (month, is_doubtful, is_when) = match word {
        "spring" => (3, true, false),
        "fall" => (9, true, false),
        "frühling" | "frühjahr" | "printemps" | "primavera" => (3, false, false),
        "summer" | "sommer" | "été" | "verano" => (6, false, false),
        "autumn" | "herbst" | "automne" | "otoño" => (9, false, false),
        "winter" | "hiver" | "invierno" => (12, false, false),
        "весной" => (3, false, true),
        "летом" => (6, false, true),
        "осенью" => (9, false, true),
        "зимой" => (12, false, true),
        _ => return None,
    };
    Some(Season { month, is_doubtful, is_when })
}

/// "over the summer", "last winter", "im Herbst", "cet été", "летом".
fn season(words: &[Word], today: Date) -> Option<Said> {
    let lower = lower(words);
    let (place, is_last) = match lower.as_slice() {
        ["over" | "during" | "in", "the" | "this", ..] | ["über", "den", ..] => (2, false),
        ["over" | "during" | "in", "last", ..] | ["im", "letzten" | "vergangenen", ..] => (2, true),
        ["last" | "letzten" | "vergangenen" | "прошлым" | "прошлой", ..] => (1, true),
        ["this" | "im" | "diesen" | "cet" | "ce" | "en" | "au" | "este" | "esta" | "этим", ..] => {
            (1, false)
        }
        // "In summer" is one; "in Spring" is a framework.
        ["in", name, ..] if season_of(name).is_some_and(|season| !season.is_doubtful) => (1, false),
        [name, ..] if season_of(name).is_some_and(|season| season.is_when) => (0, false),
        [_, _, "dernier" | "pasado" | "pasada", ..] => (1, true),
        _ => return None,
    };
    let season = season_of(lower.get(place)?)?;
    let next = words.get(place + 1);
    if season.is_doubtful && (lower.first() == Some(&"this") || !stands_alone(next)) {
        return None;
    }
    let of_year = |year: i16| {
        let first = Date::new(year, season.month, 1).ok()?;
        Days::between(first, first.checked_add(2.months()).ok()?.last_of_month())
    };
    if let Some(year) = next.and_then(Word::year) {
        return Some((of_year(year)?, place + 2));
    }
    let is_over = |days: &Days| days.first <= today && !(is_last && today <= days.last);
    // In January the winter of the year before last is the last that is over.
    let years = [today.year(), today.year() - 1, today.year() - 2];
    let days = years.into_iter().filter_map(of_year).find(is_over)?;
    Some((days, place + 1))
}

/// What follows does not go on with the name: "in the spring boot app" does.
fn stands_alone(next: Option<&Word>) -> bool {
    let Some(next) = next else { return true };
    next.ends_clause_before || next.year().is_some() || is_small(&next.lower) && next.lower != "of"
}

/// A month, how many words lead to its end, and whether they say the year.
struct Month {
    first: Date,
    n_words: usize,
    has_year: bool,
}

impl Month {
    /// A part of it; of the same month a year before, should it not have begun.
    fn begun(&self, today: Date, part: impl Fn(Date) -> Option<Days>) -> Option<Said> {
        let mut days = part(self.first)?;
        if !self.has_year && today < days.first {
            days = part(self.first.checked_sub(1.year()).ok()?)?;
        }
        Some((days, self.n_words))
    }
}

/// The month at a place, behind an "of" or at once, in its year or in the latest one.
fn month_at(words: &[Word], place: usize, today: Date) -> Option<Month> {
    let joined = after_joint(words, place);
    let name = words.get(joined)?;
    // "The end of may" can only be the month; "late may" can be anything.
    let month = if place < joined { name.month() } else { None };
    let short = name.month_beside_number().filter(|_| name.is_capital);
    let month = month.or_else(|| name.sure_month()).or(short)?;
    let (days, n_words) = whole_month(month, words.get(joined + 1), today)?;
    Some(Month { first: days.first, n_words: joined + n_words, has_year: 1 < n_words })
}

fn after_joint(words: &[Word], place: usize) -> usize {
    let is_joint = words.get(place).is_some_and(|word| {
        matches!(word.lower.as_str(), "of" | "de" | "d" | "del" | "des" | "im" | "vom" | "von")
    });
    place + usize::from(is_joint)
}

fn on_day(first: Date, day: i8) -> Option<Date> {
    Date::new(first.year(), first.month(), day).ok()
}

fn is_article(word: &str) -> bool {
    matches!(word, "the" | "dem" | "den" | "der" | "le" | "el")
}
