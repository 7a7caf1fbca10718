//! What says that something changed since, brought beside the hit whose matter it is, though the cue
//! has none of its words: who asks how a service is called finds the old name, and from there "we
//! rename it to …". Such a turn stands right below the hit that it is about, or above it where it
//! tells what is in the place of what the hit tells.

use std::collections::BTreeSet;

use iai_store::{Memory, MemoryNumber, Role};
use jiff::Timestamp;

use super::changes::telling_words;
use super::found::Found;
use super::rank::{Asking, Ranked};
use super::replacing::{code_names_of, numbers_of, replaces_one_of, with_arrows, with_compounds};
use super::since::{NameSearch, RARE_MAX, Since, TEXT_BYTES_MAX, named_since, tied_since};
use super::values::{Wanted, retold, words_of_figures};
use crate::error::Result;
use crate::organise::n_shared;
use crate::remarks::{Wording, is_one_of, is_spoken};

/// The best hits that are followed, and how many turns they bring along at most.
const HITS_LOOKED_AT: usize = 2;
const BROUGHT_MAX: usize = 2;
/// What is among the first so many anyway is brought by nobody.
const IS_TOLD_ANYWAY: usize = 3;
/// What is brought is about what the cue asks, too: at least this share as near to it as the hit …
const NEARNESS_SHARE_MIN: f64 = 0.62;
/// … or this, where it has a name from code in common with the hit.
const CODE_NEARNESS_SHARE_MIN: f64 = 0.45;
/// Turns after the hit in which the same talk may come to something else.
const TURNS_FOLLOWED: usize = 8;
/// Memories that may tell another figure of what the hit tells one of.
const RETELLING_MAX: usize = 11;
/// What stands beside another stands this much above or below it.
const MARGIN: f64 = 0.0001;

/// Puts what says that something changed beside the hit whose matter it is.
pub(super) fn bring_along(
    asking: Asking<'_>,
    found: &Found,
    ranked: &mut Vec<Ranked>,
    now: Timestamp,
) -> Result<()> {
    let mut brought: Vec<Ranked> = Vec::new();
    for (place, hit) in ranked.iter().take(HITS_LOOKED_AT).enumerate() {
        for since in changed_since(asking, found, hit, now)? {
            let n_told = if since.replaces { place } else { IS_TOLD_ANYWAY };
            let told = ranked.iter().take(n_told).chain(&brought);
            if BROUGHT_MAX <= brought.len()
                || told.into_iter().any(|one| one.number == since.number)
            {
                continue;
            }
            // Less than what raised those above the hit, and less for each that is brought.
            let above = MARGIN / f64::from(2 << brought.len());
            let score = if since.replaces { hit.score + above } else { hit.score - MARGIN };
            let reason = format!("says what changed since {}", hit.memory.id);
            let Since { number, memory, .. } = since;
            brought.push(Ranked { number, memory, score, reason });
        }
    }
    if brought.is_empty() {
        return Ok(());
    }
    ranked.retain(|hit| brought.iter().all(|one| one.number != hit.number));
    ranked.extend(brought);
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
    Ok(())
}

/// Returns what says that what a hit tells is another way since, as far as it is about what the cue
/// asks, what replaces it first.
fn changed_since(
    asking: Asking<'_>,
    found: &Found,
    hit: &Ranked,
    now: Timestamp,
) -> Result<Vec<Since>> {
    let Asking { engine, reader, .. } = asking;
    let about = (hit.number, &hit.memory);
    let mut all = later_in_the_talk(asking, hit, now)?;
    all.extend(retold_since(asking, hit, now)?);
    all.extend(taken_over_since(asking, hit, now)?);
    // Each by itself: beside all that an assistant says, the user's word may not be among them.
    all.extend(tied_since(engine, reader, about, Role::User, now)?);
    all.extend(tied_since(engine, reader, about, Role::Assistant, now)?);
    all.sort_by_key(Since::order);
    let mut seen = BTreeSet::new();
    all.retain(|since| seen.insert(since.number));
    let numbers: Vec<MemoryNumber> =
        [hit.number].into_iter().chain(all.iter().map(|since| since.number)).collect();
    let nearness = found.nearness((engine, reader), &numbers)?;
    let of_hit = nearness.first().copied().flatten();
    let mut near: Vec<(Option<f64>, Since)> = nearness.into_iter().skip(1).zip(all).collect();
    near.retain(|(own, since)| {
        let share = if since.is_by_code { CODE_NEARNESS_SHARE_MIN } else { NEARNESS_SHARE_MIN };
        of_hit.zip(*own).is_none_or(|(hit, own)| share * hit <= own)
    });
    // A hit may tell several things, each of them replaced by now: what the cue asks for is nearer.
    near.sort_by(|(one, a), (other, b)| {
        b.replaces.cmp(&a.replaces).then(other.unwrap_or(0.0).total_cmp(&one.unwrap_or(0.0)))
    });
    let mut changed: Vec<Since> = near.into_iter().map(|(_, since)| since).collect();
    put_heirs_first(&mut changed);
    Ok(changed)
}

