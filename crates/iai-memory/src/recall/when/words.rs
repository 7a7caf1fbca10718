//! The words that dates are made of, in a few languages.

use jiff::{Span, ToSpan as _};

use crate::attributes::{month_of, number_of, weekday_of};

/// A word of a cue, in lower case.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) lower: String,
    /// It began with a capital letter.
    pub(super) is_capital: bool,
    /// A comma or the end of a sentence stands before it.
    pub(super) ends_clause_before: bool,
}

/// Words a cue is cut into at most; a date stands near its beginning or nowhere.
const WORDS_MAX: usize = 400;

/// Cuts text into words; digits keep what joins them: `2026-05-01`, `14.03.2025`.
pub(super) fn cut(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut letters = text.chars().peekable();
    let (mut word, mut ends_clause) = (String::new(), false);
    while let Some(letter) = letters.next() {
        let after_digit = word.ends_with(|last: char| last.is_ascii_digit());
        let before_digit = letters.peek().is_some_and(char::is_ascii_digit);
        if letter.is_alphanumeric() || "-./".contains(letter) && after_digit && before_digit {
            word.push(letter);
            continue;
        }
        push(&mut words, &mut word, &mut ends_clause);
        ends_clause |= ",;.!?".contains(letter);
        if words.len() == WORDS_MAX {
            break;
        }
    }
    push(&mut words, &mut word, &mut ends_clause);
    // In German, "hier" is here.
    let is_french = words.iter().any(|word| is_french(&word.lower));
    words.retain(|word| is_french || word.lower != "hier");
    words
}

fn is_french(word: &str) -> bool {
    matches!(
        word,
        "le" | "la"
            | "les"
            | "du"
            | "nous"
            | "avons"
            | "est"
            | "que"
            | "qu"
            | "ce"
            | "soir"
            | "matin"
            | "avant"
            | "j"
            | "ai"
            | "c"
            | "était"
    )
}

fn push(words: &mut Vec<Word>, word: &mut String, ends_clause: &mut bool) {
    if word.is_empty() {
        return;
    }
    words.push(Word {
        lower: word.to_lowercase(),
        is_capital: word.starts_with(char::is_uppercase),
        ends_clause_before: std::mem::take(ends_clause),
    });
    word.clear();
}

/// Words that are a month only where nothing else fits.
const AMBIGUOUS: [&str; 4] = ["may", "march", "mars", "mar"];
const SHORT_MONTHS: [&str; 13] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "sept"];

impl Word {
    /// The month it names in full, counted from 1.
    pub(super) fn month(&self) -> Option<i8> {
        month_of(&self.lower)
    }

    /// The month it names in full and for sure.
    pub(super) fn sure_month(&self) -> Option<i8> {
        let is_sure = self.is_capital || !AMBIGUOUS.contains(&self.lower.as_str());
        self.month().filter(|_| is_sure)
    }

    /// The month it names or abbreviates, where a number stands beside it.
    pub(super) fn month_beside_number(&self) -> Option<i8> {
        let short = || SHORT_MONTHS.iter().position(|name| *name == self.lower);
        self.sure_month().or_else(|| {
            let place = short().filter(|_| self.is_capital || self.lower != "may")?;
            i8::try_from(if place == 12 { 9 } else { place + 1 }).ok()
        })
    }

    /// The weekday it names, Monday being 1.
    pub(super) fn weekday(&self) -> Option<i8> {
        weekday_of(&self.lower)
    }

    /// The day of a month: `14`, `14th`.
    pub(super) fn day_of_month(&self) -> Option<i8> {
        let digits = self.lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let ending = self.lower.get(digits.len()..);
        let is_ordinal = matches!(ending, Some("" | "st" | "nd" | "rd" | "th" | "er"));
        digits.parse().ok().filter(|day| is_ordinal && (1..=31).contains(day))
    }

    /// A day that is written out: "the first of September".
    pub(super) fn spelled_day(&self) -> Option<i8> {
        let place = SPELLED_DAYS.split_whitespace().position(|day| day == self.lower)?;
        i8::try_from(place + 1).ok()
    }

    /// A day with an ending that says it is one: `14th`, not `14`.
    pub(super) fn is_ordinal(&self) -> bool {
        self.day_of_month().is_some() && !self.lower.ends_with(|last: char| last.is_ascii_digit())
    }

    pub(super) fn year(&self) -> Option<i16> {
        let year = self.lower.parse().ok().filter(|_| self.lower.len() == 4)?;
        (1970..=2100).contains(&year).then_some(year)
    }
}

/// Days of a month as words, from the first on; nobody writes later ones out.
const SPELLED_DAYS: &str = "\
     first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth \
     fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth";

/// "A hundred years ago" is no date anybody stored a turn on.
const COUNT_MAX: i64 = 400;

/// Returns the count a word stands for.
pub(super) fn count(word: &str) -> Option<i64> {
    let spelled = match word {
        "a" | "an" | "ein" | "eine" | "einem" | "einer" | "einen" | "un" | "une" | "una"
        | "одну" => Some(1),
        _ => number_of(word).and_then(|number| i64::try_from(number).ok()),
    };
    let count = spelled.or_else(|| word.parse().ok())?;
    (0..=COUNT_MAX).contains(&count).then_some(count)
}

/// What time is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Fortnight,
    Month,
    Quarter,
    Year,
}

