//! What a sentence is about that leaves something open, apart from the words by which it does.

use std::collections::BTreeSet;

use crate::organise::{is_stop_word, n_shared};
use crate::remarks::phrase::{Wording, is_one_of};

/// Shorter words say little about what a sentence is about.
const TELLING_LETTERS_MIN: usize = 4;
/// … and still shorter ones nothing.
const SHORT_LETTERS_MIN: usize = 3;

/// Words by which something is put off; whoever takes it up does not repeat them.
const PUTTING_OFF: &str = "\
     next|leave|left|stays|stay|remains|remaining|later|todo|todos|tomorrow|have|remind|continue|\
     let's|missing|unfinished|open|half|parked|postponed|deferred|pending|outstanding|waiting|\
     owes|maybe|started|finished|time|noted|bleibt|offen|offene|fehlt|fehlen|müssen|morgen|\
     später|lass|machen|weiter|warten|erinnere|vielleicht|нужно|завтра|осталось|продолжим|\
     открыт|отложено|напомни|reste|faire|demain|plus|tard|attente|queda|pendiente|mañana|\
     seguimos|después|tarde";

/// Words that were spoken, to look others up among.
pub(crate) struct Spoken(BTreeSet<String>);

impl Spoken {
    /// Takes the words of all the texts.
    pub(crate) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        Self(texts.flat_map(matter_of).collect())
    }

    /// Tells whether most of what a sentence is about was spoken of.
    pub(crate) fn takes_up(&self, sentence: &str) -> bool {
        let words = matter_of(sentence);
        words.is_empty() || words.len() < 2 * n_shared(&words, &self.0)
    }
}

/// Returns the words that say what a sentence is about.
pub(crate) fn matter_of(text: &str) -> BTreeSet<String> {
    let tells = |word: &&str| {
        TELLING_LETTERS_MIN <= word.chars().count()
            && !is_stop_word(word)
            && !is_one_of(word, PUTTING_OFF)
    };
    Wording::of(text).words().filter(tells).map(str::to_owned).collect()
}

/// Counts the words that tell anything at all: short ones too, but no courtesies.
pub(crate) fn n_telling(text: &str) -> usize {
    let tells = |word: &&str| {
        SHORT_LETTERS_MIN <= word.chars().count()
            && !is_stop_word(word)
            && !is_one_of(word, PUTTING_OFF)
    };
    Wording::of(text).words().filter(tells).count()
}
