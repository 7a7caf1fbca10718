//! A question with everything the index knows about its words, looked up once: what any memory or
//! scene scores under it.

use super::asked::Asked;
use super::list::List;
use super::{LexicalHit, LexicalIndex, LexicalQuery, Part, search};
use crate::index::bm25::{self, Saturation};
use crate::record::MemoryNumber;

/// The terms of a question in every part of the index.
pub(crate) struct Resolved<'a> {
    pub(super) asked: Asked,
    /// Those that are anywhere, rarest first; the order decides how sums round, so it may not
    /// depend on how memories are spread.
    pub(super) terms: Vec<Weighted>,
    /// By number.
    pub(super) parts: Vec<Searched<'a>>,
    pub(super) mean_length: f32,
    information: f32,
}

/// A term with its weight over the whole index.
pub(super) struct Weighted {
    pub(super) mask: u64,
    pub(super) weight: f32,
    pub(super) n_memories: u64,
}

/// A part with the postings of every term, in the order of the terms.
pub(super) struct Searched<'a> {
    pub(super) part: Part<'a>,
    pub(super) lists: Vec<List<'a>>,
}

impl<'a> Resolved<'a> {
    pub(super) fn new(index: &'a LexicalIndex, query: &LexicalQuery) -> Self {
        let asked = Asked::of(query);
        let totals = index.totals();
        let mut parts: Vec<Searched<'a>> = (index.parts())
            .map(|part| {
                let lists = asked.terms.iter().map(|term| part.list(term.as_bytes())).collect();
                Searched { part, lists }
            })
            .collect();
        let mut terms: Vec<(usize, Weighted)> = Vec::new();
        let mut information = 0.0;
        for place in 0..asked.terms.len() {
            let n_memories = parts.iter().map(|part| u64::from(part.n_memories(place))).sum();
            let weight = bm25::weight(totals, n_memories);
            information += weight;
            if 0 < n_memories {
                terms.push((place, Weighted { mask: 1 << place, weight, n_memories }));
            }
        }
        terms.sort_by(|(one_at, one), (other_at, other)| {
            let by_name = || asked.terms.get(*one_at).cmp(&asked.terms.get(*other_at));
            other.weight.total_cmp(&one.weight).then_with(by_name)
        });
        for part in &mut parts {
            let lists = terms.iter().filter_map(|(place, _)| part.lists.get(*place).copied());
            part.lists = lists.collect();
        }
        let terms = terms.into_iter().map(|(_, term)| term).collect();
        Self { asked, terms, parts, mean_length: totals.mean_length(), information }
    }

    /// Returns the best memories, best first, then by number; `admits` may refuse any.
    pub(crate) fn search(
        &self,
        admits: &dyn Fn(MemoryNumber) -> bool,
        limit: usize,
    ) -> Vec<LexicalHit> {
        search::best(self, admits, limit, search::n_postings_max(self.terms.len()))
    }

    /// Returns the most a memory could score.
    pub(crate) fn information(&self) -> f32 {
        self.information
    }

    /// Returns what each of these memories scores, 0 where nothing fits.
    pub(crate) fn scores(&self, numbers: &[MemoryNumber]) -> Vec<f32> {
        let counts = Counts::of(self, numbers.iter().copied());
        let saturation = Saturation::new(self.mean_length);
        let score = |number: &MemoryNumber| {
            let (sums, length) = counts.sums(std::slice::from_ref(number));
            self.score(&sums, length, saturation)
        };
        numbers.iter().map(score).collect()
    }

    /// Returns for each memory how much of what the question's terms tell is in it, however often
    /// and however long it is: from 0 to 1.
    pub(crate) fn coverage(&self, numbers: &[MemoryNumber]) -> Vec<f32> {
        let counts = Counts::of(self, numbers.iter().copied());
        let information = self.information.max(f32::MIN_POSITIVE);
        let share = |number: &MemoryNumber| {
            let (sums, _) = counts.sums(std::slice::from_ref(number));
            let there = self.terms.iter().zip(sums).filter(|(_, count)| 0.0 < *count);
            there.map(|(term, _)| term.weight).sum::<f32>() / information
        };
        numbers.iter().map(share).collect()
    }

