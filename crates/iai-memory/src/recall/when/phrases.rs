//! Puts words together to days. Every reader takes the words from one place on, and says how many
//! of them it used.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan as _};

use super::parts::{monday_of, part, week_from};
use super::words::{Unit, Word, count};
use super::{Days, FIRST_DAY};

/// Days, and how many words say so.
pub(super) type Said = (Days, usize);

/// What "a few" may be off, in days, beside what its unit may.
const FEW: i64 = 3;

/// Reads a span at the beginning of the words: from one time to another, since or until one, or
/// the days of one.
pub(super) fn span(words: &[Word], today: Date) -> Option<Said> {
    let lower = lower(words);
    let behind = |n: usize| words.get(n..).unwrap_or_default();
    let both = match lower.as_slice() {
        ["between" | "zwischen" | "entre" | "между", ..] => {
            both(behind(1), &["and", "und", "et", "y", "и"], today)
        }
        ["from" | "von" | "vom" | "du" | "de" | "desde" | "с" | "от", ..] => both(
            behind(1),
            &["to", "until", "till", "through", "bis", "à", "au", "a", "hasta", "до", "по"],
            today,
        ),
        _ => None,
    };
    if let Some((days, n_words)) = both {
        return Some((days, n_words + 1));
    }
    expression(words, today).or_else(|| {
        let (side, n_before) = match lower.as_slice() {
            ["since" | "seit" | "depuis" | "desde" | "с", ..] => (Open::From, 1),
            ["after" | "nach" | "après" | "после", ..] => (Open::After, 1),
            ["después", "de" | "del", ..] => (Open::After, 2),
            ["before" | "until" | "till" | "bis" | "avant" | "hasta" | "до", ..] => {
                (Open::Before, 1)
            }
            ["antes", "de" | "del", ..] => (Open::Before, 2),
            _ => return None,
        };
        let (point, n_words) = sure_point(behind(n_before), today)?;
        let days = match side {
            Open::From => Days::between(point.first, today),
            Open::After => Days::between(point.last.tomorrow().ok()?, today),
            Open::Before => Days::between(FIRST_DAY, point.first.yesterday().ok()?),
        };
        Some((days?, n_before + n_words))
    })
}

/// Where a span with one end lies.
#[derive(Clone, Copy)]
enum Open {
    From,
    After,
    Before,
}

/// Reads a time that a preposition or the asker says is one: bare months, weekdays and years too.
pub(super) fn point(words: &[Word], today: Date) -> Option<Said> {
    expression(words, today).or_else(|| {
        let first = words.first()?;
        if let Some(month) = first.month() {
            return whole_month(month, words.get(1), today);
        }
        if let Some(weekday) = first.weekday() {
            return Some((latest_weekday(weekday, today)?, 1));
        }
        Some((whole_year(first.year()?)?, 1))
    })
}

/// The same, but a word that may be something else is not taken for a month. Behind an article, a
/// bare month names something else: "after the March release".
fn sure_point(words: &[Word], today: Date) -> Option<Said> {
    let is_article = |word: &Word| matches!(word.lower.as_str(), "the" | "dem" | "der" | "den");
    if words.first().is_some_and(is_article) {
        let (days, n_words) = expression(words.get(1..)?, today)?;
        return Some((days, n_words + 1));
    }
    let is_doubtful = words.first().is_some_and(|word| word.month() != word.sure_month());
    if is_doubtful { None } else { point(words, today) }
}

/// Two times with a word between them; the earlier month of the later year is meant.
fn both(words: &[Word], joins: &[&str], today: Date) -> Option<Said> {
    let (first, n_words) = point(words, today)?;
    let join = words.get(n_words)?;
    let behind = words.get(n_words + 1..)?;
    let (last, n_last) = point(behind, today).or_else(|| {
        let (date, _) = date(words, today).filter(|(days, _)| days.first == days.last)?;
        Some((Days::one(later_in_month(date.first, behind)?), 1))
    })?;
    if !joins.contains(&join.lower.as_str()) {
        return None;
    }
    let days = Days::between(first.first, last.last)
        .or_else(|| Days::between(first.first.checked_sub(1.year()).ok()?, last.last))?;
    Some((days, n_words + 1 + n_last))
}

/// The day in "between October 5 and 12". An hour of the clock is none.
fn later_in_month(first: Date, words: &[Word]) -> Option<Date> {
    let day = words.first()?.day_of_month().filter(|day| first.day() < *day)?;
    let is_hour = |word: &Word| matches!(word.lower.as_str(), "am" | "pm" | "uhr" | "o" | "h");
    let day = Date::new(first.year(), first.month(), day).ok()?;
    (!words.get(1).is_some_and(is_hour)).then_some(day)
}

