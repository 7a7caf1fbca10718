//! What of a hit answers the cue, and what says later that this is so no longer: "we run on
//! Postgres" is no answer once somebody said "forget Postgres". A turn often tells two things; what
//! replaces the other one is nothing to whoever asked.

use std::collections::BTreeSet;

use iai_store::{Memory, Role};
use jiff::Timestamp;

use super::brought::may_replace;
use super::changes::{reports_a_change, telling_words};
use super::cue::Cue;
use super::rank::{Asking, Ranked};
use super::replacing::{
    code_names_of, numbers_of, replaces_figure, replaces_one_of, with_arrows, with_compounds,
};
use super::since::{NameSearch, Since, Tie, named_since};
use super::stated::stated_of;
use super::values::may_ask;
use crate::error::Result;
use crate::organise::n_shared;
use crate::remarks::{Wording, sentences};

/// What more memories have than this is a word, and no name of an answer: of any store, …
const NAMED_BY_MAX: u64 = 24;
/// … and of a large one, one in so many.
const NAMED_SHARE: u64 = 100;
/// A name that no more have is one of nothing else.
const RARE_MAX: u64 = 12;
const RARE_SHARE: u64 = 500;
/// Whoever may say that something is replaced.
const SPEAKERS: &[Role] = &[Role::User, Role::Assistant];

/// The parts of a hit that have words of a cue: what answers it stands there.
pub(super) struct Answer {
    /// Names in the clauses that have words of the cue.
    names: Vec<(u64, String)>,
    /// Words, names and figures of the sentences that have.
    words: BTreeSet<String>,
    code_names: Vec<(u64, String)>,
    figures: Vec<(u64, String)>,
    /// The words of the cue.
    asked: BTreeSet<String>,
    is_asked_for: bool,
    /// Some sentences have none of the words of the cue: they tell something else.
    is_a_part: bool,
}

impl Answer {
    pub(super) fn of(cue: &Cue, text: &str) -> Self {
        let asked = telling_words(&cue.text);
        let is_answering = |part: &&str| 0 < n_shared(&asked, &telling_words(part));
        let clauses = text.split(['.', ',', ';', '!', '?', '\n', ':']);
        let clauses: Vec<&str> = clauses.filter(is_answering).collect();
        let clauses = clauses.join(". ");
        let words_of = |part: &str| -> BTreeSet<String> {
            telling_words(part).into_iter().filter(|word| !asked.contains(word)).collect()
        };
        let names = words_of(&clauses).into_iter().map(|word| (u64::MAX, word));
        let names = names.chain(code_names_of(&clauses)).collect();
        let all = sentences(text);
        let told = all.iter().filter_map(|range| text.get(range.clone()));
        let told: Vec<&str> = told.filter(is_answering).collect();
        let is_a_part = (1..all.len()).contains(&told.len());
        let told = told.join("\n");
        let (words, code_names, figures) =
            (words_of(&told), code_names_of(&told), numbers_of(&told));
        let is_asked_for = may_ask(cue);
        Self { names, words, code_names, figures, asked, is_asked_for, is_a_part }
    }

    /// Tells whether a text says that a name in the answer is replaced.
    pub(super) fn is_replaced_in(&self, text: &str) -> bool {
        let told = with_arrows(text);
        [Wording::of(&told), Wording::of(&with_compounds(&told))]
            .iter()
            .any(|wording| replaces_one_of(wording, &self.names))
    }

    /// Tells whether a text replaces something that stands only beside the answer.
    pub(super) fn is_beside_what_is_replaced_in(&self, text: &str) -> bool {
        let words = self.words.iter().map(|word| (0, word.clone()));
        let words: Vec<(u64, String)> = words.collect();
        self.is_a_part && self.replaced_by(text, &words, &[]).is_none()
    }

    /// Returns what somebody said later that names what is replaced of the answer, the latest.
    pub(super) fn replaced_since(
        &self,
        Asking { engine, reader, .. }: Asking<'_>,
        hit: &Ranked,
        now: Timestamp,
    ) -> Result<Vec<Since>> {
        // Who tells something at length asks for no answer.
        if !self.is_asked_for {
            return Ok(Vec::new());
        }
        let figures: Vec<String> = self.figures.iter().map(|(_, own)| own.clone()).collect();
        let counted = engine.with_loaded_index(|index| {
            (index.catalogue().len() as u64, index.document_frequencies(&figures))
        });
        let Some((n_memories, frequencies)) = counted else { return Ok(Vec::new()) };
        let named_by_max = NAMED_BY_MAX.max(n_memories / NAMED_SHARE);
        // What every other memory has costs more to look for than all the rest.
        let rare = figures.iter().zip(frequencies).filter(|(_, n)| *n <= named_by_max);
        let names = self.code_names.iter().map(|(_, name)| name.as_str());
        let beside: Vec<&str> = names.chain(rare.map(|(own, _)| own.as_str())).collect();
        let search = NameSearch {
            words: self.words.clone(),
            named_by_max,
            beside: &beside,
            changing: &[],
            who: SPEAKERS,
        };
        let found = named_since(engine, reader, (hit.number, &hit.memory), search, now)?;
        let is_rare = |n: u64| n <= RARE_MAX.max(n_memories / RARE_SHARE);
        let rare: Vec<(u64, String)> =
            found.names.iter().filter(|(n, _)| is_rare(*n)).cloned().collect();
        // What an assistant is about to remove may come back tomorrow.
        let is_said = |memory: &Memory| memory.role == Role::User || reports_a_change(memory);
        let said_later = found
            .since
            .into_iter()
            .filter(|(_, memory)| may_replace(memory, hit) && is_said(memory));
        let replacing = said_later.filter_map(|(number, memory)| {
            let tie = self.replaced_by(&memory.text, &found.names, &rare)?;
            Some(Since { replaces: true, tie, number, memory })
        });
        Ok(replacing.max_by_key(|since| (since.memory.turn_at, since.number)).into_iter().collect())
    }

    /// Tells how a text says that something of the answer is replaced: one of these names, of which
    /// some are rare, a name from code, or a figure.
    fn replaced_by(
        &self,
        text: &str,
        names: &[(u64, String)],
        rare: &[(u64, String)],
    ) -> Option<Tie> {
        // Nearly every text says no such thing, whatever in it is only thought of.
        self.replaced_in(text, names, rare)?;
        self.replaced_in(&stated_of(text), names, rare)
    }

    fn replaced_in(
        &self,
        said: &str,
        names: &[(u64, String)],
        rare: &[(u64, String)],
    ) -> Option<Tie> {
        let told = with_arrows(said);
        let wording = Wording::of(&told);
        // Anybody may say "not 30": it is about this 30 where something else is the same.
        let is_tied = || {
            let is_figure = |word: &String| self.figures.iter().any(|(_, own)| own == word);
            let matter = self.words.union(&self.asked).filter(|word| !is_figure(word));
            0 < n_shared(&matter.cloned().collect(), &telling_words(said))
        };
        let is_renamed = || {
            !self.code_names.is_empty()
                && replaces_one_of(&Wording::of(&with_compounds(&told)), &self.code_names)
        };
        let is_certain = replaces_one_of(&wording, rare)
            || is_renamed()
            || replaces_figure(&wording, &self.figures) && is_tied();
        match is_certain {
            true => Some(Tie::Certain),
            false => replaces_one_of(&wording, names).then_some(Tie::Answer),
        }
    }
}
