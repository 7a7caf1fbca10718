//! The search itself: term at a time over each part, rare terms first; common ones are only looked
//! up for memories that can still be among the best.

use super::asked::Asked;
use super::{LexicalHit, LexicalIndex, Part};
use crate::index::bm25::{self, Saturation};
use crate::index::segment::{Postings, Probe};
use crate::record::MemoryNumber;

/// Bounds are sums of rounded numbers: what is this close to the last of the best is looked at.
const SLACK: f32 = 1.000_1;

/// A term with its weight over the whole index.
struct Weighted<'a> {
    term: &'a [u8],
    mask: u64,
    weight: f32,
}

/// Returns the best memories, best first, then by number.
pub(super) fn best(
    index: &LexicalIndex,
    asked: &Asked,
    admits: &dyn Fn(MemoryNumber) -> bool,
    limit: usize,
) -> Vec<LexicalHit> {
    let terms = weighted(index, asked);
    if limit == 0 || terms.is_empty() {
        return Vec::new();
    }
    let mut round = Round {
        asked,
        terms: &terms,
        mean_length: index.totals().mean_length(),
        admits,
        best: Best::new(limit),
        sums: Vec::new(),
        masks: Vec::new(),
        touched: Vec::new(),
    };
    for part in index.parts() {
        round.search(part);
    }
    round.best.finish()
}

/// Returns the score of each memory asked for.
pub(super) fn scores(index: &LexicalIndex, asked: &Asked, numbers: &[MemoryNumber]) -> Vec<f32> {
    let terms = weighted(index, asked);
    let saturation = Saturation::new(index.totals().mean_length());
    let mut order: Vec<(usize, u32)> =
        numbers.iter().map(|number| number.get()).enumerate().collect();
    order.sort_unstable_by_key(|(_, number)| *number);
    let mut scores = vec![0.0; numbers.len()];
    for part in index.parts() {
        let start = order.partition_point(|(_, number)| *number < part.first());
        let end = order.partition_point(|(_, number)| *number < part.end());
        let inside = order.get(start..end).unwrap_or_default();
        for term in &terms {
            let mut probe = part.list(term.term).probe();
            for (place, number) in inside {
                let local = number - part.first();
                let count = probe.count_of(local);
                if count > 0
                    && let Some(score) = scores.get_mut(*place)
                {
                    *score += term.weight * saturation.share(count, part.length(local));
                }
            }
        }
    }
    scores
}

/// Returns for each memory how much of what the question's terms tell is in it, however often and
/// however long it is: from 0 to 1.
pub(super) fn coverage(index: &LexicalIndex, asked: &Asked, numbers: &[MemoryNumber]) -> Vec<f32> {
    let terms = weighted(index, asked);
    let mut sorted: Vec<u32> = numbers.iter().map(|number| number.get()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let counts = Counts::of(index, &terms, &sorted);
    let information = index.information_in(asked).max(f32::MIN_POSITIVE);
    let share = |number: &MemoryNumber| {
        let (sums, _) = counts.sums(std::slice::from_ref(number));
        let there = terms.iter().zip(sums).filter(|(_, count)| 0.0 < *count);
        there.map(|(term, _)| term.weight).sum::<f32>() / information
    };
    numbers.iter().map(share).collect()
}

/// Returns what each scene scores, its memories read as one text: the words of a question are often
/// spread over neighbouring turns.
pub(super) fn scene_scores(
    index: &LexicalIndex,
    asked: &Asked,
    scenes: &[Vec<MemoryNumber>],
) -> Vec<f32> {
    let terms = weighted(index, asked);
    let mut numbers: Vec<u32> = scenes.iter().flatten().map(|number| number.get()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let counts = Counts::of(index, &terms, &numbers);
    let texts: Vec<(Vec<f32>, f32)> = scenes.iter().map(|scene| counts.sums(scene)).collect();
    let n_words: f32 = texts.iter().map(|(_, length)| length).sum();
    #[expect(clippy::cast_precision_loss, reason = "a few dozen scenes")]
    let saturation = Saturation::new((n_words / texts.len().max(1) as f32).max(1.0));
    let score = |(sums, length): &(Vec<f32>, f32)| {
        let shares = sums.iter().map(|count| saturation.share_of(*count, *length));
        terms.iter().zip(shares).map(|(term, share)| term.weight * share).sum()
    };
    texts.iter().map(score).collect()
}

/// How often each term is in each of some memories, and how long those are.
struct Counts<'a> {
    numbers: &'a [u32],
    lengths: Vec<u16>,
    /// One row for each term.
    rows: Vec<Vec<u16>>,
}

impl<'a> Counts<'a> {
    /// `numbers` are sorted.
    fn of(index: &LexicalIndex, terms: &[Weighted<'_>], numbers: &'a [u32]) -> Self {
        let mut lengths = vec![0; numbers.len()];
        let mut rows = vec![vec![0; numbers.len()]; terms.len()];
        for part in index.parts() {
            let start = numbers.partition_point(|number| *number < part.first());
            let end = numbers.partition_point(|number| *number < part.end());
            let inside = numbers.get(start..end).unwrap_or_default();
            let places = || (start..end).zip(inside.iter().map(|number| number - part.first()));
            for (place, local) in places() {
                if let Some(length) = lengths.get_mut(place) {
                    *length = part.length(local);
                }
            }
            for (term, row) in terms.iter().zip(&mut rows) {
                let mut probe = part.list(term.term).probe();
                for (place, local) in places() {
                    if let Some(count) = row.get_mut(place) {
                        *count = probe.count_of(local);
                    }
                }
            }
        }
        Self { numbers, lengths, rows }
    }

    /// Returns how often each term is in a scene, and how long the scene is.
    fn sums(&self, scene: &[MemoryNumber]) -> (Vec<f32>, f32) {
        let places: Vec<usize> = (scene.iter())
            .filter_map(|number| self.numbers.binary_search(&number.get()).ok())
            .collect();
        let sum = |column: &[u16]| {
            places
                .iter()
                .filter_map(|place| column.get(*place))
                .map(|count| f32::from(*count))
                .sum()
        };
        (self.rows.iter().map(|row| sum(row)).collect(), sum(&self.lengths))
    }
}

/// The terms that are anywhere, rarest first; the order decides how sums round, so it may not
/// depend on how memories are spread.
fn weighted<'a>(index: &LexicalIndex, asked: &'a Asked) -> Vec<Weighted<'a>> {
    let totals = index.totals();
    let mut terms: Vec<Weighted<'_>> = Vec::new();
    for (place, term) in asked.terms.iter().enumerate() {
        let frequency = index.frequency(term);
        if frequency > 0 {
            let weight = bm25::weight(totals, frequency);
            terms.push(Weighted { term: term.as_bytes(), mask: 1 << place, weight });
        }
    }
    terms.sort_by(|one, other| {
        other.weight.total_cmp(&one.weight).then_with(|| one.term.cmp(other.term))
    });
    terms
}

