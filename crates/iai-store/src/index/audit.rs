//! Compares the stored index with the memories it was made from.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::catalogue::Catalogue;
use super::lexical::LexicalIndex;
use super::saved::{entry_of, rows_between, words_of};
use super::segment::{Segment, merged};
use super::words::MemoryWords;
use crate::record::MemoryNumber;

/// How many memories a report names, at most.
const NAMED_MAX: usize = 100;

/// Returns what is wrong with the stored index, looking at every memory whose number is a multiple
/// of `step`. With a step of 1, every byte is compared with a segment made anew.
pub(crate) fn compare(connection: &Connection, step: u32) -> rusqlite::Result<Vec<String>> {
    let mut wrong = Vec::new();
    let numbers = numbers(connection)?;
    let mut statement = connection
        .prepare("SELECT first, last, words, columns FROM lexical_segment ORDER BY first")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (first, last): (u32, u32) = (row.get(0)?, row.get(1)?);
        let mut catalogue = Catalogue::default();
        let has_columns = catalogue.restore(row.get_ref(3)?.as_blob()?, first, last);
        let segment = Segment::open(row.get(2)?);
        let segment = segment.filter(|segment| (segment.first(), segment.last()) == (first, last));
        let Some(segment) = segment.filter(|_| has_columns) else {
            wrong.push(format!("the segment of memories {first} to {last} is damaged"));
            continue;
        };
        let stored = Stored { segment, catalogue };
        stored.compare_numbers(&numbers, &mut wrong);
        if step == 1 {
            stored.compare_bytes(connection, &mut wrong)?;
        }
        stored.compare_memories(connection, step, &mut wrong)?;
    }
    wrong.truncate(NAMED_MAX);
    Ok(wrong)
}

struct Stored {
    segment: Segment,
    catalogue: Catalogue,
}

impl Stored {
    /// Every number is a memory in both places or in none.
    fn compare_numbers(&self, numbers: &BTreeSet<u32>, wrong: &mut Vec<String>) {
        for number in self.segment.first()..=self.segment.last() {
            let is_known = self.catalogue.entry(MemoryNumber::new(number)).is_some();
            let is_memory = numbers.contains(&number);
            let has_words = self.segment.length(number - self.segment.first()) > 0;
            if is_known != is_memory || (has_words && !is_memory) {
                wrong.push(format!("memory number {number} is in one place"));
            }
        }
    }

    fn compare_bytes(
        &self,
        connection: &Connection,
        wrong: &mut Vec<String>,
    ) -> rusqlite::Result<()> {
        let (first, last) = (self.segment.first(), self.segment.last());
        let mut anew = LexicalIndex::starting_at(first);
        rows_between(connection, (first, last), |row| {
            anew.add(entry_of(row)?.0.get(), &words_of(row)?);
            Ok(())
        })?;
        let parts = anew.into_segments(last);
        let anew = merged(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>());
        if anew.bytes() != self.segment.bytes() {
            wrong.push(format!("the words of memories {first} to {last} are not theirs"));
        }
        Ok(())
    }

    fn compare_memories(
        &self,
        connection: &Connection,
        step: u32,
        wrong: &mut Vec<String>,
    ) -> rusqlite::Result<()> {
        let (first, last) = (self.segment.first(), self.segment.last());
        for number in (first..=last).filter(|number| number.is_multiple_of(step)) {
            rows_between(connection, (number, number), |row| {
                let (_, entry) = entry_of(row)?;
                let is_same = self.catalogue.entry(MemoryNumber::new(number)) == Some(entry)
                    && (step == 1 || self.has_words(number, &words_of(row)?));
                if !is_same {
                    wrong.push(format!("memory number {number} is indexed as another"));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn has_words(&self, number: u32, words: &MemoryWords) -> bool {
        let local = number - self.segment.first();
        self.segment.length(local) == words.length
            && words.terms.iter().zip(&words.counts).all(|(term, count)| {
                let postings = self.segment.postings(term);
                postings.is_some_and(|postings| postings.probe().count_of(local) == *count)
            })
    }
}

fn numbers(connection: &Connection) -> rusqlite::Result<BTreeSet<u32>> {
    connection.prepare("SELECT number FROM memory")?.query_map([], |row| row.get(0))?.collect()
}
