//! What holds now stands above what it replaced, wherever in a chain of corrections the cue hit;
//! what is outdated or disputed is told beside the hits.

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{Difference, Dispute, MemoryNumber, Reader};
use jiff::Timestamp;

use super::changes::changed;
use super::cue::{Cue, words_of_in_order};
use super::found::Evidence;
use super::rank::{Ranked, Scored};
use super::values::{Sameness, Wanted, retold};
use super::{Hint, Hit, whole_hit};
use crate::error::Result;
use crate::relate::CHAIN_MAX;
use crate::remarks::Wording;

/// What an outdated memory keeps of its score.
pub(super) const STALE_FACTOR: f64 = 0.5;
/// What ends the reason of an outdated memory.
const STALE_SUFFIX: &str = " · stale";
/// What ends the reason of a memory that stands above another for what the two tell.
const RAISED_SUFFIX: &str = ", put above another it answers in place of";
/// What took the place of another stands this much above it.
const MARGIN: f64 = 0.0001;
/// Outdated candidates whose successors are looked up.
const OUTDATED_MAX: usize = 64;
/// The best hits whose predecessors and disputes are looked up.
const HITS_LOOKED_AT: usize = 12;
/// Predecessors of one hit that may be told.
const PREDECESSORS_MAX: usize = 3;

/// The kind of hint that asks which of two memories holds.
pub(crate) const HINT_KIND: &str = "contradiction";

/// Words that ask how it used to be.
const HISTORY_WORDS: &[&str] = &[
    "previously",
    "previous",
    "earlier",
    "formerly",
    "former",
    "originally",
    "original",
    "initially",
    "früher",
    "vorher",
    "ursprünglich",
    "раньше",
    "прежде",
    "изначально",
    "avant",
    "auparavant",
    "antes",
    "anteriormente",
];
/// "Before" these it says when something is done: "before it expires", "before each commit".
const AFTER_BEFORE: &[&str] =
    &["it", "they", "we", "i", "you", "he", "she", "somebody", "each", "every", "any", "a", "an"];
/// What asks for what was first of all, wherever it stands …
const AT_FIRST: &str = "\
     originally|initially|in the first place|at first|very first|start with|started with|\
     begin with|began with|back then|in the beginning|at the beginning|zuerst|am anfang|\
     ursprünglich|au début|al principio|сначала|изначально";
/// … and at the beginning: an "original image" may be anything.
const FIRST: &str = "\
     original|the original|our original|what was the original|what was our original|initial|\
     the initial|what was the initial";
/// What asks for what was before.
const FORMER: &str = "\
     previous|previously|former|formerly|used to|früher|vorher|раньше|прежде|auparavant|\
     anteriormente";
/// The same, in a script without blanks.
const HISTORY_MARKS: &[&str] = &["以前", "之前"];

/// Which of the candidates are outdated, and what took their place by the time of asking.
#[derive(Default, Clone)]
pub(crate) struct Corrections {
    /// Outdated → what was said instead, step by step.
    pub(super) successor: BTreeMap<MemoryNumber, MemoryNumber>,
    /// What was said first, and what disputes it; only where somebody asks how it was.
    disputes: Vec<(MemoryNumber, MemoryNumber)>,
    pub(super) asks_for_history: bool,
}

impl Corrections {
    /// Follows the chains of all outdated candidates to their ends.
    pub(crate) fn look_up(
        reader: &Reader,
        cue: &Cue,
        evidence: &BTreeMap<MemoryNumber, Evidence>,
        now: Timestamp,
    ) -> Result<Self> {
        let is_outdated = |evidence: &Evidence| {
            evidence.ended_at_ms.is_some_and(|ended| ended <= now.as_millisecond())
        };
        let outdated = evidence.iter().filter(|(_, evidence)| is_outdated(evidence));
        let mut found = Self { asks_for_history: asks_for_history(cue), ..Self::default() };
        if found.asks_for_history {
            let numbers: Vec<MemoryNumber> = evidence.keys().copied().collect();
            let disputes = reader.disputes_of(&numbers)?.into_iter();
            found.disputes = disputes.map(|d| (d.about.earlier, d.about.later)).collect();
        }
        for (number, _) in outdated.take(OUTDATED_MAX) {
            found.follow(reader, *number, now)?;
        }
        Ok(found)
    }

    fn follow(&mut self, reader: &Reader, from: MemoryNumber, now: Timestamp) -> Result<()> {
        let mut number = from;
        for _ in 0..CHAIN_MAX {
            if self.successor.contains_key(&number) {
                break;
            }
            let next = reader.successors(number)?.into_iter().rfind(|next| next.at <= now);
            let Some(next) = next else { break };
            self.successor.insert(number, next.new);
            number = next.new;
        }
        Ok(())
    }

