//! Who does something now: a cue that asks for a person finds who did it, and from there what says
//! that somebody else took over, or that this one left.

use std::collections::BTreeSet;

use super::changes::telling_words;
use super::cue::Cue;
use super::stated::stated_of;
use crate::organise::{is_alike, n_shared};
use crate::remarks::{Wording, is_one_of};

/// What a cue has that asks for a person, …
const WHO: &str = "who|whom|whose|wer|wem|wen|qui|quién|кто|кого";
const IN_CHARGE: &str = "owner|responsible|maintainer|contact|zuständig|verantwortlich";
/// … how it is said that somebody else does it now, …
const TAKES_OVER: &str = "\
     takes over|took over|taking over|take over|hands … over to|handed … over to|handed over|\
     hand over|new owner|owns … now|now owns|owner is now|is now owned by|is now responsible|\
     responsible … now|goes to … now|now goes to|go to … from now|from then on|steps in|\
     übernimmt|übernommen|zuständig ist jetzt|reprend|se encarga";
/// … or, behind a name, that somebody no longer does, …
const LEAVES: &str = "\
     leaves|is leaving|has left|left us|left the|left for|left last|quits|quit|retires|retired|\
     has retired|has gone|has moved|has changed|has handed|\
     switched to|switches to|switched teams|moved to|moves to|changed teams|changes teams|\
     is on leave|is on parental|goes on|is gone|last day|verlässt|hat gewechselt|wechselt|\
     ist weg|quitte|se va";
/// … and the words by which both are searched for.
pub(super) const TAKING_OVER: &[&str] = &[
    "takes",
    "took",
    "taking",
    "handover",
    "handed",
    "leaves",
    "leave",
    "switched",
    "retired",
    "übernimmt",
];

/// What somebody is said to do.
pub(super) struct Charge {
    /// What it is about, and who does it: nothing tells them apart.
    pub(super) words: BTreeSet<String>,
    /// Those that the cue has not: one of them may be the person.
    names: BTreeSet<String>,
}

impl Charge {
    /// Understands a text that answers a cue; nothing where the cue asks for no person.
    pub(super) fn told_in(text: &str, cue: &Cue) -> Option<Self> {
        let wording = Wording::of(&cue.text);
        if !wording.has_any(WHO) && !wording.has_any(IN_CHARGE) {
            return None;
        }
        let mut words = telling_words(text);
        words.retain(|word| !is_one_of(word, IN_CHARGE));
        let asked = telling_words(&cue.text);
        let is_asked = |word: &String| asked.iter().any(|own| is_alike(own, word));
        let names = words.iter().filter(|word| !is_asked(word)).cloned().collect();
        Some(Self { words, names })
    }

    /// Tells whether a text says that somebody else does it.
    pub(super) fn is_handed_over_in(&self, text: &str) -> bool {
        let stated = stated_of(text);
        let wording = Wording::of(&stated);
        let is_name = |word: &str| {
            let bare = word.strip_suffix("'s").unwrap_or(word);
            self.names.contains(bare)
        };
        let mut named = wording.words().enumerate().filter(|(_, word)| is_name(word));
        let mut leaves = || {
            named.any(|(place, _)| {
                LEAVES.split('|').any(|form| wording.stands_between(place, "", form))
            })
        };
        leaves()
            || wording.has_any(TAKES_OVER) && 0 < n_shared(&self.words, &telling_words(&stated))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn somebody_else_does_it_where_one_takes_over_or_leaves() {
        let cue = Cue::understand("who is responsible for invoices?", Timestamp::UNIX_EPOCH);
        let text = "Amara is responsible for the billing of invoices.";
        let charge = Charge::told_in(text, &cue).unwrap();
        let check = |text: &str, expect: bool| {
            assert_eq!(charge.is_handed_over_in(text), expect, "{text}");
        };
        check("Bo takes over billing", true);
        check("Amara's last day is Friday, it is Bo from then on", true);
        check("amara is on leave", true);
        check("Amara left a comment on the PR", false);
        check("invoices moved to the new folder", false);
        check("Maybe Bo takes over billing", false);
        check("Should Bo take over billing? Let me know.", false);
        check("Bo takes over the garden", false);
        let cue = Cue::understand("where are invoices stored?", Timestamp::UNIX_EPOCH);
        assert!(Charge::told_in(text, &cue).is_none());
    }
}