impl Unit {
    pub(super) fn of(word: &str) -> Option<Self> {
        let unit = match word {
            "day" | "days" | "tag" | "tage" | "tagen" | "jour" | "jours" | "día" | "días"
            | "dia" | "dias" | "день" | "дня" | "дней" => Self::Day,
            "week" | "weeks" | "woche" | "wochen" | "semaine" | "semaines" | "semana"
            | "semanas" | "неделя" | "неделю" | "недели" | "недель" | "неделе" => {
                Self::Week
            }
            "fortnight" | "fortnights" => Self::Fortnight,
            "month" | "months" | "monat" | "monate" | "monaten" | "mois" | "mes" | "meses"
            | "месяц" | "месяца" | "месяцев" | "месяце" => Self::Month,
            "quarter" | "quarters" | "quartal" | "trimestre" | "квартал" | "квартале" => {
                Self::Quarter
            }
            "year" | "years" | "jahr" | "jahre" | "jahren" | "an" | "ans" | "année" | "années"
            | "año" | "años" | "год" | "года" | "лет" | "году" => Self::Year,
            _ => return None,
        };
        Some(unit)
    }

    /// So many of it, and how many days a count of it may be off.
    pub(super) fn back_by(self, count: i64) -> (Span, i64) {
        match self {
            Self::Day => (count.days(), 0),
            Self::Week => (count.weeks(), 3),
            Self::Fortnight => ((2 * count).weeks(), 3),
            Self::Month => (count.months(), 10),
            Self::Quarter => ((3 * count).months(), 20),
            Self::Year => (count.years(), 45),
        }
    }
}

/// Tells whether a word carries no meaning of its own in a phrase such as "before the release".
pub(super) fn is_small(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "our"
            | "my"
            | "your"
            | "we"
            | "i"
            | "you"
            | "it"
            | "that"
            | "this"
            | "did"
            | "do"
            | "does"
            | "was"
            | "were"
            | "is"
            | "had"
            | "have"
            | "to"
            | "of"
            | "s"
            | "der"
            | "die"
            | "das"
            | "dem"
            | "den"
            | "wir"
            | "ich"
            | "unserer"
            | "unserem"
            | "le"
            | "la"
            | "les"
            | "l"
            | "de"
            | "du"
            | "nous"
            | "notre"
            | "que"
            | "el"
            | "los"
            | "las"
            | "del"
            | "nuestro"
            | "nuestra"
            | "того"
            | "как"
            | "мы"
            | "я"
    )
}

/// Words that only ask, or join what is asked: they need not be in the answer.
const ASKING: &str = "\
     what which who whose when where why how many much often long are be about in on at for and \
     up out off down \
     welche welcher welches wer wann wo warum wie viele oft lange quel quelle qui quand où \
     pourquoi comment combien qué cuál quién cuándo dónde cómo cuántos cuántas что какой какая \
     кто когда где почему сколько";

/// Tells whether a word only asks, or only joins what is asked.
pub(super) fn is_asking(word: &str) -> bool {
    ASKING.split_whitespace().any(|asking| asking == word)
}

/// Words that say of a time only that it is asked what was then.
const HAPPENING: &str = "\
     happen happened happening done doing say said talk talked discuss discussed work worked \
     working went going anything everything something all any things stuff else progress been get \
     got decisions changes tell me show remember recall please summarize summarise recap there \
     during over within from us so far mainly mostly \
     passiert passierte geschehen geschah gemacht getan gesagt besprochen gearbeitet geändert \
     entschieden beschlossen gebaut behoben erledigt geschafft gab haben hatten habe hat war waren \
     wurde es los alles was woran worüber am im an vom von und zeig mir uns \
     passé fait dit décidé changé modifié corrigé s est a avons qu c ce cette au en quoi \
     pasó hicimos hice dijimos decidimos cambiamos pasado ha hemos se lo \
     было случилось делали сделали говорили решили изменили произошло в";

/// What people do at any time; behind who does it: "did we change". "The change" is a thing.
const DOING: &str = "\
     change decide agree fix build ship finish add make write start try learn complete achieve \
     accomplish implement refactor merge deploy release update improve remove delete rename touch \
     handle tackle solve resolve settle choose pick review test debug investigate explore clean \
     commit push publish cover discover find notice";
/// The same of what was done: "what was decided". "The fixed port" is a thing.
const DONE: &str = "\
     changed decided agreed fixed built shipped finished added made wrote written started tried \
     learned learnt completed achieved accomplished implemented refactored merged deployed \
     released updated improved removed deleted renamed touched handled tackled solved resolved \
     settled chose chosen picked reviewed tested debugged investigated explored cleaned committed \
     pushed published covered discovered found noticed";

/// Tells whether words only ask what was at some time, and not what about. What is to be done is
/// something else.
pub(super) fn only_ask(words: &[&str]) -> bool {
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|own| own == word);
    let mut before = "";
    words.iter().all(|word| {
        let last = std::mem::replace(&mut before, word);
        let is_to_be = last == "to" && matches!(*word, "do" | "be" | "have");
        let is_doer = matches!(last, "we" | "i" | "you" | "they");
        let is_thing = matches!(last, "the" | "a" | "an" | "our" | "my" | "your" | "this" | "that");
        let is_general = is_small(word) || is_asking(word) || is_in(HAPPENING, word);
        !is_to_be && (is_general || is_doer && is_in(DOING, word) || !is_thing && is_in(DONE, word))
    })
}

/// Tells whether a word asks what is or will be.
pub(super) fn is_of_now(word: &str) -> bool {
    matches!(word, "do" | "does" | "is" | "are" | "be")
}
