//! What the user puts off for longer than a session ("let us put it off", "leave it open"), and
//! whether somebody took it up since. What is said at the ends of the last sessions is told anyway
//! ([`super::open`]); this keeps what was said in the middle of one, or long ago.
//!
//! The words that do it are in `later.rs`.

mod later;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use iai_store::{Memory, MemoryNumber, NewRemark, Reader, RemarkKind, Role};
use jiff::Timestamp;

use super::open::{matter_of, n_telling, reports_in, says_it_is_open};
use super::{REMARK_BYTES_MAX, is_spoken, remark, words_hash};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::n_shared;
use crate::recall::{NameSearch, named_since};
use later::{is_about_what_was_said, is_put_off};

/// Things that one turn puts off; one with more is a plan.
const PUT_OFF_MAX: usize = 2;
/// What is put off is told with up to so many sentences before it, …
const BEFORE_MAX: usize = 2;
/// … until so many words tell what it is. What tells fewer even then is not kept.
const TELLING_MIN: usize = 3;
/// … unless it names it in so many.
const OWN_TELLING_MIN: usize = 2;
/// A longer text of a user is pasted, and names everything.
const TEXT_BYTES_MAX: usize = 2000;
/// Things of one project that are listened for, the newest.
const LISTENED_MAX: usize = 32;
/// What takes something up has so many of its words at least.
const SHARED_MIN: usize = 2;

/// Returns what a turn of the user puts off, each with the sentences that say what it is.
pub(super) fn put_off_in(text: &str, ranges: &[Range<usize>]) -> Vec<NewRemark> {
    if TEXT_BYTES_MAX < text.len() {
        return Vec::new();
    }
    let said = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let mut found: Vec<NewRemark> = Vec::new();
    let is_later = |place: usize, range: &Range<usize>| {
        let before = place.checked_sub(1).and_then(|before| ranges.get(before));
        is_put_off(before.map(said), said(range))
    };
    for (place, range) in ranges.iter().enumerate() {
        if !is_later(place, range) {
            continue;
        }
        let told_up_to = found.last().map_or(0, |last| last.end_byte);
        let from = place.saturating_sub(BEFORE_MAX);
        let mut starts = ranges.get(from..=place).unwrap_or_default().iter().rev().map(|r| r.start);
        let is_behind = is_about_what_was_said(said(range));
        let start_byte = starts.find(|start| {
            let said = text.get(*start..range.end).unwrap_or_default();
            let is_named = *start < range.start || !is_behind;
            is_named && TELLING_MIN <= n_telling(said) && SHARED_MIN <= matter_of(said).len()
        });
        let is_of_size = |start: &usize| {
            told_up_to <= *start && range.end - start <= REMARK_BYTES_MAX + REMARK_BYTES_MAX / 2
        };
        // A word or two are enough where they name it and nothing before tells more.
        let own = said(range);
        let is_told = || !is_behind && OWN_TELLING_MIN <= matter_of(own).len();
        let start_byte = start_byte.or_else(|| is_told().then_some(range.start));
        // "We should build it some day. Not this quarter, though."
        let goes_on = |last: &&mut NewRemark| {
            start_byte.is_none_or(|start| start < last.end_byte)
                && place.checked_sub(1).and_then(|before| ranges.get(before)).is_some_and(
                    |before| {
                        before.end == last.end_byte
                            && range.end - last.start_byte <= REMARK_BYTES_MAX
                            && !text.get(before.end..range.start).unwrap_or_default().contains('\n')
                    },
                )
        };
        if let Some(last) = found.last_mut().filter(goes_on) {
            last.end_byte = range.end;
            continue;
        }
        let Some(start_byte) = start_byte.filter(is_of_size) else { continue };
        let words = words_hash(text.get(start_byte..range.end).unwrap_or_default());
        found.push(remark(RemarkKind::Open, start_byte..range.end, words));
        if found.len() == PUT_OFF_MAX {
            break;
        }
    }
    found
}

/// Where something stands that was put off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PutOffAt {
    pub(super) number: MemoryNumber,
    pub(super) start_byte: usize,
}

/// What was put off in the projects that are spoken in, while memories are read in order.
#[derive(Default)]
pub(super) struct PutOff {
    by_project: BTreeMap<String, Vec<Thing>>,
    /// Nothing of what is stored counts.
    is_anew: bool,
}

struct Thing {
    at: PutOffAt,
    session: String,
    said_at: Timestamp,
    matter: BTreeSet<String>,
}

impl PutOff {
    /// Knows nothing of what is stored.
    pub(super) fn anew() -> Self {
        Self { is_anew: true, ..Self::default() }
    }