    /// Returns everything that took somebody's place.
    pub(crate) fn heirs(&self) -> Vec<MemoryNumber> {
        self.successor.values().copied().collect()
    }

    /// Returns what comes after a memory in its chain, the next first. A circle ends where it
    /// would begin again.
    pub(super) fn chain(&self, from: MemoryNumber) -> Vec<MemoryNumber> {
        let mut seen = BTreeSet::from([from]);
        let mut chain = Vec::new();
        let mut number = from;
        while let Some(next) = self.successor.get(&number) {
            if !seen.insert(*next) {
                break;
            }
            chain.push(*next);
            number = *next;
        }
        chain
    }

    /// Lets what holds inherit how well the cue fits what it replaced, and halves what is outdated.
    /// Whoever asks how it was finds the old wording right below the new one instead.
    pub(crate) fn settle(&self, scored: &mut [Scored]) {
        self.inherit(scored);
        if self.asks_for_history {
            self.bring_history(scored);
            return;
        }
        for scored in scored.iter_mut().filter(|own| self.successor.contains_key(&own.number)) {
            scored.score *= STALE_FACTOR;
            scored.reason.push_str(" × 0.5");
        }
    }

    fn inherit(&self, scored: &mut [Scored]) {
        let outdated = scored.iter().filter(|own| self.successor.contains_key(&own.number));
        let fit = |own: &Scored| own.score - own.timeliness + own.support;
        let fits: Vec<(MemoryNumber, f64)> = outdated.map(|own| (own.number, fit(own))).collect();
        for (old, mut fit) in fits {
            for next in self.chain(old) {
                fit += MARGIN;
                let Some(heir) = scored.iter_mut().find(|own| own.number == next) else { continue };
                // What its own session adds comes on top later, instead of that of the old one.
                let inherited = fit + heir.timeliness - heir.support;
                if heir.score < inherited {
                    heir.score = inherited;
                    heir.reason.push_str(&format!(" → {:.3} by what it replaces", heir.score));
                }
            }
        }
    }

    fn bring_history(&self, scored: &mut [Scored]) {
        // How it was is asked because it is long ago: to have been said just now is no merit.
        for own in scored.iter_mut().filter(|own| 0.0 < own.timeliness) {
            own.score -= own.timeliness;
            own.reason.push_str(" − recency, asked how it was");
        }
        let score_of = |scored: &[Scored], number: MemoryNumber| {
            scored.iter().find(|own| own.number == number).map(|own| own.score)
        };
        let chains =
            self.successor.keys().filter_map(|old| Some((*old, *self.chain(*old).last()?)));
        let pairs: Vec<(MemoryNumber, MemoryNumber)> =
            chains.chain(self.disputes.iter().copied()).collect();
        for (old, new) in pairs {
            let Some(newer) = score_of(scored, new) else { continue };
            let old = scored.iter_mut().find(|own| own.number == old);
            if let Some(old) = old.filter(|old| old.score < newer - MARGIN) {
                old.score = newer - MARGIN;
                old.reason.push_str(&format!(" → {:.3} as it was before", old.score));
            }
        }
    }
}

/// Tells whether the cue asks how it used to be, or for words as they were.
fn asks_for_history(cue: &Cue) -> bool {
    let has = |word: &str| cue.words.iter().any(|own| own == word);
    !cue.phrases.is_empty()
        || asks_before(cue)
        || HISTORY_WORDS.iter().any(|word| has(word))
        // What is done with the old thing is asked of now.
        || has("old") && !cue.is_of_now()
        || Wording::of(&cue.text).has_any(AT_FIRST)
        || Wording::of(&cue.text).has_any("used to")
        || HISTORY_MARKS.iter().any(|mark| cue.text.contains(mark))
}

/// Tells which of several figures is asked for. Where it may or may not be asked how it was, none
/// is better than another.
fn wanted(cue: &Cue, now: Timestamp) -> Option<Wanted> {
    if !asks_for_history(cue) {
        let until = cue.days.and_then(|days| Timestamp::from_millisecond(days.millis().1).ok());
        return Some(Wanted::At(until.map_or(now, |until| until.min(now))));
    }
    let wording = Wording::of(&cue.text);
    let is_first = wording.has_any(AT_FIRST) || wording.begins_any(FIRST);
    let is_former = wording.has_any(FORMER)
        || wording.begins_any("old|the old")
        || asks_before(cue) && wording.has_any("was|were|did|had");
    match (cue.phrases.is_empty(), is_first, is_former) {
        (true, true, _) => Some(Wanted::First),
        (true, false, true) => Some(Wanted::Former),
        _ => None,
    }
}

