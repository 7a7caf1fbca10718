//! A segment: entries of one chain that follow each other, as the bytes of one file that never
//! changes. Its name says which entries, how many bytes and their checksum, so that the same name
//! is the same file on every machine and no file sync ever finds two versions of one.
//!
//! ```text
//! "iaisync1"  vault 16  machine 16  first u64  count u32
//! count times:  epoch u32  previous 32  digest 32  length u32 (all ones: erased)  payload
//! SHA-256 of everything before, 32
//! ```

use std::fmt;
use std::str::FromStr;

use iai_sync::{Entry, EntryName, MachineId, VaultId};
use sha2::{Digest as _, Sha256};

const MAGIC: &[u8; 8] = b"iaisync1";
const ERASED: u32 = u32::MAX;
const CHECK_BYTES: usize = 32;
/// How much of the checksum stands in the name.
const CHECK_IN_NAME_BYTES: usize = 8;
const SUFFIX: &str = ".seg";
/// Longer than any name a segment has.
const NAME_BYTES_MAX: usize = 96;

/// The name of a segment's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SegmentName {
    /// Its first entry.
    pub(super) first: u64,
    /// Its last entry, not before the first.
    pub(super) last: u64,
    /// Length of the file: a shorter one is still being copied.
    pub(super) n_bytes: u64,
    check: u64,
}

impl SegmentName {
    pub(super) fn holds(&self, counter: u64) -> bool {
        (self.first..=self.last).contains(&counter)
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, n_bytes, check } = self;
        write!(formatter, "{first}-{last}-{n_bytes}-{check:016x}{SUFFIX}")
    }
}

impl FromStr for SegmentName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let stem = text.strip_suffix(SUFFIX).filter(|_| text.len() <= NAME_BYTES_MAX).ok_or(())?;
        let mut parts = stem.split('-');
        let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok()).ok_or(());
        let (first, last, n_bytes) = (number()?, number()?, number()?);
        let check = parts.next().and_then(|part| u64::from_str_radix(part, 16).ok()).ok_or(())?;
        let name = Self { first, last, n_bytes, check };
        // Read back and written again it must be the same: one file has one name.
        let is_whole = parts.next().is_none() && name.to_string() == text;
        (is_whole && 1 <= first && first <= last).then_some(name).ok_or(())
    }
}

/// Writes entries that follow each other. None are no segment.
pub(super) fn encode(vault: VaultId, entries: &[Entry]) -> Option<(SegmentName, Vec<u8>)> {
    let (first, last) = (entries.first()?, entries.last()?);
    let mut bytes = Vec::with_capacity(entries.iter().map(length).sum::<usize>() + HEAD_BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(vault.as_bytes());
    bytes.extend_from_slice(first.name.machine.as_bytes());
    bytes.extend_from_slice(&first.name.counter.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(entries.len()).ok()?.to_le_bytes());
    for entry in entries {
        bytes.extend_from_slice(&entry.epoch.to_le_bytes());
        bytes.extend_from_slice(&entry.previous);
        bytes.extend_from_slice(&entry.digest);
        let payload = entry.payload.as_deref();
        let n_bytes = payload.map_or(Some(ERASED), |payload| u32::try_from(payload.len()).ok())?;
        bytes.extend_from_slice(&n_bytes.to_le_bytes());
        bytes.extend_from_slice(payload.unwrap_or_default());
    }
    let check: [u8; CHECK_BYTES] = Sha256::digest(&bytes).into();
    bytes.extend_from_slice(&check);
    let name = SegmentName {
        first: first.name.counter,
        last: last.name.counter,
        n_bytes: u64::try_from(bytes.len()).ok()?,
        check: short(&check),
    };
    Some((name, bytes))
}

/// Returns how many bytes an entry takes in a segment.
pub(super) fn length(entry: &Entry) -> usize {
    4 + 32 + 32 + 4 + entry.payload.as_ref().map_or(0, Vec::len)
}

/// What stands before and behind the entries.
const HEAD_BYTES: usize = MAGIC.len() + 16 + 16 + 8 + 4 + CHECK_BYTES;

/// Reads a segment; nothing if the bytes are not all there, or not what the name says.
pub(super) fn decode(
    vault: VaultId,
    machine: MachineId,
    name: &SegmentName,
    bytes: &[u8],
) -> Option<Vec<Entry>> {
    let (content, check) = bytes.split_last_chunk::<CHECK_BYTES>()?;
    let found: [u8; CHECK_BYTES] = Sha256::digest(content).into();
    if found != *check || short(check) != name.check {
        return None;
    }
    let mut rest = content;
    let is_ours = take::<8>(&mut rest)? == *MAGIC
        && take::<16>(&mut rest)? == *vault.as_bytes()
        && take::<16>(&mut rest)? == *machine.as_bytes()
        && u64::from_le_bytes(take(&mut rest)?) == name.first;
    let n_entries = u64::from(u32::from_le_bytes(take(&mut rest)?));
    if !is_ours || name.last.checked_sub(name.first)?.checked_add(1)? != n_entries {
        return None;
    }
    let read = |counter| entry(&mut rest, EntryName { machine, counter });
    let entries: Option<Vec<Entry>> = (name.first..=name.last).map(read).collect();
    entries.filter(|_| rest.is_empty())
}

fn entry(rest: &mut &[u8], name: EntryName) -> Option<Entry> {
    let epoch = u32::from_le_bytes(take(rest)?);
    let (previous, digest) = (take(rest)?, take(rest)?);
    let n_bytes = u32::from_le_bytes(take(rest)?);
    let payload = if n_bytes == ERASED {
        None
    } else {
        let (payload, after) = rest.split_at_checked(usize::try_from(n_bytes).ok()?)?;
        *rest = after;
        Some(payload.to_vec())
    };
    Some(Entry { name, epoch, previous, digest, payload })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*taken)
}