    /// Listens to a memory with the remarks found in it; returns what it takes up.
    pub(super) fn hear(
        &mut self,
        reader: &Reader,
        (number, memory): (MemoryNumber, &Memory),
        remarks: &[NewRemark],
    ) -> Result<Vec<PutOffAt>> {
        let Some(project) = memory.project.clone().filter(|_| is_spoken(memory)) else {
            return Ok(Vec::new());
        };
        let things = match self.by_project.entry(project) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                let stored = match self.is_anew {
                    true => Vec::new(),
                    false => stored_things(reader, new.key())?,
                };
                new.insert(stored)
            }
        };
        let own: Vec<Thing> = remarks
            .iter()
            .filter(|remark| remark.kind == RemarkKind::Open)
            .map(|remark| Thing::of(number, memory, remark.start_byte..remark.end_byte))
            .collect();
        let taken_up = taken_up(things, memory, &own);
        things.retain(|thing| !taken_up.contains(&thing.at));
        things.extend(own);
        things.sort_by_key(|thing| (thing.said_at, thing.at.number));
        let n_over = things.len().saturating_sub(LISTENED_MAX);
        things.drain(..n_over);
        Ok(taken_up)
    }
}

impl Thing {
    fn of(number: MemoryNumber, memory: &Memory, range: Range<usize>) -> Self {
        let (start_byte, text) = (range.start, memory.text.get(range).unwrap_or_default());
        Self {
            at: PutOffAt { number, start_byte },
            session: memory.session.clone(),
            said_at: memory.turn_at,
            matter: matter_of(text),
        }
    }
}

fn stored_things(reader: &Reader, project: &str) -> Result<Vec<Thing>> {
    let remarks = reader.remarks(RemarkKind::Open, project, LISTENED_MAX)?;
    let things = remarks
        .iter()
        .map(|remark| Thing::of(remark.number, &remark.memory, remark.start_byte..remark.end_byte));
    Ok(things.collect())
}

/// Returns what a memory takes up: what it reports as done, and in a later session what the user
/// speaks of, unless they only say that it is still open. Who puts it off again says so anew.
fn taken_up(things: &[Thing], memory: &Memory, own: &[Thing]) -> Vec<PutOffAt> {
    if things.is_empty() {
        return Vec::new();
    }
    let reports = reports_in(&memory.text);
    let is_said = memory.role == Role::User && memory.text.len() <= TEXT_BYTES_MAX;
    let is_spoken_of = is_said && !says_it_is_open(&memory.text) && !memory.text.ends_with('?');
    let spoken = if is_spoken_of { matter_of(&memory.text) } else { BTreeSet::new() };
    let is_taken_up = |thing: &&Thing| {
        let matter = &thing.matter;
        let has_half = |words: &BTreeSet<String>| {
            let n_shared = n_shared(matter, words);
            SHARED_MIN <= n_shared && matter.len() <= 2 * n_shared
        };
        let is_elsewhere = thing.session != memory.session;
        thing.said_at < memory.turn_at
            && (reports.iter().any(has_half)
                || own.iter().any(|again| has_half(&again.matter))
                || is_elsewhere && has_half(&spoken))
    };
    things.iter().filter(is_taken_up).map(|thing| thing.at).collect()
}

