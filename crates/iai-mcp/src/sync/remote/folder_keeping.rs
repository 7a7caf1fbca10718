//! Keeps a chain's segments few, and what was erased out of all of them.
//!
//! Whatever is done here is first written as a new segment and then taken away from the old ones:
//! whoever looks meanwhile, or after a crash in between, finds every entry at least once. What
//! comes out depends only on what goes in, so two machines that do it at once write the same file.

use std::collections::BTreeSet;

use iai_sync::{Entry, RemoteError};

use super::folder_chain::{ChainName, Shelf, overlapping};
use super::folder_segment::SegmentName;

/// So many small segments at the end of a chain become one.
const JOINED_AT: usize = 16;
/// What counts as small, in steps: so every entry is written again at most once per step.
const STEPS_BYTES: [u64; 3] = [16 * 1024, 256 * 1024, SEGMENT_BYTES_MAX];
/// A segment aims at no more, because it is read whole.
pub(super) const SEGMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// A chain in disorder is put in order in several calls, if need be.
const SETTLED_PER_CALL: usize = 64;

/// Writes the segments that hold these entries again without their payloads.
pub(super) fn erase(
    shelf: &mut Shelf,
    chain: ChainName,
    counters: &BTreeSet<u64>,
) -> Result<(), RemoteError> {
    for name in shelf.view(chain)?.segments {
        if counters.range(name.first..=name.last).next().is_none() {
            continue;
        }
        let Some(entries) = shelf.load(chain, name)? else {
            let path = shelf.folder(chain).join(name.to_string());
            let told = format!("{} is not all there yet, or going", path.display());
            return Err(RemoteError::Away(told));
        };
        let is_named = |entry: &Entry| counters.contains(&entry.name.counter);
        if entries.iter().any(|entry| is_named(entry) && entry.payload.is_some()) {
            let mut kept = entries.to_vec();
            kept.iter_mut().filter(|entry| is_named(entry)).for_each(|entry| entry.payload = None);
            replace(shelf, chain, &kept, &[name])?;
        }
    }
    settle(shelf, chain)
}

/// Takes away segments whose entries a larger one has, once that has erased what they have.
pub(super) fn settle(shelf: &mut Shelf, chain: ChainName) -> Result<(), RemoteError> {
    for _ in 0..SETTLED_PER_CALL {
        let view = shelf.view(chain)?;
        let covered = overlapping(&view.segments).into_iter().find_map(|(one, other)| {
            if one.covers(&other) {
                Some((one, other))
            } else {
                other.covers(&one).then_some((other, one))
            }
        });
        let Some((large, small)) = covered.filter(|_| view.fork.is_none()) else { return Ok(()) };
        let (Some(kept), Some(gone)) = (shelf.load(chain, large)?, shelf.load(chain, small)?)
        else {
            return Ok(());
        };
        let erased: BTreeSet<u64> = gone.iter().filter_map(erased_counter).collect();
        let is_behind =
            |entry: &Entry| entry.payload.is_some() && erased.contains(&entry.name.counter);
        if kept.iter().any(is_behind) {
            let mut kept = kept.to_vec();
            kept.iter_mut().filter(|entry| is_behind(entry)).for_each(|entry| entry.payload = None);
            replace(shelf, chain, &kept, &[large, small])?;
        } else {
            shelf.delete(chain, small)?;
        }
    }
    Ok(())
}

/// Joins what was added in small pieces at the end of a chain that is in order.
pub(super) fn join(shelf: &mut Shelf, chain: ChainName) -> Result<(), RemoteError> {
    for step_bytes in STEPS_BYTES {
        let view = shelf.view(chain)?;
        let run = small_run(&view.segments, step_bytes);
        if run.len() < JOINED_AT || view.fork.is_some() || !overlapping(run).is_empty() {
            continue;
        }
        let mut entries = Vec::new();
        for name in run {
            match shelf.load(chain, *name)? {
                Some(more) => entries.extend_from_slice(&more),
                None => return Ok(()),
            }
        }
        replace(shelf, chain, &entries, run)?;
    }
    Ok(())
}

/// Returns the last segments that are small and follow each other.
fn small_run(segments: &[SegmentName], step_bytes: u64) -> &[SegmentName] {
    let mut n_bytes = 0u64;
    let mut next = None;
    let run = segments.iter().rev().take_while(|name| {
        n_bytes = n_bytes.saturating_add(name.n_bytes);
        let is_next = next.is_none_or(|next| name.last.checked_add(1) == Some(next));
        next = Some(name.first);
        is_next && name.n_bytes < step_bytes && n_bytes <= SEGMENT_BYTES_MAX
    });
    segments.len().checked_sub(run.count()).and_then(|at| segments.get(at..)).unwrap_or_default()
}

fn replace(
    shelf: &mut Shelf,
    chain: ChainName,
    entries: &[Entry],
    old: &[SegmentName],
) -> Result<(), RemoteError> {
    let written = shelf.write(chain, entries)?;
    for name in old.iter().filter(|name| written != Some(**name)) {
        shelf.delete(chain, *name)?;
    }
    Ok(())
}

fn erased_counter(entry: &Entry) -> Option<u64> {
    entry.payload.is_none().then_some(entry.name.counter)
}
