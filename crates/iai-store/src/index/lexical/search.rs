//! The search itself: term at a time over each part, rare terms first. Common ones are only looked
//! up for memories that can still be among the best.
//!
//! The work is bounded whatever the size of the store. As long as the postings of a question's
//! rarest terms fit the bound, or no memory without those terms could be among the best, the answer
//! is that of reading everything. Beyond that, a memory is found by the rarest terms as far back as
//! the bound reaches, the newest first, and its score is exact all the same.

use super::best::Best;
use super::list::List;
use super::resolved::{Resolved, Searched};
use super::{LexicalHit, Part};
use crate::index::bm25::Saturation;
use crate::record::MemoryNumber;

/// Bounds are sums of rounded numbers: what is this close to the last of the best is looked at.
const SLACK: f32 = 1.000_1;
/// Postings read times terms looked up for each, about: so many take a millisecond.
const STEPS_MAX: usize = 1 << 18;
/// Whatever the number of terms, no fewer postings are read than this …
const POSTINGS_MAX_LEAST: usize = 1 << 14;
/// … and no more than this.
const POSTINGS_MAX_MOST: usize = 1 << 16;

/// How many postings a search with so many terms reads at most.
pub(super) fn n_postings_max(n_terms: usize) -> u32 {
    let n_postings = STEPS_MAX / n_terms.max(1);
    let bounded = n_postings.clamp(POSTINGS_MAX_LEAST, POSTINGS_MAX_MOST);
    u32::try_from(bounded).unwrap_or(u32::MAX)
}

/// Returns the best memories, best first, then by number.
pub(super) fn best(
    resolved: &Resolved<'_>,
    admits: &dyn Fn(MemoryNumber) -> bool,
    limit: usize,
    n_postings_max: u32,
) -> Vec<LexicalHit> {
    if limit == 0 || resolved.terms.is_empty() {
        return Vec::new();
    }
    let mut round = Round {
        resolved,
        horizons: horizons(resolved, n_postings_max),
        saturation: Saturation::new(resolved.mean_length),
        has_phrases: !resolved.asked.all.is_empty(),
        admits,
        best: Best::new(limit),
        sums: Vec::new(),
        masks: Vec::new(),
        touched: Vec::new(),
    };
    for searched in &resolved.parts {
        round.search(searched);
    }
    round.best.finish()
}

/// Returns for each term the first number whose memories are found by it; the maximum where it is
/// only looked up.
fn horizons(resolved: &Resolved<'_>, n_postings_max: u32) -> Vec<u32> {
    let finding = finding_terms(resolved);
    let mut n_left = u64::from(n_postings_max);
    let mut horizon_of = |(place, n_memories): (usize, u64)| {
        if finding.get(place) != Some(&true) {
            return u32::MAX;
        }
        let n_read = n_memories.min(n_left);
        n_left -= n_read;
        if n_read == n_memories { 0 } else { number_of_newest(resolved, place, n_read) }
    };
    let terms = resolved.terms.iter().map(|term| term.n_memories).enumerate();
    terms.map(&mut horizon_of).collect()
}

/// Tells which terms find memories: any word does, but of a phrase only its rarest, because what it
/// is not in has not the whole phrase.
fn finding_terms(resolved: &Resolved<'_>) -> Vec<bool> {
    let asked = &resolved.asked;
    let is_phrase_found_by = |place: usize| {
        let is_first = |phrase: &&u64| {
            resolved.terms.iter().position(|term| **phrase & term.mask != 0) == Some(place)
        };
        asked.all.iter().find(is_first).is_some()
    };
    let terms = resolved.terms.iter().enumerate();
    terms.map(|(place, term)| asked.any & term.mask != 0 || is_phrase_found_by(place)).collect()
}

/// Returns the number of the oldest of a term's `n` newest memories.
fn number_of_newest(resolved: &Resolved<'_>, place: usize, n: u64) -> u32 {
    let mut n_left = n;
    for searched in resolved.parts.iter().rev() {
        let n_here = u64::from(searched.n_memories(place));
        if 0 < n_left && n_left <= n_here {
            let n_newest = u32::try_from(n_left).unwrap_or(u32::MAX);
            let local = searched.lists.get(place).and_then(|list| list.nth_from_end(n_newest));
            return local.map_or(u32::MAX, |local| searched.part.first().saturating_add(local));
        }
        n_left = n_left.saturating_sub(n_here);
    }
    u32::MAX
}