/// The postings of a term in one part.
#[derive(Clone, Copy)]
pub(super) enum List<'a> {
    Sealed(Option<Postings<'a>>),
    Open(&'a [(u32, u16)]),
}

impl<'a> List<'a> {
    pub(super) fn n_memories(self) -> u32 {
        match self {
            List::Sealed(postings) => postings.map_or(0, Postings::n_memories),
            List::Open(postings) => u32::try_from(postings.len()).unwrap_or(u32::MAX),
        }
    }

    /// The most a memory of the part gets of the term's weight.
    fn share_max(self, drift: f32) -> f32 {
        match self {
            List::Sealed(Some(postings)) => (postings.share_max() * drift).min(1.0),
            List::Sealed(None) | List::Open([]) => 0.0,
            List::Open(_) => 1.0,
        }
    }

    fn probe(self) -> Lookup<'a> {
        match self {
            List::Sealed(postings) => Lookup::Sealed(postings.map(Postings::probe)),
            List::Open(postings) => Lookup::Open(postings),
        }
    }
}

enum Lookup<'a> {
    Sealed(Option<Probe<'a>>),
    Open(&'a [(u32, u16)]),
}

impl Lookup<'_> {
    fn count_of(&mut self, local: u32) -> u16 {
        match self {
            Lookup::Sealed(probe) => probe.as_mut().map_or(0, |probe| probe.count_of(local)),
            Lookup::Open(postings) => {
                let found = postings.binary_search_by_key(&local, |(memory, _)| *memory).ok();
                found.and_then(|place| postings.get(place)).map_or(0, |(_, count)| *count)
            }
        }
    }
}

