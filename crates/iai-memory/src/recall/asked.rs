//! What a cue asks a figure of: its words, the units that it means, a day or an hour.

use std::collections::BTreeSet;

use super::cue::Cue;
use super::figures::{
    DATE, NamedFigures, Piece, WEEKDAY, assigned, figure_of, figures_of, is_unit, is_version,
    pieces_of, tells, without_plural_unit,
};
use crate::organise::{has_alike, is_alike, is_stop_word};
use crate::projects::is_of_name;
use crate::remarks::{Wording, is_one_of};

/// What is counted is named in so many words: "how many open reviews".
const COUNTED_WORDS: usize = 2;
/// Of a cue so many words may be what a figure is of.
const THINGS_MAX: usize = 24;
const WORD_LETTERS_MIN: usize = 2;

/// What is asked for: words, and what figures may be of.
pub(super) struct Asked {
    pub(super) words: BTreeSet<String>,
    things: BTreeSet<String>,
    /// Those of them that are units of what is asked for.
    pub(super) meant: BTreeSet<String>,
}

impl Asked {
    /// Returns the words that tell turns of a project apart: who asks for the release of Acme
    /// means what is said of "the release" there.
    pub(super) fn words_in<'a>(
        &'a self,
        project: Option<&'a str>,
    ) -> impl Iterator<Item = &'a String> {
        self.words.iter().filter(move |word| !is_of_name(project, word))
    }

    /// Returns the words that stand beside the figures that a text tells of what is asked for.
    pub(super) fn frames_in(&self, pieces: &[Piece]) -> NamedFigures {
        let mut frames = NamedFigures::new();
        for figure in figures_of(pieces).into_iter().filter(|own| !own.is_former) {
            for thing in self.things.iter().filter(|thing| has_alike(&figure.beside, thing)) {
                let telling = figure.beside.iter().filter(|word| tells(word));
                frames.entry(thing.clone()).or_default().extend(telling.cloned());
            }
        }
        frames
    }

    /// Returns the figures of a text that are of what is asked for: those that it tells, or those
    /// that it tells as what was.
    pub(super) fn figures_in(&self, pieces: &[Piece], is_former: bool) -> NamedFigures {
        let mut figures = NamedFigures::new();
        for figure in figures_of(pieces).into_iter().filter(|own| own.is_former == is_former) {
            for thing in self.things.iter().filter(|thing| has_alike(&figure.beside, thing)) {
                figures.entry(thing.clone()).or_default().insert(figure.digits.clone());
            }
        }
        if is_former {
            return figures;
        }
        let is_asked = |name: &str| {
            name.split('_').any(|part| self.words.iter().any(|word| is_alike(word, part)))
        };
        for (name, figure) in assigned(pieces).into_iter().filter(|(name, _)| is_asked(name)) {
            figures.entry(name).or_default().insert(figure);
        }
        figures
    }
}

/// Returns the words that say what the figures of a text are of that a cue asks for: those beside
/// them, and what else of the cue it has. None where it tells no such figure.
pub(super) fn words_of_figures(cue: &Cue, text: &str) -> BTreeSet<String> {
    let asked = asked_of(cue);
    if !Wording::of(&cue.text).has_any(QUANTITIES) && !asked.things.contains(DATE) {
        return BTreeSet::new();
    }
    let pieces = pieces_of(text);
    let is_asked =
        |beside: &BTreeSet<String>| asked.things.iter().any(|own| has_alike(beside, own));
    let of_figures = figures_of(&pieces).into_iter().map(|own| own.beside).filter(is_asked);
    let mut words: BTreeSet<String> = of_figures.flatten().collect();
    if !words.is_empty() {
        let own = pieces.iter().flat_map(Piece::words);
        words.extend(own.filter(|word| has_alike(&asked.words, word)));
    }
    words.retain(|word| tells(word));
    words
}

pub(super) fn asked_of(cue: &Cue) -> Asked {
    let pieces = pieces_of(&cue.text);
    let words = pieces.iter().flat_map(Piece::words);
    let is_long = |word: &String| WORD_LETTERS_MIN <= word.chars().count() && !is_stop_word(word);
    let words: BTreeSet<String> = words.filter(is_long).take(THINGS_MAX).collect();
    let wording = Wording::of(&cue.text);
    // The first that is asked in so many words: "how much time" is not "how much".
    let meant = MEANT.iter().find(|(forms, _)| wording.has_any(forms));
    let meant = meant.into_iter().flat_map(|(_, units)| units.split('|')).map(str::to_owned);
    let meant: BTreeSet<String> = meant.collect();
    let things = match days_asked(&wording) {
        Some(days) => days.iter().map(|day| (*day).to_owned()).collect(),
        None => {
            let counted = counted(&wording).unwrap_or_else(|| words.clone());
            counted.union(&meant).cloned().collect()
        }
    };
    let is_matter = |word: &String| {
        let is_figure = figure_of(word).is_some() && !is_version(word);
        !is_unit(word) && !is_figure && !is_one_of(word, ASKING)
    };
    let words = words.into_iter().filter(is_matter);
    Asked { words: words.collect(), things, meant }
}