/// Puts what replaces what another tells before that.
fn put_heirs_first(changed: &mut Vec<Since>) {
    for place in 1..changed.len() {
        let (Some(before), Some(own)) = (changed.get(..place), changed.get(place)) else { break };
        let is_heir = |other: &Since| {
            let names: Vec<(u64, String)> = [numbers_of, code_names_of]
                .into_iter()
                .flat_map(|names_of| names_of(&other.memory.text))
                .collect();
            let wording = Wording::of(&with_compounds(&with_arrows(&own.memory.text)));
            other.memory.turn_at < own.memory.turn_at && replaces_one_of(&wording, &names)
        };
        if own.replaces
            && let Some(first) = before.iter().position(is_heir)
        {
            let heir = changed.remove(place);
            changed.insert(first, heir);
        }
    }
}

/// Returns what in the same talk came in the place of what a hit tells: "it is 4 s now; was 10".
fn later_in_the_talk(asking: Asking<'_>, hit: &Ranked, now: Timestamp) -> Result<Vec<Since>> {
    let Asking { engine, reader, .. } = asking;
    let words: Vec<String> = telling_words(&hit.memory.text).into_iter().collect();
    let known = engine.with_loaded_index(|index| {
        let next = |number: &MemoryNumber| index.catalogue().next(*number);
        let turns = std::iter::successors(next(&hit.number), next).take(TURNS_FOLLOWED);
        (turns.collect::<Vec<_>>(), index.document_frequencies(&words))
    });
    let (turns, frequencies) = known.unwrap_or_default();
    let mut names = numbers_of(&hit.memory.text);
    names.extend(code_names_of(&hit.memory.text));
    names.extend(frequencies.into_iter().zip(words).filter(|(n, _)| *n <= RARE_MAX));
    let mut said = reader.numbered(&turns)?;
    said.retain(|(_, memory)| {
        let wording = Wording::of(&with_compounds(&with_arrows(&memory.text)));
        let is_stated = !wording.is_question && !wording.has_any(THOUGHT_OF);
        let is_request = wording.has_any("rename") && !wording.has_any("to|becomes|now");
        memory.turn_at <= now
            && may_replace(memory, hit)
            && is_stated
            && !is_request
            && replaces_one_of(&wording, &names)
    });
    let last = said.into_iter().max_by_key(|(number, memory)| (memory.turn_at, *number));
    Ok(last.map(replacing).into_iter().collect())
}

/// Returns what later told another figure of what the cue asks for and a hit tells one of.
fn retold_since(asking: Asking<'_>, hit: &Ranked, now: Timestamp) -> Result<Vec<Since>> {
    let Asking { engine, reader, cue } = asking;
    let words = words_of_figures(cue, &hit.memory.text);
    if words.is_empty() || TEXT_BYTES_MAX < hit.memory.text.len() {
        return Ok(Vec::new());
    }
    let who = &[Role::User, Role::Assistant];
    let search = NameSearch { words, named_by_max: u64::MAX, beside: &[], who };
    let mut since = named_since(engine, reader, (hit.number, &hit.memory), search, now)?.since;
    since.sort_by_key(|(number, memory)| std::cmp::Reverse((memory.turn_at, *number)));
    since.truncate(RETELLING_MAX);
    let telling = since.into_iter().map(|(number, memory)| Ranked {
        number,
        memory,
        score: hit.score,
        reason: String::new(),
    });
    let telling: Vec<Ranked> = [hit.clone()].into_iter().chain(telling).collect();
    let pairs = retold(cue, &telling, Wanted::At(now), now);
    let last = pairs.iter().find(|(old, _)| *old == hit.number).map(|(_, new)| *new);
    let last = telling.into_iter().find(|one| Some(one.number) == last);
    Ok(last.map(|last| replacing((last.number, last.memory))).into_iter().collect())
}

