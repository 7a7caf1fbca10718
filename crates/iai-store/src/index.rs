//! What is derived from the memories and kept in memory to find them: the words in them, and who
//! said them when and where. It can be thrown away any day: it is made from the memories again.

pub(crate) mod audit;
pub(crate) mod bm25;
pub(crate) mod catalogue;
pub(crate) mod changes;
mod coding;
pub(crate) mod kernels;
pub(crate) mod lexical;
pub(crate) mod saved;
pub(crate) mod segment;
pub(crate) mod shared;
pub(crate) mod spans;
mod stem;
mod tail;
mod terms;
pub(crate) mod vectors;
pub(crate) mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::catalogue::{Catalogue, CatalogueEntry, Scope};
use self::changes::Changes;
use self::lexical::{LexicalHit, LexicalIndex, LexicalQuery, Resolved};
use self::segment::Segment;
use self::tail::Tail;
use self::words::MemoryWords;
use crate::record::MemoryNumber;

/// Everything that is known about all memories without reading them.
#[derive(Clone, Default)]
pub struct MemoryIndex {
    catalogue: Catalogue,
    lexical: LexicalIndex,
    /// First numbers of segments that are not stored as they are here.
    unsaved: BTreeSet<u32>,
    /// Changes whenever a segment does, so that work begun before is not taken for current.
    generation: u64,
}

/// Segments there may be before they are merged in a hurry.
const HASTY_SEGMENTS_MAX: usize = 32;

/// How much time there is for the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexPace {
    /// Nobody waits.
    Calm,
    /// Many memories come in: what can wait does.
    Hasty,
    /// Somebody waits for the end: nothing is merged.
    Leaving,
}

/// How large the index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSize {
    /// How many segments there are.
    pub n_segments: usize,
    /// Their bytes.
    pub segment_bytes: usize,
    /// Full tails that wait to become segments.
    pub n_frozen: usize,
}

impl MemoryIndex {
    /// Looks the words of a question up, once for everything that is asked about them.
    pub fn ask(&self, query: &LexicalQuery) -> Question<'_> {
        Question { catalogue: &self.catalogue, resolved: self.lexical.resolve(query) }
    }

    /// Returns the memories that fit the query best, best first, then by number.
    pub fn search(&self, query: &LexicalQuery, scope: &Scope, limit: usize) -> Vec<LexicalHit> {
        self.ask(query).search(scope, limit)
    }

    /// Returns in how many memories each word is, in any of its forms; a word that is cut into
    /// several counts as its rarest.
    pub fn document_frequencies(&self, words: &[String]) -> Vec<u64> {
        words.iter().map(|word| self.lexical.document_frequency(word)).collect()
    }

    /// Returns who said what when and where.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Returns how large the index is.
    pub fn size(&self) -> IndexSize {
        let (segment_bytes, n_segments) = self.lexical.n_segment_bytes();
        IndexSize { n_segments, segment_bytes, n_frozen: self.lexical.n_frozen() }
    }

    /// The first number the index knows nothing about.
    pub(crate) fn end(&self) -> u32 {
        self.lexical.end()
    }

    /// Adds a memory that is newer than all others.
    pub(crate) fn add(
        &mut self,
        number: MemoryNumber,
        entry: &CatalogueEntry,
        words: &MemoryWords,
    ) {
        self.catalogue.add(number, entry);
        self.lexical.add(number.get(), words);
    }

    /// Follows what a transaction has committed.
    pub(crate) fn apply(&mut self, changes: Changes) {
        for (place, project) in &changes.places {
            self.catalogue.add_place(*place, project.as_deref());
        }
        for (number, entry, words) in &changes.added {
            self.add(*number, entry, words);
        }
        for (number, at_ms) in changes.ended {
            self.catalogue.end(number, at_ms);
        }
        for (number, at_ms) in changes.reset_ends {
            self.catalogue.reset_end(number, at_ms);
        }
        let removed: Vec<u32> = changes.removed.iter().map(|number| number.get()).collect();
        self.lexical.remove_unsealed(&removed);
        for number in changes.removed {
            self.catalogue.remove(number);
            self.generation += 1;
        }
        for segment in changes.rewritten {
            self.replace(segment);
        }
        for place in changes.places_gone {
            self.catalogue.drop_place(place);
        }
    }

    /// Puts a stored segment in the place of everything it covers.
    pub(crate) fn replace(&mut self, segment: Segment) {
        let covered = segment.first()..=segment.last();
        self.unsaved.retain(|first| !covered.contains(first));
        self.lexical.replace(segment);
        self.generation += 1;
    }

    /// Makes segments of full tails at once, to be stored later: for a load of any size.
    pub(crate) fn settle(&mut self) {
        while let Some(segment) = self.step() {
            let first = segment.first();
            self.replace(segment);
            self.unsaved.insert(first);
        }
    }

    /// Makes the next segment that is due: of a full tail, or of several segments.
    fn step(&self) -> Option<Segment> {
        match self.lexical.to_seal() {
            Some(tail) => Some(tail.sealed()),
            None => self.lexical.to_merge().map(|run| lexical::merge(&run)),
        }
    }

    /// Says what is due, cheaply; [`Due::make`] does the work. In a hurry, segments are merged only
    /// where there are many.
    pub(crate) fn due(&self, pace: IndexPace) -> Option<Due> {
        let may_merge = match pace {
            IndexPace::Calm => true,
            IndexPace::Hasty => HASTY_SEGMENTS_MAX < self.lexical.segments().len(),
            IndexPace::Leaving => false,
        };
        let what = if let Some(tail) = self.lexical.to_seal() {
            Work::Seal(tail)
        } else if let Some(run) = may_merge.then(|| self.lexical.to_merge()).flatten() {
            Work::Merge(run)
        } else {
            let first = self.unsaved.first()?;
            let segments = self.lexical.segments();
            Work::Save(Arc::clone(segments.iter().find(|segment| segment.first() == *first)?))
        };
        Some(Due { what, generation: self.generation })
    }
}

