//! What a sentence is about that leaves something open, apart from the words by which it does.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::organise::{alike_beginning, is_stop_word, n_shared};
use crate::remarks::phrase::Wording;
use crate::remarks::sentences::beginning;

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

/// Tells whether a word only says that something is put off.
fn puts_off(word: &str) -> bool {
    static KNOWN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| PUTTING_OFF.split('|').collect());
    KNOWN.contains(word)
}

/// Whether a turn takes something up is heard in so much at either end of it.
const HEARD_BYTES: usize = 8 * 1024;

/// Words that were spoken, of those that may say that one of some sentences was taken up.
pub(crate) struct Spoken {
    /// How the words of the sentences begin: all forms of one begin so.
    listened_for: BTreeSet<String>,
    heard: BTreeSet<String>,
}

impl Spoken {
    /// Listens for what the sentences are about.
    pub(crate) fn listening_for<'a>(sentences: impl Iterator<Item = &'a str>) -> Self {
        let words = sentences.flat_map(matter_of);
        let listened_for = words.map(|word| alike_beginning(&word).to_owned()).collect();
        Self { listened_for, heard: BTreeSet::new() }
    }

    /// Takes the words of a text, too.
    pub(crate) fn hear(&mut self, text: &str) {
        let first = beginning(text, HEARD_BYTES);
        let rest = text.get(first.len()..).unwrap_or_default();
        let last_from = rest.ceil_char_boundary(rest.len().saturating_sub(HEARD_BYTES));
        for part in [first, rest.get(last_from..).unwrap_or_default()] {
            for word in Wording::of(part).words() {
                // Few of many words are kept, and those were mostly heard before.
                let is_listened_for = self.listened_for.contains(alike_beginning(word));
                if is_listened_for && !self.heard.contains(word) && tells(word) {
                    self.heard.insert(word.to_owned());
                }
            }
        }
    }

    /// Tells whether most of what one of the sentences is about was spoken of.
    pub(crate) fn takes_up(&self, sentence: &str) -> bool {
        let words = matter_of(sentence);
        words.is_empty() || words.len() < 2 * n_shared(&words, &self.heard)
    }
}

/// Returns the words that say what a sentence is about.
pub(crate) fn matter_of(text: &str) -> BTreeSet<String> {
    Wording::of(text).words().filter(|word| tells(word)).map(str::to_owned).collect()
}

fn tells(word: &str) -> bool {
    TELLING_LETTERS_MIN <= word.chars().count() && !is_stop_word(word) && !puts_off(word)
}

/// Counts the words that tell anything at all: short ones too, but no courtesies.
pub(crate) fn n_telling(text: &str) -> usize {
    let tells = |word: &&str| {
        SHORT_LETTERS_MIN <= word.chars().count() && !is_stop_word(word) && !puts_off(word)
    };
    Wording::of(text).words().filter(tells).count()
}