/// Returns who later took over what the cue asks a person for and a hit names one of.
fn taken_over_since(asking: Asking<'_>, hit: &Ranked, now: Timestamp) -> Result<Vec<Since>> {
    let Asking { engine, reader, cue } = asking;
    let wording = Wording::of(&cue.text);
    if !wording.has_any(WHO) && !wording.has_any(IN_CHARGE) {
        return Ok(Vec::new());
    }
    let mut words = telling_words(&hit.memory.text);
    words.retain(|word| !is_one_of(word, IN_CHARGE));
    let matter = words.clone();
    let who = &[Role::User, Role::Assistant];
    let search = NameSearch { words, named_by_max: u64::MAX, beside: TAKING_OVER, who };
    let mut since = named_since(engine, reader, (hit.number, &hit.memory), search, now)?.since;
    since.retain(|(_, memory)| {
        let wording = Wording::of(&memory.text);
        let is_taken_over =
            || wording.has_any(TAKES_OVER) && 0 < n_shared(&matter, &telling_words(&memory.text));
        let mut named = wording.words().enumerate().filter(|(_, word)| matter.contains(*word));
        let mut leaves = || {
            named.any(|(place, _)| {
                LEAVES.split('|').any(|form| wording.stands_between(place, "", form))
            })
        };
        !wording.is_question && (leaves() || is_taken_over())
    });
    let last = since.into_iter().max_by_key(|(number, memory)| (memory.turn_at, *number));
    Ok(last.map(replacing).into_iter().collect())
}

/// What a cue has that asks for a person, …
const WHO: &str = "who|whom|whose|wer|wem|wen|qui|quién|кто|кого";
const IN_CHARGE: &str = "owner|responsible|in charge|maintainer|contact|zuständig|verantwortlich";
/// … how it is said that somebody else does it now, …
const TAKES_OVER: &str = "\
     takes over|took over|taking over|take over|hands … over to|handed … over to|handed over|\
     hand over|new owner|owns … now|now owns|owner is now|is now owned by|is now responsible|\
     responsible … now|goes to … now|now goes to|go to … from now|from then on|steps in|\
     übernimmt|übernommen|zuständig ist jetzt|reprend|se encarga";
/// … or, behind the name, that somebody no longer does, and by which words both are searched for.
const LEAVES: &str = "\
     leaves|left|is leaving|has left|quits|quit|retires|retired|switched to|switches to|moved to|\
     moves to|changed teams|changes teams|is on leave|is on parental|is gone|s last day|'s last day|\
     's gone|last day|went to|goes to|verlässt|hat gewechselt|wechselt|ist weg|quitte|se va";
const TAKING_OVER: &[&str] = &[
    "takes",
    "took",
    "taking",
    "handover",
    "handed",
    "leaves",
    "left",
    "leave",
    "switched",
    "übernimmt",
];

/// What is worded so is not so yet.
const THOUGHT_OF: &str = "\
     wondering|thinking|thought about|could|would|might|maybe|perhaps|i'd|we'd|suggest|propose|\
     recommend|what if|should we|shall we|if you|if we|könnte|könnten|würde|vielleicht";

fn may_replace(memory: &Memory, hit: &Ranked) -> bool {
    is_spoken(memory)
        && memory.role != Role::System
        && memory.valid_to.is_none()
        && memory.project == hit.memory.project
        && memory.text.len() <= TEXT_BYTES_MAX
}

fn replacing((number, memory): (MemoryNumber, Memory)) -> Since {
    Since { replaces: true, is_by_code: false, number, memory }
}