/// Returns what a figure is of that is a day or an hour, where a cue asks for one.
fn days_asked(wording: &Wording) -> Option<&'static [&'static str]> {
    if wording.begins_any(WHEN) {
        return Some(&[DATE, WEEKDAY, "o'clock"]);
    }
    let is_named = wording.has_any(NAMED_DAYS) && !wording.has_any(NO_DAYS);
    is_named.then_some(&[DATE, "o'clock"])
}

/// Returns what is counted where a cue asks how many: no other word of it has a figure.
fn counted(wording: &Wording) -> Option<BTreeSet<String>> {
    let (_, end) = ["how many", "wie viele"].iter().find_map(|form| wording.find(form))?;
    let words = wording.words().skip(end).skip_while(|word| is_stop_word(word));
    let words = words.take_while(|word| !is_stop_word(word)).take(COUNTED_WORDS);
    let words: BTreeSet<String> = words.map(|word| without_plural_unit(word).to_owned()).collect();
    (!words.is_empty()).then_some(words)
}

/// What is in a cue because it asks for a figure, and not because of what it asks about.
const ASKING: &str = "\
     time|number|value|current|currently|present|presently|latest|exact|exactly|today|nowadays|\
     stands|moment|planned|scheduled|supposed|allowed|zeit|uhrzeit|aktuell|aktuelle|derzeit";

/// Who asks for a day or an hour asks for no other figure: how such a cue begins, and what it
/// names.
const WHEN: &str = "\
     when|until when|since when|by when|what date|which date|what day|which day|on which day|\
     on which date|on what date|on what day|for which day|for which date|for what date|\
     wann|bis wann|seit wann";
const NAMED_DAYS: &str = "\
     date|deadline|launch day|release day|day of the launch|day of the release|datum|termin|\
     échéance|fecha";
const NO_DAYS: &str = "\
     date format|date formats|date picker|date library|date column|date field|date range|\
     date parsing|date type|up to date|to date";

/// Who asks for a figure and for nothing else names one of these.
const QUANTITIES: &str = "\
     how many|how much|how long|how often|how frequently|how big|how large|how fast|how far|\
     what time|which time|port|limit|timeout|size|version|interval|rate|number|budget|price|cost|\
     costs|threshold|window|length|retention|ttl|count|maximum|minimum|max|min|distance|radius|\
     percentage|percent|quota|capacity|replicas|retries|attempts|lifetime|wie viele|wie viel|\
     wie lange|wie oft|wie groß|сколько|combien|cuánto|cuántos|cuántas";

/// What is asked for without being named.
const MEANT: &[(&str, &str)] = &[
    ("weekday|which day|what day|welcher tag|welchem tag", WEEKDAY),
    ("how much time|how long|how fast|how soon|wie lange", TIMES),
    (
        "how often|how frequently|how many times|wie oft",
        "attempt|second|minute|hour|day|week|month",
    ),
    ("what time|which time", "o'clock"),
    ("how big|how large|size", "kb|mb|gb"),
    (
        "timeout|time out|times out|idle|inactivity|expire|expires|ttl|retention|keep|kept|\
         cached|lifetime|valid|validity|expiry",
        TIMES,
    ),
    ("how much|price|cost|costs|charge|pay|paid|fee", "euro|dollar|pound|krona|franc"),
];
const TIMES: &str = "second|minute|hour|day|week|month";

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn who_asks_for_a_day_asks_for_no_other_figure() {
        let things = |cue: &str| asked_of(&Cue::understand(cue, Timestamp::UNIX_EPOCH)).things;
        assert!(things("when does the pilot start").contains(DATE));
        assert!(!things("when does the pilot start").contains("pilot"));
        assert!(things("how many retries do we make when it is full").contains("attempt"));
        assert!(!things("how many workers may we run").contains(DATE));
        let workers = BTreeSet::from(["workers".to_owned()]);
        assert_eq!(things("how many of the workers are on staging?"), workers);
    }

    #[test]
    fn what_is_asked_for_has_a_unit_though_none_is_named() {
        let asked = |cue: &str| asked_of(&Cue::understand(cue, Timestamp::UNIX_EPOCH));
        assert!(asked("how long do we wait").things.contains("second"));
        assert!(asked("how many days are parcels held").things.contains("day"));
        assert!(!asked("how many days are parcels held").words.contains("day"));
        assert!(asked("staging port of the shop").words.contains("port"));
    }
}