/// One search on its way through the parts.
struct Round<'a> {
    asked: &'a Asked,
    terms: &'a [Weighted<'a>],
    mean_length: f32,
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
    fn search(&mut self, part: Part<'_>) {
        let n_numbers = part.end().saturating_sub(part.first()) as usize;
        if self.sums.len() < n_numbers {
            self.sums.resize(n_numbers, 0.0);
        }
        let drift = (self.mean_length / part.totals().mean_length()).max(1.0);
        let lists: Vec<List<'_>> = self.terms.iter().map(|term| part.list(term.term)).collect();
        let to_come = to_come(self.terms, &lists, drift);
        if self.asked.all.is_empty() {
            let n_scanned = self.scan_while_needed(part, &lists, &to_come);
            self.look_up(part, &lists, &to_come, n_scanned);
        } else {
            self.scan_with_masks(part, &lists, n_numbers);
        }
        self.collect(part.first());
    }

    /// Scans the rarest terms until memories that have none of them cannot be among the best.
    /// Returns how many were scanned.
    fn scan_while_needed(&mut self, part: Part<'_>, lists: &[List<'_>], to_come: &[f32]) -> usize {
        let mut floor = self.best.floor;
        for (place, list) in lists.iter().enumerate() {
            let most = to_come.get(place).copied().unwrap_or(0.0);
            if most * SLACK < floor {
                return place;
            }
            if list.n_memories() > 0 {
                self.scan(part, place, *list);
            }
            // Later parts have the floor of the earlier ones; the first has to find its own.
            if !self.best.is_full() {
                floor = floor.max(self.floor_of_part(part.first()));
            }
        }
        lists.len()
    }

    fn scan(&mut self, part: Part<'_>, place: usize, list: List<'_>) {
        let weight = self.terms.get(place).map_or(0.0, |term| term.weight);
        let saturation = Saturation::new(self.mean_length);
        let (sums, touched) = (&mut self.sums, &mut self.touched);
        let mut add = |local: u32, share: f32| {
            if let Some(sum) = sums.get_mut(local as usize) {
                if *sum == 0.0 {
                    touched.push(local);
                }
                *sum += weight * share;
            }
        };
        match (part, list) {
            (Part::Segment(segment), List::Sealed(Some(postings))) => {
                let lengths = segment.lengths();
                postings.for_each(|local, count| {
                    let length =
                        lengths.get(local as usize).map_or(0, |two| u16::from_le_bytes(*two));
                    add(local, saturation.share(count, length));
                });
            }
            (_, List::Sealed(_)) => {}
            (_, List::Open(postings)) => {
                for (local, count) in postings {
                    add(*local, saturation.share(*count, part.length(*local)));
                }
            }
        }
    }

    /// What the last of the best has at least, by this part alone.
    fn floor_of_part(&self, first: u32) -> f32 {
        if self.touched.len() < self.best.limit {
            return 0.0;
        }
        let mut sums: Vec<f32> = self
            .touched
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
    fn look_up(&mut self, part: Part<'_>, lists: &[List<'_>], to_come: &[f32], start: usize) {
        if start == lists.len() {
            return;
        }
        let floor = self.best.floor.max(self.floor_of_part(part.first()));
        let saturation = Saturation::new(self.mean_length);
        let mut open: Vec<u32> = self.touched.clone();
        open.sort_unstable();
        for (place, (list, term)) in lists.iter().zip(self.terms).enumerate().skip(start) {
            let most = to_come.get(place).copied().unwrap_or(0.0);
            let sums = &mut self.sums;
            let sum_of =
                |sums: &[f32], local: u32| sums.get(local as usize).copied().unwrap_or(0.0);
            open.retain(|local| (sum_of(sums, *local) + most) * SLACK >= floor);
            let mut probe = list.probe();
            for local in &open {
                let count = probe.count_of(*local);
                if count > 0
                    && let Some(sum) = sums.get_mut(*local as usize)
                {
                    *sum += term.weight * saturation.share(count, part.length(*local));
                }
            }
        }
    }

    /// Scans every term and notes which memory has which: phrases need them all.
    fn scan_with_masks(&mut self, part: Part<'_>, lists: &[List<'_>], n_numbers: usize) {
        if self.masks.len() < n_numbers {
            self.masks.resize(n_numbers, 0);
        }
        for (place, list) in lists.iter().enumerate() {
            self.scan(part, place, *list);
            let mask = self.terms.get(place).map_or(0, |term| term.mask);
            let masks = &mut self.masks;
            let mut note = |local: u32| {
                if let Some(known) = masks.get_mut(local as usize) {
                    *known |= mask;
                }
            };
            match list {
                List::Sealed(Some(postings)) => postings.for_each(|local, _| note(local)),
                List::Sealed(None) => {}
                List::Open(postings) => postings.iter().for_each(|(local, _)| note(*local)),
            }
        }
        for local in &self.touched {
            let mask = self.masks.get_mut(*local as usize).map_or(0, std::mem::take);
            if !self.asked.is_met(mask)
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

/// What the terms from each place on can add at most.
fn to_come(terms: &[Weighted<'_>], lists: &[List<'_>], drift: f32) -> Vec<f32> {
    let mut sums: Vec<f32> =
        terms.iter().zip(lists).map(|(term, list)| term.weight * list.share_max(drift)).collect();
    let mut sum = 0.0;
    for most in sums.iter_mut().rev() {
        sum += *most;
        *most = sum;
    }
    sums
}

/// The best so far, at most twice as many as wanted.
struct Best {
    limit: usize,
    hits: Vec<LexicalHit>,
    /// What a hit needs at least; 0 until there are enough.
    floor: f32,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self { limit, hits: Vec::new(), floor: 0.0 }
    }

    fn is_full(&self) -> bool {
        self.floor > 0.0
    }

    fn take(&mut self, hit: LexicalHit) {
        self.hits.push(hit);
        if self.limit.saturating_mul(2) <= self.hits.len() {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.hits.len() < self.limit {
            return;
        }
        let last = self.limit.saturating_sub(1);
        let (_, lowest, _) = self.hits.select_nth_unstable_by(last, order);
        self.floor = lowest.score;
        self.hits.truncate(self.limit);
    }

    fn finish(mut self) -> Vec<LexicalHit> {
        self.hits.sort_unstable_by(order);
        self.hits.truncate(self.limit);
        self.hits
    }
}

fn order(one: &LexicalHit, other: &LexicalHit) -> std::cmp::Ordering {
    other.score.total_cmp(&one.score).then(one.number.cmp(&other.number))
}