/// A question whose words have been looked up.
pub struct Question<'a> {
    catalogue: &'a Catalogue,
    resolved: Resolved<'a>,
}

impl Question<'_> {
    /// Returns the memories that fit best, best first, then by number. The work has a bound at any
    /// size of the store: where even the rarest words are in more memories than that, the newest
    /// that have them are looked at.
    pub fn search(&self, scope: &Scope, limit: usize) -> Vec<LexicalHit> {
        self.resolved.search(&scope.admits(self.catalogue), limit)
    }

    /// Returns what each of these memories scores; 0 where nothing fits.
    pub fn scores(&self, numbers: &[MemoryNumber]) -> Vec<f32> {
        self.resolved.scores(numbers)
    }

    /// Returns what the scene around each of these memories scores, read as one text: the memory
    /// and its neighbours in the session, at most `reach` on either side, that the scope admits.
    pub fn scene_scores(&self, scope: &Scope, numbers: &[MemoryNumber], reach: usize) -> Vec<f32> {
        let admits = scope.admits(self.catalogue);
        let scene = |number: &MemoryNumber| {
            self.catalogue.around(*number, reach).filter(|number| admits(*number)).collect()
        };
        let scenes: Vec<Vec<MemoryNumber>> = numbers.iter().map(scene).collect();
        self.resolved.scene_scores(&scenes)
    }

    /// Returns how much of what the words tell is in each of these memories, from 0 to 1.
    pub fn coverage(&self, numbers: &[MemoryNumber]) -> Vec<f32> {
        self.resolved.coverage(numbers)
    }

    /// Returns how many of the words, each in any of its forms, are not in each of these memories.
    pub fn n_missing(&self, numbers: &[MemoryNumber]) -> Vec<usize> {
        self.resolved.n_missing(numbers)
    }

    /// Returns the most a memory could score.
    pub fn information(&self) -> f32 {
        self.resolved.information()
    }
}

/// Work on segments that needs no lock.
pub(crate) struct Due {
    what: Work,
    generation: u64,
}

enum Work {
    Seal(Arc<Tail>),
    Merge(Vec<Arc<Segment>>),
    Save(Arc<Segment>),
}

/// A segment that is ready to be stored.
pub struct Made {
    segment: Segment,
    generation: u64,
}

impl Due {
    pub(crate) fn make(self) -> Made {
        let segment = match self.what {
            Work::Seal(tail) => tail.sealed(),
            Work::Merge(run) => lexical::merge(&run),
            Work::Save(segment) => {
                let copy = Segment::open(segment.bytes().to_vec());
                copy.expect("a segment that was opened once opens again")
            }
        };
        Made { segment, generation: self.generation }
    }
}