/// Tells whether the cue asks how it was before something: "the port before the move". What is
/// asked in the present is done before something else: "how long do we wait before giving up".
fn asks_before(cue: &Cue) -> bool {
    let words = words_of_in_order(&cue.text);
    let mut after = words.iter().skip_while(|word| *word != "before").skip(1);
    let has_before = words.iter().any(|word| word == "before");
    let is_over = after.next().is_none_or(|next| !AFTER_BEFORE.contains(&next.as_str()));
    has_before && is_over && !cue.is_of_now()
}

/// What is to be told about the hits beside them.
pub(crate) struct Beside {
    /// Outdated and disputed memories, each with the id of the one to believe or to compare.
    pub(crate) anti_hits: Vec<Hit>,
    /// The dispute worth a hint.
    pub(crate) dispute: Option<Dispute>,
}

/// Puts every successor above what it replaced; what was said later, by the time asked for, above
/// what it disputes or tells otherwise, or below where it is asked how it was; marks what is
/// outdated; and looks up what else to tell.
pub(crate) fn order(
    reader: &Reader,
    (cue, corrections): (&Cue, &Corrections),
    ranked: &mut Vec<Ranked>,
    now: Timestamp,
    was_hinted: impl Fn(&Dispute) -> bool,
) -> Result<Beside> {
    let corrections = &corrections.with_copies(reader, ranked)?;
    bring_current(reader, corrections, ranked)?;
    let top: Vec<MemoryNumber> = ranked.iter().take(HITS_LOOKED_AT).map(|hit| hit.number).collect();
    let disputes = reader.disputes_of(&top)?;
    let mut above: Vec<(MemoryNumber, MemoryNumber)> = Vec::new();
    for hit in ranked.iter() {
        let mut old = hit.number;
        for next in corrections.chain(hit.number) {
            above.push((old, next));
            old = next;
        }
    }
    let wanted = wanted(cue, now);
    let retold =
        wanted.map_or_else(Vec::new, |wanted| retold(cue, ranked, (wanted, Sameness::Likely), now));
    if let Some(Wanted::At(until)) = wanted {
        let is_said = |number: &MemoryNumber| {
            ranked.iter().any(|hit| hit.number == *number && hit.memory.turn_at <= until)
        };
        let disputes = disputes.iter().map(|dispute| (dispute.about.earlier, dispute.about.later));
        above.extend(disputes.filter(|(_, later)| is_said(later)));
        above.extend(changed(cue, ranked, until));
        above.extend(latest_first(ranked, &retold));
    }
    above.extend(retold);
    raise(ranked, &above);
    for hit in ranked.iter_mut() {
        if hit.memory.valid_to.is_some_and(|until| until <= now) {
            hit.reason.push_str(STALE_SUFFIX);
        }
    }
    let mut anti_hits = outdated(reader, corrections, ranked, now)?;
    anti_hits.extend(disputed(reader, &disputes, now)?);
    let place = |dispute: &Dispute| {
        let pair = [dispute.about.earlier, dispute.about.later];
        ranked.iter().position(|hit| pair.contains(&hit.number))
    };
    let untold = disputes.into_iter().filter(|dispute| !was_hinted(dispute));
    let dispute = untold.min_by_key(place);
    Ok(Beside { anti_hits, dispute })
}

/// What took the place of one and the same, in something that the cue asks for: the latest holds.
fn latest_first(
    ranked: &[Ranked],
    since: &[(MemoryNumber, MemoryNumber)],
) -> Vec<(MemoryNumber, MemoryNumber)> {
    let said_at = |number: MemoryNumber| {
        ranked.iter().find(|hit| hit.number == number).map(|hit| hit.memory.turn_at)
    };
    let mut pairs = Vec::new();
    for (old, one) in since {
        let others = since.iter().filter(|(other_old, other)| other_old == old && other != one);
        let later = others.filter(|(_, other)| said_at(*one) < said_at(*other));
        pairs.extend(later.map(|(_, other)| (*one, *other)));
    }
    pairs
}

/// Adds what holds now where only the outdated wording made it among the ranked.
fn bring_current(
    reader: &Reader,
    corrections: &Corrections,
    ranked: &mut Vec<Ranked>,
) -> Result<()> {
    let mut missing: BTreeMap<MemoryNumber, (f64, String)> = BTreeMap::new();
    for hit in ranked.iter() {
        let Some(current) = corrections.chain(hit.number).last().copied() else { continue };
        if ranked.iter().all(|hit| hit.number != current) {
            let reason = format!("replaces {} which matched", hit.memory.id);
            missing.entry(current).or_insert((hit.score + MARGIN, reason));
        }
    }
    let numbers: Vec<MemoryNumber> = missing.keys().copied().collect();
    for (number, memory) in reader.numbered(&numbers)? {
        let (score, reason) = missing.remove(&number).unwrap_or_default();
        ranked.push(Ranked { number, memory, score, reason });
    }
    Ok(())
}