impl MemoryEngine {
    /// Returns which of the things put off in some memories are taken up in what is stored already
    /// and was said later: history may come in in any order.
    pub(super) fn taken_up_before(
        &self,
        reader: &Reader,
        found: &[(MemoryNumber, Vec<NewRemark>)],
        now: Timestamp,
    ) -> Result<Vec<PutOffAt>> {
        let mut taken = Vec::new();
        let is_open = |remark: &&NewRemark| remark.kind == RemarkKind::Open;
        for (number, remarks) in
            found.iter().filter(|(_, remarks)| remarks.iter().any(|r| is_open(&r)))
        {
            let Some((_, memory)) = reader.numbered(&[*number])?.pop() else { continue };
            for remark in remarks.iter().filter(is_open) {
                let thing = Thing::of(*number, &memory, remark.start_byte..remark.end_byte);
                let search = NameSearch {
                    words: thing.matter.clone(),
                    named_by_max: u64::MAX,
                    beside: &[],
                    changing: &[],
                    who: &[Role::User, Role::Assistant],
                };
                let since = named_since(self, reader, (*number, &memory), search, now)?.since;
                let things = [thing];
                let mut since = since.iter().filter(|(_, later)| is_spoken(later));
                taken.extend(since.find_map(|(_, later)| taken_up(&things, later, &[]).pop()));
            }
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remarks::sentences;
    use crate::trial::Trial;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let found = put_off_in(text, &sentences(text));
        let found: Vec<&str> =
            found.iter().map(|own| &text[own.start_byte..own.end_byte]).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn what_is_put_off_is_told_with_what_it_is() {
        let feed = "He also wants a calendar feed for the skippers. It is a nice thing. \
                    Let us put it off.";
        check(&format!("Yes. {feed}"), &[feed]);
        let dark = "dark mode for the admin page stays open";
        check(&format!("ok. {dark}"), &[dark]);
        check("Not now, please. Put it off.", &[]);
        let notes = "We talked about automatic credit notes. We will take that up in January, \
                     after the close.";
        check(notes, &[notes]);
        let replay = "We should build a replay tool some day. Not this quarter, though.";
        check(replay, &[replay]);
        for text in [
            "The GraphQL endpoint is for sales. We will see about it later.",
            "We should load test the websocket endpoint some time.",
            "The ferry timetables are another gap, but we leave those for later.",
            "We could store the matrix as float32, but let us wait until Stockholm joins.",
            "We need a consent form for photos. I do not have the text, so that must wait.",
            "per-tenant limits would be nice for the farms but that's for later",
            "tablet layout for gift flow: not now, 3% of users",
            "translations: german for the launch. dutch later, when we open venlo",
            "newsletter archive page, hanne asks. nice idea, next year",
            "ipv6 for the cluster, henrik asks again. no. some day",
            "go-redis v9: before christmas? no. january",
            "I'm waiting for the test certificate from Marek, nothing moves before it's here.",
            "We will look at the mobile layout next year.",
            "someday we should split the monolith",
            "Push notifications: maybe later.",
            "B2B prices stay on that list, Daniel would like them, but that's next year's topic.",
            "And video consultations, since Dr. Haas keeps mentioning them: also not now, maybe \
             next year.",
            "And some day I'd like a storm warning on the display, but that's for later.",
        ] {
            check(text, &[text]);
        }
    }

    #[test]
    fn what_waits_for_a_moment_is_not_put_off() {
        check("Is the pull request for the parser still open?", &[]);
        check("The pull request for the parser is closed, it was open for weeks", &[]);
        for text in [
            "remind me how the retry queue works",
            "Add the login form and don't forget the CSRF token",
            "After the migration the users table has null emails",
            "The filter dropdown stays open after I click outside the panel",
            "the test should wait until the modal is visible",
            "the socket of the worker is still open",
            "the button on the list page is broken",
            "the worker can wait for the lock of the queue",
            "add SSO to the CLI and the API, not now",
            "let's fix the parser and the lexer later in this session",
            "let's wait until the CI of the parser branch is green",
            "The users of the portal should be logged out after one day.",
            "The import takes some time, could you make the parser faster",
            "I'm waiting for the response of the proxy from the server.",
            "The contract with the printer ends next year.",
            "When does the printer contract start? January.",
            "the printer invoice is due, january",
            "The config of the proxy is loaded later, when we start the server.",
            "The upload request must wait for the lock of the queue.",
            "The retry of the parser comes later.",
            "we leave the parser tests for later steps",
            "one day we got 500 errors from the proxy",
            "never mind the parser, we'll look at it later",
            "for the time in May, let's look at the very start of the parser",
            "Please run the parser tests now.",
            "The keynote of the conference is about next year's topic.",
            "Deleted users of the portal stay on that list.",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn what_was_put_off_is_open_until_somebody_takes_it_up() {
        let later = |minutes: i64| Timestamp::from_second(minutes * 60).unwrap();
        let trial = Trial::new();
        let memory = |session: &str, turn_at: Timestamp, text: &str| {
            let id = trial.tell(&[text])[0];
            let told = trial.engine.read(|reader| Ok(reader.memory(id)?)).unwrap().unwrap();
            Memory { session: session.to_owned(), turn_at, ..told }
        };
        let put_off = "the calendar feed for skippers, put it off";
        let thing = || Thing::of(MemoryNumber::new(1), &memory("s", later(1), put_off), 0..42);
        let check = |(session, at): (&str, i64), role: Role, text: &str, expect: bool| {
            let memory = Memory { role, ..memory(session, later(at), text) };
            let remarks = put_off_in(text, &sentences(text)).into_iter();
            let own = remarks.filter(|_| role == Role::User).map(|remark| {
                Thing::of(MemoryNumber::new(2), &memory, remark.start_byte..remark.end_byte)
            });
            let taken_up = taken_up(&[thing()], &memory, &own.collect::<Vec<Thing>>());
            assert_eq!(!taken_up.is_empty(), expect, "{text}");
        };
        let (user, assistant) = (Role::User, Role::Assistant);
        check(("s", 2), assistant, "Noted: the calendar feed for skippers waits.", false);
        check(("s", 2), assistant, "Added the calendar feed for skippers after all.", true);
        check(("t", 2), user, "now let us build the calendar feed for the skippers", true);
        check(("t", 0), user, "now let us build the calendar feed for the skippers", false);
        check(("t", 2), assistant, "Still open: the calendar feed for skippers, the audit.", false);
        check(
            ("t", 2),
            user,
            "the calendar feed for skippers, put it on the list for january",
            true,
        );
        check(("t", 2), user, "the calendar is wrong on sundays", false);
        check(("t", 2), assistant, "Last time the calendar feed for skippers was put off.", false);
        check(("t", 2), user, "what about the calendar feed for skippers?", false);
    }
}
