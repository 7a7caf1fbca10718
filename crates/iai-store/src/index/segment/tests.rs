//! What goes into a segment comes out of it, and nothing else does.

use super::*;

/// A term with its memories and counts.
type Entry = (String, Vec<(u32, u16)>);

/// Terms over 1,000 memories, among them one in all and one in a single memory.
fn sample(first: u32) -> (Segment, Vec<Entry>) {
    let lengths: Vec<u16> = (0..1000).map(|n| if n % 7 == 3 { 0 } else { 10 + n % 50 }).collect();
    let mut terms: Vec<Entry> = (1..200_u32)
        .map(|step| {
            let memories = (0..1000).filter(|n| n % step == 0 && n % 7 != 3);
            // Few of the counts are larger than four bits.
            let count = |n: u32| if n.is_multiple_of(97) { 14 + n % 300 } else { 1 + n % 3 };
            let counted = memories.map(|n| (n, u16::try_from(count(n)).unwrap()));
            (format!("term{step}"), counted.collect())
        })
        .collect();
    terms.push(("zebra".to_owned(), vec![(999, 300)]));
    terms.sort();
    let mut builder = SegmentBuilder::new(first, lengths);
    for (term, postings) in &terms {
        builder.add(term.as_bytes(), postings);
    }
    (builder.finish(), terms)
}

fn all_of(postings: Postings<'_>) -> Vec<(u32, u16)> {
    let mut all = Vec::new();
    postings.for_each(|memory, count| all.push((memory, count)));
    all
}

#[test]
fn every_term_is_found_with_its_postings() {
    let (segment, terms) = sample(5);
    let segment = Segment::open(segment.bytes().to_vec()).unwrap();
    assert_eq!((segment.first(), segment.last()), (5, 1004));
    for (term, postings) in &terms {
        let found = segment.postings(term.as_bytes()).unwrap();
        assert_eq!(all_of(found), *postings, "{term}");
        assert_eq!(found.n_memories() as usize, postings.len());
        for start in [0, 1, 2, 127, 500, 998, 999, 1000, 5000] {
            let mut from = Vec::new();
            found.for_each_from(start, |memory, count| from.push((memory, count)));
            let expect: Vec<_> = postings.iter().filter(|(m, _)| start <= *m).copied().collect();
            assert_eq!(from, expect, "{term} from {start}");
        }
        for (n, (memory, _)) in (1..).zip(postings.iter().rev()) {
            assert_eq!(found.nth_from_end(n), Some(*memory), "{term} {n}");
        }
        let mut probe = found.probe();
        for memory in 0..1000 {
            let expect = postings.iter().find(|(m, _)| *m == memory).map_or(0, |(_, count)| *count);
            assert_eq!(probe.count_of(memory), expect, "{term} {memory}");
        }
    }
    for missing in ["", "a", "term", "term1000", "zebras", "zz"] {
        assert!(segment.postings(missing.as_bytes()).is_none(), "{missing}");
    }
}

#[test]
fn merged_segments_hold_what_their_parts_held() {
    let ((one, terms), (other, _)) = (sample(1), sample(1500));
    let both = merged(&[&one, &other]);
    assert_eq!((both.first(), both.last()), (1, 2499));
    assert_eq!(both.totals().n_words, 2 * one.totals().n_words);
    assert_eq!(both.length(1200), 0, "the gap is empty");
    for (term, postings) in &terms {
        let moved = postings.iter().map(|(memory, count)| (memory + 1499, *count));
        let expect: Vec<_> = postings.iter().copied().chain(moved).collect();
        assert_eq!(all_of(both.postings(term.as_bytes()).unwrap()), expect, "{term}");
    }
}

#[test]
fn a_removed_memory_leaves_no_word() {
    let (segment, terms) = sample(1);
    let rest = without(&segment, |number| number == 1000 || number == 1);
    assert!(rest.postings(b"zebra").is_none(), "only memory 1000 had it");
    assert!(!rest.bytes().windows(5).any(|bytes| bytes == b"zebra"));
    assert_eq!((rest.length(0), rest.length(999)), (0, 0));
    for (term, postings) in terms.iter().filter(|(term, _)| term != "zebra") {
        let expect: Vec<_> =
            postings.iter().filter(|(memory, _)| *memory != 0 && *memory != 999).copied().collect();
        let found = rest.postings(term.as_bytes()).map(all_of).unwrap_or_default();
        assert_eq!(found, expect, "{term}");
    }
}

#[test]
fn damaged_or_foreign_bytes_are_no_segment() {
    let (segment, _) = sample(1);
    let bytes = segment.bytes();
    assert!(Segment::open(Vec::new()).is_none());
    for place in (0..bytes.len()).step_by(37).chain(0..HEADER_BYTES) {
        let mut damaged = bytes.to_vec();
        damaged[place] ^= 0x10;
        assert!(Segment::open(damaged).is_none(), "{place}");
        assert!(Segment::open(bytes[..place].to_vec()).is_none(), "{place}");
    }
}