/// Reads a time that needs nobody to say that it is one.
fn expression(words: &[Word], today: Date) -> Option<Said> {
    numeric(words)
        .or_else(|| part(words, today))
        .or_else(|| ago(words, today))
        .or_else(|| relative(words, today))
        .or_else(|| part_of_year(words, today))
        .or_else(|| month_and_day(words, today))
}

/// Reads a date: day, month and year, or a month with one of them.
pub(super) fn date(words: &[Word], today: Date) -> Option<Said> {
    numeric(words).or_else(|| month_and_day(words, today))
}

/// `2025-03-14`, `2025-03`, `2025/03/14`, `14.03.2025`, the date of `2025-03-14T10:00`.
fn numeric(words: &[Word]) -> Option<Said> {
    let word = words.first()?.lower.split('t').next()?;
    let parts: Vec<&str> = word.split(['-', '/', '.']).collect();
    let date = |year: &str, month: &str, day: &str| {
        let year = year.parse().ok().filter(|_| year.len() == 4)?;
        Date::new(year, month.parse().ok()?, day.parse().ok()?).ok()
    };
    let days = match parts.as_slice() {
        [year, month, day] if year.len() == 4 => Days::one(date(year, month, day)?),
        [day, month, year] if word.contains('.') => Days::one(date(year, month, day)?),
        [year, month] if word.contains('-') && month.len() == 2 => {
            let first = date(year, month, "1")?;
            Days::between(first, first.last_of_month())?
        }
        _ => return None,
    };
    Some((days, 1))
}

/// "3 days ago", "a couple of weeks ago", "vor zwei Wochen", "il y a un mois", "неделю назад".
fn ago(words: &[Word], today: Date) -> Option<Said> {
    let back = |counted: &str, unit: &str, extra: i64, n_words: usize| {
        let (span, slack) = Unit::of(unit)?.back_by(count(counted)?);
        let day = today.checked_sub(span).ok()?;
        Some((Days::around(day, slack + extra * (slack + 1) / 2)?, n_words))
    };
    match lower(words).as_slice() {
        [n, unit, "ago" | "back" | "earlier", ..] if *n == "few" || *n == "several" => {
            back("3", unit, FEW, 3)
        }
        ["couple", "of", unit, "ago", ..] => back("2", unit, 1, 4),
        ["couple", unit, "ago", ..] => back("2", unit, 1, 3),
        [n, unit, "ago" | "назад", ..] | ["vor" | "hace", n, unit, ..] => back(n, unit, 0, 3),
        ["il", "y", "a", n, unit, ..] => back(n, unit, 0, 5),
        [unit, "назад", ..] => back("1", unit, 0, 2),
        ["last" | "past", "few" | "several", unit, ..] => {
            Some((since(today, Unit::of(unit)?.back_by(FEW + 1).0)?, 3))
        }
        ["last" | "past", "couple", "of", unit, ..] => {
            Some((since(today, Unit::of(unit)?.back_by(2).0)?, 4))
        }
        ["last" | "past" | "letzten" | "últimos" | "последние", n, unit, ..] => {
            let (span, _) = Unit::of(unit)?.back_by(count(n).filter(|_| Unit::of(n).is_none())?);
            Some((since(today, span)?, 3))
        }
        _ => None,
    }
}

