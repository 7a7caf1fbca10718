//! What was decided, as far as it still stands: nothing that a newer decision is about too, what
//! was said otherwise since beside it, and where a word or two decided, to what they replied.

use std::collections::BTreeSet;

use iai_store::{Memory, MemoryId, Reader, Remark, RemarkKind, Role};
use jiff::Timestamp;

use super::material::may_be_told;
use super::remarked::{Asked, Fresh, REMARKS_READ_MAX, merged, remarked};
use super::sequels::told_since;
use super::telling::{spoken_to, tells_enough};
use super::told::{Since, Told, drop_beside};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{is_stop_word, n_shared};
use crate::recall::replaced_since;
use crate::remarks::Wording;

const DECISIONS_MAX: usize = 20;
/// Shorter words say little about what was decided …
const MATTER_LETTERS_MIN: usize = 4;
/// … and fewer of them may be about anything. Of at least so many, a newer decision has three in
/// four when it is about the same.
const MATTER_WORDS_MIN: usize = 2;
/// Words of deciding itself.
const DECIDING: &str = "\
     decided|decision|agreed|settled|going|switch|switching|plan|called|moving|drop|dropping|\
     stick|entschieden|beschlossen|vereinbart|решили|договорились|décidé|decidimos|acordamos";

/// Tells what was decided; what was said otherwise since stands beside it.
pub(super) fn decided(
    engine: &MemoryEngine,
    reader: &Reader,
    asked: &Asked<'_>,
    decided: Vec<Remark>,
) -> Result<Vec<Told>> {
    let holding = holding(decided);
    let told_of = holding.iter().take(asked.limit).map(|decision| {
        let since = said_otherwise(engine, reader, decision, asked.now)?;
        let since = match since {
            Some(newer) => Some(Since::of(newer)),
            None => told_since(reader, (RemarkKind::Decision, decision), asked.project)?,
        };
        let told = remarked(decision);
        let replied = replied_to(engine, reader, decision)?;
        let asides: Vec<String> = told.aside.clone().into_iter().chain(replied).collect();
        let aside = (!asides.is_empty()).then(|| asides.join(", "));
        Ok(Told { since, aside, ..told })
    });
    let mut told_of: Vec<Told> = told_of.collect::<Result<_>>()?;
    drop_beside(&mut told_of);
    Ok(told_of)
}

/// Returns what was said since in the place of something that was said, where it may be told.
pub(super) fn since(
    engine: &MemoryEngine,
    reader: &Reader,
    said: MemoryId,
    now: Timestamp,
) -> Result<Option<Since>> {
    let Some(number) = reader.number_of(said)? else { return Ok(None) };
    let memory = reader.numbered(&[number])?.pop();
    let since = match &memory {
        Some((_, memory)) => replaced_since(engine, reader, (number, memory), now)?,
        None => None,
    };
    Ok(since.filter(may_be_told).map(Since::of))
}

/// Returns what a decision of few words replied to.
fn replied_to(engine: &MemoryEngine, reader: &Reader, decision: &Remark) -> Result<Option<String>> {
    if tells_enough(decision.sentence()) || decision.memory.role != Role::User {
        return Ok(None);
    }
    let before = engine.with_loaded_index(|index| index.catalogue().previous(decision.number));
    let before = before.flatten();
    let before = reader.numbered(before.as_slice())?.pop().map(|(_, before)| before);
    // A session may wander from one project into another.
    let before = before.filter(|before| {
        before.role == Role::Assistant
            && before.project == decision.memory.project
            && may_be_told(before)
    });
    Ok(before.and_then(|before| spoken_to(&before.text, decision.sentence())))
}

/// Returns what was said since that stands in the place of a decision, where it may be told.
pub(crate) fn said_otherwise(
    engine: &MemoryEngine,
    reader: &Reader,
    decision: &Remark,
    now: Timestamp,
) -> Result<Option<Memory>> {
    let since = replaced_since(engine, reader, (decision.number, &decision.memory), now)?;
    Ok(since.filter(may_be_told))
}

/// Returns the sentences in which something was decided, the latest first.
pub(super) fn decisions(reader: &Reader, project: &str, fresh: &Fresh) -> Result<Vec<Remark>> {
    merged(reader, (RemarkKind::Decision, REMARKS_READ_MAX), (project, fresh))
}

/// Leaves, of decisions with the newest first, those that no newer one is about too.
pub(super) fn holding(decided: Vec<Remark>) -> Vec<Remark> {
    let mut holding = without_settled(decided);
    holding.truncate(DECISIONS_MAX);
    holding
}

/// Leaves out, of decisions with the newest first, those that a newer one is about too.
fn without_settled(all: Vec<Remark>) -> Vec<Remark> {
    let mut kept: Vec<(BTreeSet<String>, Remark)> = Vec::new();
    for remark in all {
        let matter = matter_of(remark.sentence());
        if !kept.iter().any(|(newer, _)| is_settled_by(&matter, newer)) {
            kept.push((matter, remark));
        }
    }
    kept.into_iter().map(|(_, remark)| remark).collect()
}

/// What a decision is about, without the words that make it one.
fn matter_of(sentence: &str) -> BTreeSet<String> {
    let wording = Wording::of(sentence);
    let tells = |word: &&str| {
        MATTER_LETTERS_MIN <= word.chars().count()
            && !is_stop_word(word)
            && DECIDING.split('|').all(|deciding| deciding != *word)
    };
    wording.words().filter(tells).map(str::to_owned).collect()
}

fn is_settled_by(matter: &BTreeSet<String>, newer: &BTreeSet<String>) -> bool {
    MATTER_WORDS_MIN <= matter.len() && 3 * matter.len() <= 4 * n_shared(matter, newer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_settled_by_a_newer_one_about_the_same() {
        let check = |older: &str, newer: &str, expect: bool| {
            assert_eq!(is_settled_by(&matter_of(older), &matter_of(newer)), expect, "{older}");
        };
        let next = "Ana reviews the billing code from now on, Ben changed teams.";
        check("Ben reviews the billing code from now on.", next, true);
        check("Images are signed by Ben from now on", "Images are signed by Ana from today", true);
        check("We decided to use Postgres for billing", "We use Postgres for the search", false);
        check("We drop Redis", "We drop Redis on staging only", false);
    }
}
