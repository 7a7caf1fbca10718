//! What was promised, by the one word that no other turn has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::dice::Dice;
use crate::figures;

/// What has to become of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// Asked for when somebody died: there or not, but the same everywhere.
    InDoubt,
    /// Acknowledged: once in every home.
    Kept,
    /// Somebody asked to forget it and died.
    MayBeGone,
    /// In no home.
    Gone,
}

/// A turn, or a correction.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) session: String,
    pub(super) fate: Fate,
}

#[derive(Default)]
struct Book {
    turns: BTreeMap<String, Turn>,
    /// Words of other things, which must not be found at the remote either.
    other_words: Vec<String>,
    transcripts: Vec<(String, PathBuf)>,
    /// By deed: how often it succeeded, and how often it did not.
    counts: BTreeMap<&'static str, (u64, u64)>,
    notes: BTreeMap<&'static str, String>,
    longest: BTreeMap<&'static str, Duration>,
}

/// Kept by everybody together.
#[derive(Default)]
pub(super) struct Ledger {
    book: Mutex<Book>,
    /// Whoever makes a copy of a store or takes one holds this.
    pub(super) copies: Mutex<()>,
}

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes down what became of a turn. A worse fate is never taken back.
    pub(super) fn note(&self, canary: &str, session: &str, fate: Fate) {
        let mut book = self.book();
        let turn = book
            .turns
            .entry(canary.to_owned())
            .or_insert_with(|| Turn { session: session.to_owned(), fate });
        turn.fate = turn.fate.max(fate);
    }

    /// Writes down a word that is no turn's.
    pub(super) fn note_word(&self, canary: &str) {
        self.book().other_words.push(canary.to_owned());
    }

    pub(super) fn note_transcript(&self, session: &str, path: PathBuf) {
        self.book().transcripts.push((session.to_owned(), path));
    }

    /// Says something about the run, once.
    pub(super) fn tell(&self, what: &'static str, value: String) {
        self.book().notes.insert(what, value);
    }

    /// Keeps the longest of what took some time.
    pub(super) fn note_longest(&self, what: &'static str, took: Duration) {
        let mut book = self.book();
        let longest = book.longest.entry(what).or_default();
        *longest = took.max(*longest);
    }

    pub(super) fn count(&self, deed: &'static str, is_done: bool) {
        let mut book = self.book();
        let (n_done, n_not) = book.counts.entry(deed).or_default();
        if is_done {
            *n_done += 1;
        } else {
            *n_not += 1;
        }
    }

    /// Returns a turn that somebody said, with its word.
    pub(super) fn any_turn(&self, dice: &mut Dice) -> Option<(String, Turn)> {
        let book = self.book();
        let n_turns = u64::try_from(book.turns.len()).ok()?;
        let place = usize::try_from(dice.below(n_turns)).ok()?;
        let (canary, turn) = book.turns.iter().nth(place)?;
        Some((canary.clone(), turn.clone()))
    }

    pub(super) fn any_transcript(&self, dice: &mut Dice) -> Option<(String, PathBuf)> {
        dice.pick(&self.book().transcripts).cloned()
    }

    pub(super) fn turns(&self) -> BTreeMap<String, Turn> {
        self.book().turns.clone()
    }

    /// Returns every word that must stand nowhere but in homes.
    pub(super) fn words(&self) -> Vec<String> {
        let book = self.book();
        book.turns.keys().chain(&book.other_words).cloned().collect()
    }

    pub(super) fn summary(&self) -> Vec<(String, String)> {
        let book = self.book();
        let n_of = |fate| book.turns.values().filter(|turn| turn.fate == fate).count();
        let mut rows = vec![
            ("acknowledged".to_owned(), (n_of(Fate::Kept) + n_of(Fate::Gone)).to_string()),
            ("forgotten".to_owned(), n_of(Fate::Gone).to_string()),
            ("in doubt".to_owned(), (n_of(Fate::InDoubt) + n_of(Fate::MayBeGone)).to_string()),
        ];
        for (deed, (n_done, n_not)) in &book.counts {
            let beside = if *n_not == 0 { String::new() } else { format!(", {n_not} failed") };
            rows.push(((*deed).to_owned(), format!("{n_done}{beside}")));
        }
        let longest = book.longest.iter();
        rows.extend(longest.map(|(what, took)| ((*what).to_owned(), figures::milliseconds(*took))));
        rows.extend(book.notes.iter().map(|(what, value)| ((*what).to_owned(), value.clone())));
        rows
    }
}

/// Draws a word that nobody else says and that looks like no secret.
pub(super) fn canary(dice: &mut Dice) -> String {
    const CONSONANTS: [char; 16] =
        ['b', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z'];
    const VOWELS: [char; 4] = ['a', 'i', 'o', 'u'];
    const SYLLABLES: usize = 7;
    let syllable = |dice: &mut Dice| [dice.pick(&CONSONANTS), dice.pick(&VOWELS)];
    (0..SYLLABLES).flat_map(|_| syllable(dice)).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worse_fate_is_never_taken_back() {
        let ledger = Ledger::default();
        for fate in [Fate::Kept, Fate::Gone, Fate::MayBeGone, Fate::Kept, Fate::InDoubt] {
            ledger.note("word", "session", fate);
        }
        assert_eq!(ledger.turns().get("word").map(|turn| turn.fate), Some(Fate::Gone));
        ledger.note("other", "session", Fate::InDoubt);
        ledger.note("other", "session", Fate::Kept);
        assert_eq!(ledger.turns().get("other").map(|turn| turn.fate), Some(Fate::Kept));
    }

    #[test]
    fn canaries_are_words_of_their_own() {
        let mut dice = Dice::new(3);
        let words: std::collections::BTreeSet<String> =
            (0..500).map(|_| canary(&mut dice)).collect();
        assert_eq!(words.len(), 500);
        assert!(words.iter().all(|word| word.len() == 14));
    }
}