    /// Returns for each memory how many of the question's terms are not in it.
    pub(crate) fn n_missing(&self, numbers: &[MemoryNumber]) -> Vec<usize> {
        let counts = Counts::of(self, numbers.iter().copied());
        let n_missing = |number: &MemoryNumber| {
            let (sums, _) = counts.sums(std::slice::from_ref(number));
            self.asked.terms.len() - sums.iter().filter(|count| 0.0 < **count).count()
        };
        numbers.iter().map(n_missing).collect()
    }

    /// Returns what each scene scores, its memories read as one text: the words of a question are
    /// often spread over neighbouring turns.
    pub(crate) fn scene_scores(&self, scenes: &[Vec<MemoryNumber>]) -> Vec<f32> {
        let counts = Counts::of(self, scenes.iter().flatten().copied());
        let texts: Vec<(Vec<f32>, f32)> = scenes.iter().map(|scene| counts.sums(scene)).collect();
        let n_words: f32 = texts.iter().map(|(_, length)| length).sum();
        #[expect(clippy::cast_precision_loss, reason = "a few dozen scenes")]
        let saturation = Saturation::new((n_words / texts.len().max(1) as f32).max(1.0));
        texts.iter().map(|(sums, length)| self.score(sums, *length, saturation)).collect()
    }

    fn score(&self, counts: &[f32], length: f32, saturation: Saturation) -> f32 {
        let shares = counts.iter().map(|count| saturation.share_of(*count, length));
        // From plain zero on: a sum over nothing would be minus zero.
        self.terms.iter().zip(shares).fold(0.0, |sum, (term, share)| sum + term.weight * share)
    }
}

impl Searched<'_> {
    pub(super) fn n_memories(&self, place: usize) -> u32 {
        self.lists.get(place).map_or(0, |list| list.n_memories())
    }
}

/// How often each term is in each of some memories, and how long those are.
struct Counts {
    /// Sorted, each once.
    numbers: Vec<u32>,
    lengths: Vec<u16>,
    /// One row for each term.
    rows: Vec<Vec<u16>>,
}

impl Counts {
    fn of(resolved: &Resolved<'_>, numbers: impl Iterator<Item = MemoryNumber>) -> Self {
        let mut numbers: Vec<u32> = numbers.map(MemoryNumber::get).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut lengths = vec![0; numbers.len()];
        let mut rows = vec![vec![0; numbers.len()]; resolved.terms.len()];
        for Searched { part, lists } in &resolved.parts {
            let start = numbers.partition_point(|number| *number < part.first());
            let end = numbers.partition_point(|number| *number < part.end());
            let inside = numbers.get(start..end).unwrap_or_default();
            let locals = || inside.iter().map(|number| number - part.first());
            for (length, local) in lengths.iter_mut().skip(start).zip(locals()) {
                *length = part.length(local);
            }
            for (list, row) in lists.iter().zip(&mut rows) {
                let mut probe = list.probe();
                for (count, local) in row.iter_mut().skip(start).zip(locals()) {
                    *count = probe.count_of(local);
                }
            }
        }
        Self { numbers, lengths, rows }
    }

    /// Returns how often each term is in a scene, and how long the scene is.
    fn sums(&self, scene: &[MemoryNumber]) -> (Vec<f32>, f32) {
        let mut next = 0;
        let place_of = |number: &MemoryNumber| {
            let number = number.get();
            // What was said one after the other is mostly numbered so.
            let place = match self.numbers.get(next) {
                Some(here) if *here == number => next,
                Some(_) | None => self.numbers.binary_search(&number).ok()?,
            };
            next = place.saturating_add(1);
            Some(place)
        };
        let places: Vec<usize> = scene.iter().filter_map(place_of).collect();
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
