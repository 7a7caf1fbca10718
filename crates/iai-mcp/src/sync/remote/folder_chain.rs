//! One machine's chain in a shared folder: which segments there are, what they say together, and
//! keeping them few.
//!
//! Segments may overlap: one was joined from others, or written again without a payload. Where
//! they do, they must tell of the same entries, and what one of them has erased is erased. Where
//! they tell of different ones, the chain ends before: two machines write it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use iai_sync::{Entry, MachineId, RemoteError, VaultId};

use super::folder_files as files;
use super::folder_segment::{self as segment, SegmentName};

/// Segments kept in memory, because a reader takes one in several steps.
const LOADED_MAX: usize = 4;
/// What file syncs call the loser when two versions of a file met.
const CONFLICT_MARKS: [&str; 3] = ["sync-conflict", "conflicted copy", "conflict-"];

/// Which chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChainName {
    pub(super) vault: VaultId,
    pub(super) machine: MachineId,
}

/// What is there of a chain.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// By first entry; whole as far as their lengths tell.
    pub(super) segments: Vec<SegmentName>,
    /// The last entry up to which none is missing and all agree.
    pub(super) head: u64,
    /// The first entry of which there are two.
    pub(super) fork: Option<u64>,
}

/// What was learned of segments, so that what never changes is looked at once.
pub(super) struct Shelf {
    root: PathBuf,
    /// How long a file may stay half-copied before it is reported.
    patience: Duration,
    loaded: VecDeque<(ChainName, SegmentName, Arc<Vec<Entry>>)>,
    whole: BTreeSet<(ChainName, SegmentName)>,
    odd: BTreeMap<(ChainName, SegmentName), Odd>,
    forks: BTreeMap<ChainName, (Vec<SegmentName>, Option<u64>)>,
    n_conflict_copies: BTreeMap<ChainName, usize>,
}

/// A file that is not what its name says.
struct Odd {
    since: Instant,
    /// Unreadable as it was at that time; none if it is only too short.
    modified: Option<SystemTime>,
}

impl Shelf {
    pub(super) fn new(root: PathBuf, patience: Duration) -> Self {
        Self {
            root,
            patience,
            loaded: VecDeque::new(),
            whole: BTreeSet::new(),
            odd: BTreeMap::new(),
            forks: BTreeMap::new(),
            n_conflict_copies: BTreeMap::new(),
        }
    }

    pub(super) fn folder(&self, chain: ChainName) -> PathBuf {
        self.root.join(chain.vault.to_string()).join(chain.machine.to_string())
    }

    /// Looks at what is there now.
    pub(super) fn view(&mut self, chain: ChainName) -> Result<View, RemoteError> {
        let folder = self.folder(chain);
        let mut segments = Vec::new();
        let mut n_conflicts = 0;
        for name in files::list(&folder)?.unwrap_or_default() {
            if let Ok(segment) = name.parse::<SegmentName>() {
                if self.is_whole(chain, &folder, segment) {
                    segments.push(segment);
                }
            } else if CONFLICT_MARKS.iter().any(|mark| name.contains(mark)) {
                n_conflicts += 1;
            }
        }
        segments.sort();
        self.n_conflict_copies.insert(chain, n_conflicts);
        let fork = self.fork(chain, &segments)?;
        let reach = reach(&segments);
        let head = fork.map_or(reach, |fork| reach.min(fork.saturating_sub(1)));
        Ok(View { segments, head, fork })
    }

    fn is_whole(&mut self, chain: ChainName, folder: &Path, name: SegmentName) -> bool {
        let key = (chain, name);
        if let Some(modified) = self.odd.get(&key).and_then(|odd| odd.modified) {
            // Found unreadable; as long as nobody touches the file it stays so.
            if files::modified(&folder.join(name.to_string())) == Some(modified) {
                return false;
            }
        }
        if self.whole.contains(&key) {
            return true;
        }
        if files::length(&folder.join(name.to_string())) == Some(name.n_bytes) {
            self.whole.insert(key);
            return true;
        }
        self.odd.entry(key).or_insert(Odd { since: Instant::now(), modified: None });
        false
    }

    /// Returns the entries of a segment; none if it is gone or not all there.
    pub(super) fn load(
        &mut self,
        chain: ChainName,
        name: SegmentName,
    ) -> Result<Option<Arc<Vec<Entry>>>, RemoteError> {
        let is_it = |(c, n, _): &&(ChainName, SegmentName, _)| *c == chain && *n == name;
        if let Some((_, _, entries)) = self.loaded.iter().find(is_it) {
            return Ok(Some(Arc::clone(entries)));
        }
        let path = self.folder(chain).join(name.to_string());
        let Some(bytes) = files::read(&path)? else {
            self.forget(chain, name);
            return Ok(None);
        };
        let Some(entries) = segment::decode(chain.vault, chain.machine, &name, &bytes) else {
            self.whole.remove(&(chain, name));
            let odd = self.odd.entry((chain, name));
            let odd = odd.or_insert(Odd { since: Instant::now(), modified: None });
            odd.modified = files::modified(&path);
            return Ok(None);
        };
        self.odd.remove(&(chain, name));
        let entries = Arc::new(entries);
        self.loaded.push_back((chain, name, Arc::clone(&entries)));
        if LOADED_MAX < self.loaded.len() {
            self.loaded.pop_front();
        }
        Ok(Some(entries))
    }

