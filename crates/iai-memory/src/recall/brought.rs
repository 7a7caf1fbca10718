//! What says that something changed since, brought beside the hit whose matter it is, though the
//! cue has none of its words: who asks how a service is called finds the old name, and from there
//! "we rename it to …". Such a turn stands right below the hit that it is about, or above it where
//! it tells what is in the place of what the hit tells.

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{Memory, MemoryNumber, Role};
use jiff::Timestamp;

use super::answer::Answer;
use super::asked::words_of_figures;
use super::changes::telling_words;
use super::figures::{NamedFigures, figures_by_unit, names_of_matter};
use super::found::Found;
use super::handover::{Charge, TAKING_OVER};
use super::rank::{Asking, Ranked};
use super::replacing::{
    code_names_of, numbers_of, replaces_figure, replaces_one_of, sets_anew, with_arrows,
    with_compounds,
};
use super::since::{NAMED_BY_MAX, NameSearch, Since, TEXT_BYTES_MAX, Tie, named_since, tied_since};
use super::stated::stated_of;
use super::values::{Sameness, Wanted, retold};
use crate::error::Result;
use crate::organise::n_shared;
use crate::remarks::{Wording, is_spoken};
use crate::trust::distrust;

/// The best hits that are followed, and how many turns they bring along at most.
const HITS_LOOKED_AT: usize = 2;
const BROUGHT_MAX: usize = 2;
/// What is among the first so many anyway is brought by nobody.
const IS_TOLD_ANYWAY: usize = 3;
/// What is brought is about what the cue asks, too: at least this share as near to it as the hit …
const NEARNESS_SHARE_MIN: f64 = 0.62;
/// … or this, where what it replaces stands where the hit has the words of the cue, …
const ANSWER_NEARNESS_SHARE_MIN: f64 = 0.3;
/// … or not below all that has nothing to do with it, where the answer itself is named, …
const CERTAIN_NEARNESS_SHARE_MIN: f64 = 0.0;
/// … or this, where it has a name from code in common with the hit.
const CODE_NEARNESS_SHARE_MIN: f64 = 0.45;
/// Turns after the hit in which the same talk may come to something else.
const TURNS_FOLLOWED: usize = 8;
/// Memories that may tell another figure of what the hit tells one of.
const RETELLING_MAX: usize = 11;
/// Whoever may say that something changed.
const SPEAKERS: &[Role] = &[Role::User, Role::Assistant];
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
        for since in changed_since(asking, found, (place, hit), now)? {
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
    (place, hit): (usize, &Ranked),
    now: Timestamp,
) -> Result<Vec<Since>> {
    let Asking { engine, reader, .. } = asking;
    // A longer one tells too much, and takes too long.
    if TEXT_BYTES_MAX < hit.memory.text.len() {
        return Ok(Vec::new());
    }
    let about = (hit.number, &hit.memory);
    let answer = Answer::of(asking.cue, &hit.memory.text);
    let mut all = later_in_the_talk(asking, hit, now)?;
    all.extend(retold_since(asking, hit, now)?);
    // Two searches and their texts for each would be a millisecond.
    if place == 0 {
        all.extend(answer.replaced_since(asking, hit, now)?);
    }
    all.extend(taken_over_since(asking, hit, now)?);
    // Each by itself: beside all that an assistant says, the user's word may not be among them.
    for who in [Role::User, Role::Assistant] {
        let mut tied = tied_since(engine, reader, about, who, now)?;
        for since in &mut tied {
            since.replaces &=
                since.tie == Tie::Code || !answer.is_beside_what_is_replaced_in(&since.memory.text);
        }
        all.extend(tied);
    }
    all.sort_by_key(Since::order);
    let mut seen = BTreeSet::new();
    // What tries to give orders is found by its words, but nobody brings it along.
    all.retain(|since| seen.insert(since.number) && distrust(&since.memory.text).is_none());
    let numbers: Vec<MemoryNumber> =
        [hit.number].into_iter().chain(all.iter().map(|since| since.number)).collect();
    let nearness = found.nearness((engine, reader), &numbers)?;
    let of_hit = nearness.first().copied().flatten();
    for since in &mut all {
        if since.replaces && answer.is_replaced_in(&since.memory.text) {
            since.tie = since.tie.max(Tie::Answer);
        }
    }
    let mut near: Vec<(Option<f64>, Since)> = nearness.into_iter().skip(1).zip(all).collect();
    near.retain(|(own, since)| {
        let share = match since.tie {
            Tie::Word => NEARNESS_SHARE_MIN,
            Tie::Code => CODE_NEARNESS_SHARE_MIN,
            Tie::Answer => ANSWER_NEARNESS_SHARE_MIN,
            Tie::Certain => CERTAIN_NEARNESS_SHARE_MIN,
        };
        // Either may be below the mean.
        of_hit.zip(*own).is_none_or(|(hit, own)| hit - (1.0 - share) * hit.abs() <= own)
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
        if !own.replaces {
            continue;
        }
        let wording = Wording::of(&with_compounds(&with_arrows(&own.memory.text)));
        let is_heir = |other: &Since| {
            let text = &other.memory.text;
            other.memory.turn_at < own.memory.turn_at
                && (replaces_one_of(&wording, &code_names_of(text))
                    || replaces_figure(&wording, &numbers_of(text)))
        };
        if let Some(first) = before.iter().position(is_heir) {
            let heir = changed.remove(place);
            changed.insert(first, heir);
        }
    }
}

/// Returns what in the same talk came in the place of what a hit tells: "it is 4 s now; was 10".
fn later_in_the_talk(asking: Asking<'_>, hit: &Ranked, now: Timestamp) -> Result<Vec<Since>> {
    let Asking { engine, reader, cue } = asking;
    let words: Vec<String> = telling_words(&hit.memory.text).into_iter().collect();
    let (turns, frequencies) = engine.with_index(|index| {
        let next = |number: &MemoryNumber| index.catalogue().next(*number);
        let turns = std::iter::successors(next(&hit.number), next).take(TURNS_FOLLOWED);
        (turns.collect::<Vec<_>>(), index.document_frequencies(&words))
    })?;
    let rare =
        frequencies.into_iter().zip(words.iter().cloned()).filter(|(n, _)| *n <= NAMED_BY_MAX);
    let names: Vec<(u64, String)> =
        code_names_of(&hit.memory.text).into_iter().chain(rare).collect();
    let figures = numbers_of(&hit.memory.text);
    // Who asks for no figure is not told another one.
    let is_figure = !words_of_figures(cue, &hit.memory.text).is_empty();
    let units = if is_figure { figures_by_unit(&hit.memory.text) } else { BTreeMap::new() };
    let words: BTreeSet<String> = words.into_iter().collect();
    let mut said = reader.numbered(&turns)?;
    said.retain(|(_, memory)| {
        let stated = stated_of(&memory.text);
        let wording = Wording::of(&with_compounds(&with_arrows(&stated)));
        let is_request = wording.has_any("rename") && !wording.has_any("to|becomes|now");
        // Anybody may say "was 10": it is about this 10 where something else is the same.
        let is_tied = || 0 < n_shared(&words, &telling_words(&stated));
        memory.turn_at <= now
            && may_replace(memory, hit)
            && !is_request
            && (replaces_one_of(&wording, &names)
                || replaces_figure(&wording, &figures) && is_tied()
                || is_set_anew(memory, &units))
    });
    let since = latest(said).map(|since| {
        let is_set_anew = is_set_anew(&since.memory, &units);
        Since { tie: if is_set_anew { Tie::Answer } else { Tie::Word }, ..since }
    });
    Ok(since.into_iter().collect())
}

/// Tells whether the user has another figure set than was told in these units.
fn is_set_anew(memory: &Memory, units: &NamedFigures) -> bool {
    memory.role == Role::User && sets_anew(units, &stated_of(&memory.text))
}

/// Returns what later told another figure of what the cue asks for and a hit tells one of.
fn retold_since(asking: Asking<'_>, hit: &Ranked, now: Timestamp) -> Result<Vec<Since>> {
    let Asking { engine, reader, cue } = asking;
    let words = words_of_figures(cue, &hit.memory.text);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let beside: Vec<&str> = words.iter().flat_map(|word| names_of_matter(word)).collect();
    let search =
        NameSearch { words, named_by_max: u64::MAX, beside: &beside, changing: &[], who: SPEAKERS };
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
    let pairs = retold(cue, &telling, (Wanted::At(now), Sameness::Certain), now);
    let is_later = |one: &Ranked| pairs.contains(&(hit.number, one.number));
    let later = telling.into_iter().filter(is_later).map(|one| (one.number, one.memory));
    Ok(latest(later.collect()).into_iter().collect())
}

/// Returns who later took over what the cue asks a person for and a hit names one of.
fn taken_over_since(asking: Asking<'_>, hit: &Ranked, now: Timestamp) -> Result<Vec<Since>> {
    let Asking { engine, reader, cue } = asking;
    let Some(charge) = Charge::told_in(&hit.memory.text, cue) else { return Ok(Vec::new()) };
    let words = charge.words.clone();
    let search = NameSearch {
        words,
        named_by_max: u64::MAX,
        beside: TAKING_OVER,
        changing: &[],
        who: SPEAKERS,
    };
    let mut since = named_since(engine, reader, (hit.number, &hit.memory), search, now)?.since;
    since.retain(|(_, memory)| may_replace(memory, hit) && charge.is_handed_over_in(&memory.text));
    Ok(latest(since).into_iter().collect())
}

/// The latest of several that replace one thing.
fn latest(since: Vec<(MemoryNumber, Memory)>) -> Option<Since> {
    let last = since.into_iter().max_by_key(|(number, memory)| (memory.turn_at, *number));
    last.map(|(number, memory)| Since { replaces: true, tie: Tie::Word, number, memory })
}

pub(super) fn may_replace(memory: &Memory, hit: &Ranked) -> bool {
    is_spoken(memory)
        && memory.role != Role::System
        && memory.valid_to.is_none()
        && memory.project == hit.memory.project
        && memory.text.len() <= TEXT_BYTES_MAX
}