fn short(check: &[u8; CHECK_BYTES]) -> u64 {
    let first = check.first_chunk::<CHECK_IN_NAME_BYTES>();
    first.map_or(0, |first| u64::from_le_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_a_segment_was_given_are_names() {
        let whole = "1-20-4096-00000000000000ff.seg";
        assert_eq!(whole.parse::<SegmentName>().unwrap().to_string(), whole);
        for odd in [
            "",
            ".seg",
            "1-20-4096-00000000000000ff",
            "1-20-4096-00000000000000FF.seg",
            "01-20-4096-00000000000000ff.seg",
            "0-20-4096-00000000000000ff.seg",
            "21-20-4096-00000000000000ff.seg",
            "1-20-4096-ff.seg",
            "+1-20-4096-00000000000000ff.seg",
            "1-20-4096-00000000000000ff-2.seg",
            ".1-20-4096-00000000000000ff.seg.tmp",
            "1-20-4096-00000000000000ff.sync-conflict-20260101-120000-ABCDEFG.seg",
        ] {
            assert!(odd.parse::<SegmentName>().is_err(), "{odd}");
        }
    }

    #[test]
    fn damaged_bytes_are_no_segment() {
        let (vault, machine) = (VaultId::from_bytes([1; 16]), MachineId::from_bytes([2; 16]));
        let entry = |counter, payload| Entry {
            name: EntryName { machine, counter },
            epoch: 3,
            previous: [4; 32],
            digest: [5; 32],
            payload,
        };
        let entries = [entry(7, Some(vec![6; 9])), entry(8, None), entry(9, Some(Vec::new()))];
        let (name, bytes) = encode(vault, &entries).unwrap();
        assert_eq!((name.first, name.last, name.n_bytes), (7, 9, bytes.len() as u64));
        assert_eq!(decode(vault, machine, &name, &bytes).as_deref(), Some(&entries[..]));
        assert_eq!(decode(VaultId::from_bytes([9; 16]), machine, &name, &bytes), None);
        assert_eq!(decode(vault, MachineId::from_bytes([9; 16]), &name, &bytes), None);
        for at in 0..bytes.len() {
            assert_eq!(decode(vault, machine, &name, &bytes[..at]), None, "cut at {at}");
            let mut altered = bytes.clone();
            altered[at] ^= 1;
            assert_eq!(decode(vault, machine, &name, &altered), None, "altered at {at}");
        }
        let other = SegmentName { last: 10, ..name };
        assert_eq!(decode(vault, machine, &other, &bytes), None);
        assert_eq!(encode(vault, &[]), None);
    }
}