    /// Returns an entry as all segments tell it; none if a segment with it cannot be read.
    pub(super) fn entry(
        &mut self,
        chain: ChainName,
        segments: &[SegmentName],
        counter: u64,
    ) -> Result<Option<Entry>, RemoteError> {
        let mut told: Option<Entry> = None;
        for name in segments.iter().filter(|name| name.holds(counter)) {
            let Some(entries) = self.load(chain, *name)? else { return Ok(None) };
            let Some(entry) = at(&entries, *name, counter) else { continue };
            match &mut told {
                None => told = Some(entry.clone()),
                Some(told) if entry.payload.is_none() => told.payload = None,
                Some(_) => {}
            }
        }
        Ok(told)
    }

    /// Keeps entries as a new segment.
    pub(super) fn write(
        &mut self,
        chain: ChainName,
        entries: &[Entry],
    ) -> Result<Option<SegmentName>, RemoteError> {
        let Some((name, bytes)) = segment::encode(chain.vault, entries) else { return Ok(None) };
        files::write(&self.folder(chain), &name.to_string(), &bytes)?;
        self.odd.remove(&(chain, name));
        self.whole.insert((chain, name));
        Ok(Some(name))
    }

    /// Takes a segment away whose entries another one has.
    pub(super) fn delete(
        &mut self,
        chain: ChainName,
        name: SegmentName,
    ) -> Result<(), RemoteError> {
        self.forget(chain, name);
        files::delete(&self.folder(chain).join(name.to_string()))
    }

    fn forget(&mut self, chain: ChainName, name: SegmentName) {
        self.whole.remove(&(chain, name));
        self.odd.remove(&(chain, name));
        self.loaded.retain(|(c, n, _)| (*c, *n) != (chain, name));
    }

    /// Returns the first entry that two segments tell differently. Asked again only when there
    /// are other segments.
    fn fork(
        &mut self,
        chain: ChainName,
        segments: &[SegmentName],
    ) -> Result<Option<u64>, RemoteError> {
        if let Some((known, fork)) = self.forks.get(&chain)
            && known == segments
        {
            return Ok(*fork);
        }
        let mut fork: Option<u64> = None;
        for (one, other) in overlapping(segments) {
            let (Some(left), Some(right)) = (self.load(chain, one)?, self.load(chain, other)?)
            else {
                continue;
            };
            let common = one.first.max(other.first)..=one.last.min(other.last);
            let differs = |counter: &u64| {
                let (left, right) = (at(&left, one, *counter), at(&right, other, *counter));
                left.zip(right).is_some_and(|(left, right)| !is_same(left, right))
            };
            let found = common.into_iter().find(differs);
            fork = [fork, found].into_iter().flatten().min();
        }
        self.forks.insert(chain, (segments.to_vec(), fork));
        Ok(fork)
    }

    /// Returns the file with an entry that has been half-copied for too long.
    pub(super) fn stuck(&self, chain: ChainName, counter: u64) -> Option<PathBuf> {
        let is_stuck = |((c, name), odd): &(&(ChainName, SegmentName), &Odd)| {
            *c == chain && name.holds(counter) && self.patience <= odd.since.elapsed()
        };
        let ((_, name), _) = self.odd.iter().find(is_stuck)?;
        Some(self.folder(chain).join(name.to_string()))
    }

    /// Says what is odd about the folder, for people.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for ((chain, name), odd) in &self.odd {
            if self.patience <= odd.since.elapsed() {
                let path = self.folder(*chain).join(name.to_string());
                notes.push(format!("{} is not all there", path.display()));
            }
        }
        for (chain, (_, fork)) in &self.forks {
            if let Some(fork) = fork {
                let machine = chain.machine;
                notes.push(format!("two machines write as {machine}, from entry {fork} on"));
            }
        }
        let n_copies: usize = self.n_conflict_copies.values().sum();
        if 0 < n_copies {
            notes.push(format!("{n_copies} conflict copies of a file sync are left out"));
        }
        notes
    }
}

/// Whether two are one entry, erased or not.
pub(super) fn is_same(one: &Entry, other: &Entry) -> bool {
    (one.epoch, one.previous, one.digest) == (other.epoch, other.previous, other.digest)
}

/// Returns all pairs that have an entry in common, the one that begins earlier first.
pub(super) fn overlapping(segments: &[SegmentName]) -> Vec<(SegmentName, SegmentName)> {
    let mut pairs = Vec::new();
    for (index, one) in segments.iter().enumerate() {
        // They are in order, so those that begin behind the end of this one are none of them.
        let rest = segments.iter().skip(index + 1).take_while(|other| other.first <= one.last);
        pairs.extend(rest.map(|other| (*one, *other)));
    }
    pairs
}

fn at(entries: &[Entry], name: SegmentName, counter: u64) -> Option<&Entry> {
    entries.get(usize::try_from(counter.checked_sub(name.first)?).ok()?)
}

/// Returns how far segments reach from the beginning without a gap.
fn reach(segments: &[SegmentName]) -> u64 {
    let mut reach = 0u64;
    for segment in segments {
        if reach.saturating_add(1) < segment.first {
            break;
        }
        reach = reach.max(segment.last);
    }
    reach
}