/// Raises the second of each pair above the first, where both are there. Nobody is put lower, so
/// that a dispute costs no memory its place before unrelated ones.
fn raise(ranked: &mut [Ranked], above: &[(MemoryNumber, MemoryNumber)]) {
    for _ in 0..above.len().min(CHAIN_MAX) {
        let mut is_settled = true;
        for (low, high) in above {
            let score_of = |number: &MemoryNumber| {
                ranked.iter().find(|hit| hit.number == *number).map(|hit| hit.score)
            };
            let (Some(low), Some(score)) = (score_of(low), score_of(high)) else { continue };
            if score <= low {
                let raised = ranked.iter_mut().find(|hit| hit.number == *high);
                if let Some(hit) = raised {
                    hit.score = low + MARGIN;
                    if !hit.reason.ends_with(RAISED_SUFFIX) {
                        hit.reason.push_str(RAISED_SUFFIX);
                    }
                }
                is_settled = false;
            }
        }
        if is_settled {
            break;
        }
    }
    ranked.sort_by(|left, right| {
        right.score.total_cmp(&left.score).then_with(|| left.number.cmp(&right.number))
    });
}

/// Returns what the best hits have replaced, the most recent first.
fn outdated(
    reader: &Reader,
    corrections: &Corrections,
    ranked: &[Ranked],
    now: Timestamp,
) -> Result<Vec<Hit>> {
    let mut hits = Vec::new();
    for hit in ranked.iter().take(HITS_LOOKED_AT) {
        if corrections.successor.contains_key(&hit.number) {
            continue;
        }
        let mut before = Vec::new();
        let mut seen = BTreeSet::from([hit.number]);
        let mut number = hit.number;
        while before.len() < PREDECESSORS_MAX {
            let last = reader.predecessors(number)?;
            let last = last.into_iter().rfind(|last| last.at <= now && !seen.contains(&last.old));
            let Some(last) = last else { break };
            number = last.old;
            seen.insert(number);
            before.push(number);
        }
        for (_, memory) in reader.numbered(&before)? {
            let mut old = whole_hit(&memory, 0.0, format!("superseded{STALE_SUFFIX}"), now);
            old.relation = Some("superseded_by");
            old.partner_id = Some(hit.memory.id);
            hits.push(old);
        }
    }
    Ok(hits)
}

/// Returns the older side of each dispute.
fn disputed(reader: &Reader, disputes: &[Dispute], now: Timestamp) -> Result<Vec<Hit>> {
    let mut hits = Vec::new();
    for dispute in disputes {
        for (_, memory) in reader.numbered(&[dispute.about.earlier])? {
            let mut hit = whole_hit(&memory, 0.0, "disputed".to_owned(), now);
            hit.relation = Some("disputed_with");
            hit.partner_id = Some(dispute.later_id);
            hits.push(hit);
        }
    }
    Ok(hits)
}

/// Asks which of two memories holds.
pub(crate) fn dispute_hint(dispute: &Dispute) -> Hint {
    let about = &dispute.about;
    let differ = match about.what {
        Difference::Negation => "one says so and the other says not".to_owned(),
        Difference::Number
        | Difference::Date
        | Difference::Version
        | Difference::Name
        | Difference::Path => {
            format!("they differ in a {}: {} or {}", about.what, about.old_value, about.new_value)
        }
    };
    Hint {
        kind: HINT_KIND,
        severity: "warning",
        source_ids: vec![dispute.earlier_id, dispute.later_id],
        text: format!(
            "two memories disagree, {differ}; ask which one holds, memory_contradict settles it"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cue: &str, expect: bool) {
        assert_eq!(asks_for_history(&Cue::understand(cue, Timestamp::UNIX_EPOCH)), expect, "{cue}");
    }

    #[test]
    fn before_asks_how_it_was_unless_something_is_done_before_another() {
        check("which port was it before", true);
        check("the staging port before the move", true);
        check("what did we use before Postgres", true);
        check("why did we go for Postgres in the first place", true);
        check("which model did we start with", true);
        check("how do I start the daemon", false);
        check("how long do we wait for a locker before a door command is given up", false);
        check("what should be run before the release", false);
        check("how long until a lease ends before it expires", false);
    }
}