/// One search on its way through the parts.
struct Round<'a> {
    resolved: &'a Resolved<'a>,
    /// By term.
    horizons: Vec<u32>,
    saturation: Saturation,
    /// With phrases, memories fall out at the end, so that none can be left out before.
    has_phrases: bool,
    admits: &'a dyn Fn(MemoryNumber) -> bool,
    best: Best,
    /// What each memory of the part has so far; all zero between two parts.
    sums: Vec<f32>,
    /// Which terms each has; used only when there are phrases, all zero between two parts.
    masks: Vec<u64>,
    /// Memories with a sum.
    touched: Vec<u32>,
}

impl Round<'_> {
    fn search(&mut self, searched: &Searched<'_>) {
        let part = searched.part;
        let n_numbers = part.end().saturating_sub(part.first()) as usize;
        if self.sums.len() < n_numbers {
            self.sums.resize(n_numbers, 0.0);
        }
        if self.has_phrases && self.masks.len() < n_numbers {
            self.masks.resize(n_numbers, 0);
        }
        let most = self.most_of_each(searched);
        let (pending, floor) = self.find(searched, &most);
        self.look_up(searched, &most, &pending, floor);
        self.drop_unmet();
        self.collect(part.first());
    }

    /// What each term can add at most to a memory of this part.
    fn most_of_each(&self, searched: &Searched<'_>) -> Vec<f32> {
        let drift = (self.resolved.mean_length / searched.part.totals().mean_length()).max(1.0);
        let terms = self.resolved.terms.iter().zip(&searched.lists);
        terms.map(|(term, list)| term.weight * list.share_max(drift)).collect()
    }

    /// Reads the rarest terms until memories that have none of them cannot be among the best.
    /// Returns the terms that were not read, and what the best have so far.
    fn find(&mut self, searched: &Searched<'_>, most: &[f32]) -> (Vec<usize>, Floor) {
        let part = searched.part;
        let n_numbers = part.end().saturating_sub(part.first());
        let mut floor = Floor { value: self.best.floor, highest: self.best.floor };
        let mut to_come: f32 = most.iter().sum();
        let mut pending = Vec::new();
        for (place, list) in searched.lists.iter().enumerate() {
            let horizon = self.horizons.get(place).copied().unwrap_or(u32::MAX);
            let start = horizon.saturating_sub(part.first());
            self.raise(&mut floor, to_come, part.first(), &self.touched);
            let is_too_little = !self.has_phrases && to_come * SLACK < floor.value;
            let most = most.get(place).copied().unwrap_or(0.0);
            to_come -= most;
            if is_too_little || n_numbers <= start {
                pending.push(place);
                continue;
            }
            if 0 < start {
                let older = |local: &u32| *local < start;
                let mut found: Vec<u32> = self.touched.iter().copied().filter(older).collect();
                found.sort_unstable();
                self.add_to(searched, place, &found);
            }
            self.scan(part, place, *list, start);
            floor.highest += most;
        }
        (pending, floor)
    }

    fn scan(&mut self, part: Part<'_>, place: usize, list: List<'_>, start: u32) {
        let Some(term) = self.resolved.terms.get(place) else { return };
        let (weight, saturation, has_phrases) = (term.weight, self.saturation, self.has_phrases);
        let (sums, masks, touched) = (&mut self.sums, &mut self.masks, &mut self.touched);
        let mut add = |local: u32, share: f32| {
            if let Some(sum) = sums.get_mut(local as usize) {
                if *sum == 0.0 {
                    touched.push(local);
                }
                *sum += weight * share;
            }
            if has_phrases {
                note(masks, local, term.mask);
            }
        };
        match part {
            Part::Segment(segment) => {
                let lengths = segment.lengths();
                list.for_each_from(start, |local, count| {
                    let length =
                        lengths.get(local as usize).map_or(0, |two| u16::from_le_bytes(*two));
                    add(local, saturation.share(count, length));
                });
            }
            Part::Tail(_) => list.for_each_from(start, |local, count| {
                add(local, saturation.share(count, part.length(local)));
            }),
        }
    }

    /// Looks what the last of the best has by now, where that could leave anybody out. Later parts
    /// have the floor of the earlier ones; the first has to find its own.
    fn raise(&self, floor: &mut Floor, to_come: f32, first: u32, locals: &[u32]) {
        if !self.best.is_full() && to_come * SLACK < floor.highest {
            floor.value = floor.value.max(self.floor_of(first, locals));
            floor.highest = floor.value;
        }
    }

    /// What the last of the best has at least, by these memories alone.
    fn floor_of(&self, first: u32, locals: &[u32]) -> f32 {
        if locals.len() < self.best.limit || self.has_phrases {
            return 0.0;
        }
        let mut sums: Vec<f32> = locals
            .iter()
            .filter(|local| (self.admits)(MemoryNumber::new(first.saturating_add(**local))))
            .filter_map(|local| self.sums.get(*local as usize).copied())
            .collect();
        match self.best.limit.checked_sub(1).filter(|last| *last < sums.len()) {
            None => 0.0,
            Some(last) => *sums.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1,
        }
    }

    /// Looks the other terms up for those that can still be among the best.
    fn look_up(
        &mut self,
        searched: &Searched<'_>,
        most: &[f32],
        pending: &[usize],
        mut floor: Floor,
    ) {
        if pending.is_empty() || self.touched.is_empty() {
            return;
        }
        let most_of = |place: &usize| most.get(*place).copied().unwrap_or(0.0);
        let mut to_come: f32 = pending.iter().map(most_of).sum();
        let mut open = self.touched.clone();
        for (n_done, place) in pending.iter().enumerate() {
            self.raise(&mut floor, to_come, searched.part.first(), &open);
            if 0.0 < floor.value {
                let sums = &self.sums;
                let sum_of = |local: u32| sums.get(local as usize).copied().unwrap_or(0.0);
                open.retain(|local| floor.value <= (sum_of(*local) + to_come) * SLACK);
            }
            if n_done == 0 {
                // Only now: of many memories few are left.
                open.sort_unstable();
            }
            self.add_to(searched, *place, &open);
            to_come -= most_of(place);
            floor.highest += most_of(place);
        }
    }

    /// Adds a term to these memories, which are in order, where they have it.
    fn add_to(&mut self, searched: &Searched<'_>, place: usize, locals: &[u32]) {
        let found = searched.lists.get(place).zip(self.resolved.terms.get(place));
        let Some((list, term)) = found else { return };
        let mut probe = list.probe();
        for local in locals {
            let count = probe.count_of(*local);
            if count == 0 {
                continue;
            }
            if let Some(sum) = self.sums.get_mut(*local as usize) {
                *sum += term.weight * self.saturation.share(count, searched.part.length(*local));
            }
            if self.has_phrases {
                note(&mut self.masks, *local, term.mask);
            }
        }
    }

    /// Takes what has no word and no whole phrase out again.
    fn drop_unmet(&mut self) {
        if !self.has_phrases {
            return;
        }
        for local in &self.touched {
            let mask = self.masks.get_mut(*local as usize).map_or(0, std::mem::take);
            if !self.resolved.asked.is_met(mask)
                && let Some(sum) = self.sums.get_mut(*local as usize)
            {
                *sum = 0.0;
            }
        }
    }

    /// Hands the sums in, and clears them.
    fn collect(&mut self, first: u32) {
        for local in self.touched.drain(..) {
            let score = self.sums.get_mut(local as usize).map_or(0.0, std::mem::take);
            let number = MemoryNumber::new(first.saturating_add(local));
            if score > 0.0 && self.best.floor <= score && (self.admits)(number) {
                self.best.take(LexicalHit { number, score });
            }
        }
        self.best.cut();
    }
}

/// What the last of the best has at least, as far as anybody looked.
struct Floor {
    value: f32,
    /// What it could have by now. Below that, looking may be worth its while.
    highest: f32,
}

fn note(masks: &mut [u64], local: u32, mask: u64) {
    if let Some(known) = masks.get_mut(local as usize) {
        *known |= mask;
    }
}