/// "today", "yesterday", "last week", "this month", "last Friday", "letzte Woche", "hier".
fn relative(words: &[Word], today: Date) -> Option<Said> {
    let lower = lower(words);
    let one = |day: Option<Date>, n_words: usize| Some((Days::one(day?), n_words));
    match lower.as_slice() {
        ["today" | "tonight" | "heute" | "hoy" | "сегодня", ..] => one(Some(today), 1),
        ["aujourd", "hui", ..]
        | ["this", "morning" | "afternoon" | "evening", ..]
        | ["ce", "matin" | "soir", ..]
        | ["esta", "mañana" | "tarde", ..] => one(Some(today), 2),
        ["last", "night", ..] => Some((Days::between(today.yesterday().ok()?, today)?, 2)),
        ["yesterday" | "gestern" | "hier" | "ayer" | "вчера", ..] => {
            one(today.yesterday().ok(), 1)
        }
        ["vorgestern" | "anteayer" | "позавчера", ..] => {
            one(today.checked_sub(2.days()).ok(), 1)
        }
        ["day", "before", "yesterday", ..] => one(today.checked_sub(2.days()).ok(), 3),
        ["avant", "hier", ..] => one(today.checked_sub(2.days()).ok(), 2),
        ["last", "weekend", ..] => {
            // On a Sunday it is not the one that still goes on.
            let sunday = today.nth_weekday(-1, Weekday::Sunday).ok()?;
            Some((Days::between(sunday.yesterday().ok()?, sunday)?, 2))
        }
        ["week", "before", "last", ..] => Some((weeks_back(2, today)?, 3)),
        ["vorletzte" | "vorletzten", "woche", ..] => Some((weeks_back(2, today)?, 2)),
        [which, unit, ..] => {
            let (which, named) = match is_last(which).or_else(|| is_this(which)) {
                Some(which) => (which, unit),
                // French and Spanish put it behind.
                None => (is_last(unit).filter(|_| !is_english(unit))?, which),
            };
            let place = usize::from(*named == *unit);
            named_unit(which, words.get(place)?, today).map(|days| (days, 2))
        }
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Last,
    /// This one, as far as it has come.
    This,
    /// So much time until today: "the past week".
    Past,
    /// The one that was last, by name: "on Monday".
    On,
}

fn is_last(word: &str) -> Option<Which> {
    let is_last = matches!(
        word,
        "last"
            | "letzte"
            | "letzten"
            | "letzter"
            | "letztes"
            | "vergangene"
            | "vergangenen"
            | "vorige"
            | "vorigen"
            | "dernier"
            | "dernière"
            | "pasado"
            | "pasada"
            | "прошлой"
            | "прошлую"
            | "прошлом"
            | "прошлый"
            | "прошлое"
    );
    is_last.then_some(Which::Last)
}

fn is_this(word: &str) -> Option<Which> {
    match word {
        "past" => Some(Which::Past),
        "this" | "diese" | "dieser" | "diesen" | "dieses" | "cette" | "ce" | "esta" | "este"
        | "этой" | "этом" | "эту" => Some(Which::This),
        "on" | "am" | "в" | "во" => Some(Which::On),
        _ => None,
    }
}

fn is_english(word: &str) -> bool {
    word == "last"
}

fn named_unit(which: Which, named: &Word, today: Date) -> Option<Days> {
    if let Some(weekday) = named.weekday() {
        return latest_weekday(weekday, today);
    }
    if let Some(month) = named.sure_month().filter(|_| which == Which::Last) {
        return whole_month(month, None, today.first_of_month().yesterday().ok()?)
            .map(|(days, _)| days);
    }
    let unit = Unit::of(&named.lower).filter(|_| which != Which::On)?;
    match (which, unit) {
        (_, Unit::Day) | (Which::On, _) => None,
        (_, Unit::Fortnight) => since(today, 14.days()),
        (Which::Past, unit) => since(today, unit.back_by(1).0),
        // A week is one of the calendar, from Monday on, as a month and a year are.
        (Which::Last, Unit::Week) => weeks_back(1, today),
        (Which::This, Unit::Week) => Days::between(monday_of(today)?, today),
        (Which::Last, Unit::Month) => {
            let first = today.first_of_month().checked_sub(1.month()).ok()?;
            Days::between(first, first.last_of_month())
        }
        (Which::This, Unit::Month) => Days::between(today.first_of_month(), today),
        (Which::Last, Unit::Quarter) => quarter_of(today).first.yesterday().ok().map(quarter_of),
        (Which::This, Unit::Quarter) => Days::between(quarter_of(today).first, today),
        (Which::Last, Unit::Year) => whole_year(today.year() - 1),
        (Which::This, Unit::Year) => Days::between(today.first_of_year(), today),
    }
}

/// The week of the calendar so many before this one.
fn weeks_back(n_weeks: i64, today: Date) -> Option<Days> {
    week_from(monday_of(today)?.checked_sub(n_weeks.weeks()).ok()?)
}

/// "Q2 2026", "in Q2", "the first half of 2026", "H1 2026".
fn part_of_year(words: &[Word], today: Date) -> Option<Said> {
    let lower = lower(words);
    let part = |word: &str, letter: char| {
        word.strip_prefix(letter)?.parse::<i8>().ok().filter(|_| word.len() == 2)
    };
    let ordinal = |word: &str| match word {
        "first" | "1st" => Some(1),
        "second" | "2nd" => Some(2),
        "third" | "3rd" => Some(3),
        "fourth" | "4th" | "last" => Some(4),
        _ => None,
    };
    let year_at = |place: usize| words.get(place).and_then(Word::year);
    match lower.as_slice() {
        [word, ..] if part(word, 'q').is_some_and(|n| (1..=4).contains(&n)) => {
            // A small letter may be a question's number.
            let year = year_at(1);
            let is_sure = year.is_some() || words.first()?.is_capital;
            let days = part_days(part(word, 'q')?, 3, year, today)?;
            is_sure.then_some((days, 1 + usize::from(year.is_some())))
        }
        // "H1" alone is a heading.
        [word, _, ..] if part(word, 'h').is_some_and(|n| (1..=2).contains(&n)) => {
            Some((part_days(part(word, 'h')?, 6, Some(year_at(1)?), today)?, 2))
        }
        [nth, "quarter", "of", ..] => {
            Some((part_days(ordinal(nth)?, 3, Some(year_at(3)?), today)?, 4))
        }
        [nth, "half", "of", ..] => {
            let nth = ordinal(nth).filter(|nth| *nth < 3)?;
            Some((part_days(nth, 6, Some(year_at(3)?), today)?, 4))
        }
        _ => None,
    }
}

fn part_days(nth: i8, n_months: i8, year: Option<i16>, today: Date) -> Option<Days> {
    let of = |year: i16| {
        let first = Date::new(year, (nth - 1) * n_months + 1, 1).ok()?;
        let last = first.checked_add(Span::new().months(n_months - 1)).ok()?.last_of_month();
        Days::between(first, last)
    };
    match year {
        Some(year) => of(year),
        None => {
            of(today.year()).filter(|days| days.first <= today).or_else(|| of(today.year() - 1))
        }
    }
}

fn quarter_of(day: Date) -> Days {
    let nth = (day.month() - 1) / 3 + 1;
    part_days(nth, 3, Some(day.year()), day).unwrap_or(Days::one(day))
}

/// "March 14, 2025", "14 March", "the 14th of March", "14 de mayo", "in March 2025", "im Mai",
/// "in 2024".
fn month_and_day(words: &[Word], today: Date) -> Option<Said> {
    let dated = |month: i8, day: i8, n_words: usize| {
        let year = words.get(n_words).and_then(Word::year);
        let day = latest(month, day, year, today)?;
        Some((Days::one(day), n_words + usize::from(year.is_some())))
    };
    match words {
        [day, of, name, ..]
            if day.day_of_month().is_some() && of.lower == "de" && name.month().is_some() =>
        {
            dated(name.month()?, day.day_of_month()?, 3)
        }
        [day, of, name, ..] if day.is_ordinal() && of.lower == "of" && name.month().is_some() => {
            dated(name.month()?, day.day_of_month()?, 3)
        }
        [day, of, name, ..] if of.lower == "of" && name.month().is_some() => {
            dated(name.month()?, day.spelled_day()?, 3)
        }
        [day, name, ..] if day.day_of_month().is_some() && name.month_beside_number().is_some() => {
            dated(name.month_beside_number()?, day.day_of_month()?, 2)
        }
        [name, day, ..] if day.day_of_month().is_some() && name.month_beside_number().is_some() => {
            dated(name.month_beside_number()?, day.day_of_month()?, 2)
        }
        [name, year, ..] if year.year().is_some() && name.month_beside_number().is_some() => {
            whole_month(name.month_beside_number()?, Some(year), today)
        }
        [before, name, ..] => {
            let month = match before.lower.as_str() {
                "in" | "im" | "en" | "в" => name.month(),
                "during" | "of" => name.sure_month(),
                _ => None,
            };
            let is_in = matches!(before.lower.as_str(), "in" | "during" | "en" | "в");
            match (month, name.year().filter(|_| is_in)) {
                (Some(month), _) => {
                    whole_month(month, words.get(2), today).map(|(days, n)| (days, n + 1))
                }
                (None, Some(year)) => Some((whole_year(year)?, 2)),
                (None, None) => None,
            }
        }
        _ => None,
    }
}

/// The month in the year that follows it, or else the latest one that has begun.
pub(super) fn whole_month(month: i8, next: Option<&Word>, today: Date) -> Option<Said> {
    let year = next.and_then(Word::year);
    let first = latest(month, 1, year, today)?;
    let days = Days::between(first, first.last_of_month())?;
    Some((days, 1 + usize::from(year.is_some())))
}

/// The day in its year, or else its latest past occurrence.
fn latest(month: i8, day: i8, year: Option<i16>, today: Date) -> Option<Date> {
    if let Some(year) = year {
        return Date::new(year, month, day).ok();
    }
    let this_year = Date::new(today.year(), month, day).ok()?;
    if this_year <= today { Some(this_year) } else { this_year.checked_sub(1.year()).ok() }
}

fn latest_weekday(weekday: i8, today: Date) -> Option<Days> {
    let weekday = Weekday::from_monday_one_offset(weekday).ok()?;
    today.nth_weekday(-1, weekday).ok().map(Days::one)
}

fn since(today: Date, span: Span) -> Option<Days> {
    Days::between(today.checked_sub(span).ok()?, today)
}

fn whole_year(year: i16) -> Option<Days> {
    Days::between(Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?)
}

pub(super) fn lower(words: &[Word]) -> Vec<&str> {
    words.iter().take(LOOK_AHEAD).map(|word| word.lower.as_str()).collect()
}

/// The words of the longest phrase.
const LOOK_AHEAD: usize = 6;
