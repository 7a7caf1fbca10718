//! Notices when somebody says something again with another number, date, name, path or with a
//! "not": both wordings stay, and the next who asks is told that they differ.
//!
//! A statement is looked up by its rarest words, so that the work for one memory is bounded however
//! many there are.

use iai_store::{
    LexicalQuery, Memory, MemoryId, MemoryNumber, NewDispute, NewEvent, Reader, Role, Scope,
    Severity, StepProgress, Writing,
};
use jiff::Timestamp;
use serde_json::json;

use super::differences::{Comparison, Slot, compare};
use super::kinds::{VALUE_TOKENS_MAX, is_date_word};
use super::sentences::{Statement, statements_of};
use super::tokens::Token;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{Advance, Due, Effects, Shift, Step};

/// Memories looked at in one transaction; whoever asks waits for one of them at most.
const MEMORIES_PER_ADVANCE: usize = 64;
/// A longer statement than this that names nothing is not looked up.
const SHORT_TOKENS_MAX: usize = 12;
/// A statement is looked up by so many of its rarest words …
const WORDS_ASKED_MAX: usize = 6;
/// … among so many memories that have them.
const CANDIDATES_MAX: usize = 8;
/// … and that lack at most so many of its plain words: a name is no longer than that, two values at
/// once are figures or days, and what lacks more need not be read.
const WORDS_MISSING_MAX: usize = VALUE_TOKENS_MAX;
/// Verbs that a "n't" may stand behind.
const AUXILIARIES: &[&str] =
    &["can", "could", "dare", "might", "must", "need", "ought", "shall", "should", "will", "would"];
/// One statement stands against at most so many earlier ones.
const DISPUTES_MAX_EACH: usize = 3;
/// Disputes that are kept, settled ones included; the oldest go first.
const DISPUTES_MAX: usize = 20_000;
/// The version of the rules: with others, everything is compared again. What was settled stays so.
const RULES: u64 = 6;
/// Memories an event names.
const SOURCES_MAX: usize = 10;

/// Looks at what came in.
pub(crate) struct Disputes;

impl Step for Disputes {
    fn name(&self) -> &'static str {
        "disputes"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let (mut progress, memories) = engine.read(|reader| {
            let mut progress = reader.step(self.name())?;
            let rules = json!({"rules": RULES});
            if progress.state != rules {
                progress = StepProgress { up_to: MemoryNumber::new(0), state: rules };
            }
            let memories = reader.after(progress.up_to, MEMORIES_PER_ADVANCE)?;
            Ok((progress, memories))
        })?;
        if memories.is_empty() {
            return Ok(Advance::Nothing);
        }
        let mut found = Vec::new();
        let seen = shift.one_by_one(&memories, |(number, memory)| {
            let opposed = engine.opposed_to(Some(*number), memory)?;
            found.extend(opposed.into_iter().map(|one| one.to(*number)));
            Ok(())
        })?;
        let Some((last, _)) = seen.last() else { return Ok(Advance::MadeWay) };
        progress.up_to = *last;
        let n_found = engine.write(|writing| {
            let n_found = keep(writing, &found, shift.now)?;
            writing.put_step(self.name(), &progress, shift.now)?;
            Ok(n_found)
        })?;
        Ok(Advance::Did(Effects::from([
            ("memories_compared", seen.len() as u64),
            ("disputes_found", n_found),
        ])))
    }
}

impl MemoryEngine {
    /// Looks at one memory at once, so that whoever asks next is told. What fails here is done
    /// again by the step.
    pub(super) fn look_for_disputes(&self, id: MemoryId, now: Timestamp) -> Result<()> {
        let found = self.read(|reader| {
            Ok(match (reader.number_of(id)?, reader.memory(id)?) {
                (Some(number), Some(memory)) => Some((number, memory)),
                _ => None,
            })
        })?;
        let Some((number, memory)) = found else { return Ok(()) };
        let opposed = self.opposed_to(Some(number), &memory)?;
        if opposed.is_empty() {
            return Ok(());
        }
        self.write(|writing| keep_opposed(writing, number, &opposed, now))
    }

    /// Returns which memories state otherwise what a memory states. One that has no number yet is
    /// newer than all that have.
    pub(crate) fn opposed_to(
        &self,
        number: Option<MemoryNumber>,
        memory: &Memory,
    ) -> Result<Vec<Opposed>> {
        let mut opposed = Vec::new();
        if memory.role == Role::System || memory.valid_to.is_some() {
            return Ok(opposed);
        }
        let said = (memory.turn_at, number.unwrap_or(MemoryNumber::new(u32::MAX)));
        for statement in statements_of(memory).iter().filter(|own| may_differ(own)) {
            let candidates = self.candidates(said.1, memory, statement)?;
            if candidates.is_empty() {
                continue;
            }
            let others = self.read(|reader| comparable(reader, memory, &candidates))?;
            opposed.extend(against(said, statement, &others));
        }
        Ok(opposed)
    }

    fn candidates(
        &self,
        number: MemoryNumber,
        memory: &Memory,
        statement: &Statement,
    ) -> Result<Vec<MemoryNumber>> {
        let mut words: Vec<String> = Vec::new();
        for token in &statement.tokens {
            // A number may be the very thing that changed.
            let is_number = token.folded.starts_with(|letter: char| letter.is_ascii_digit());
            if token.is_content() && !is_number && !words.contains(&token.folded) {
                words.push(token.folded.clone());
            }
        }
        let scope = Scope { project: memory.project.clone(), ..Scope::default() };
        // Of these each is one term; of others it is not known how many are missing with them. A
        // contraction is another word in the text.
        let is_plain = |word: &&String| {
            word.bytes().all(|letter| letter.is_ascii_lowercase())
                && !is_date_word(word)
                && !AUXILIARIES.contains(&word.as_str())
        };
        let plain: Vec<String> = words.iter().filter(is_plain).cloned().collect();
        let query = |words| LexicalQuery { words, phrases: Vec::new() };
        self.with_index(|index| {
            let frequencies = index.document_frequencies(&words);
            let mut rarest: Vec<(u64, String)> = frequencies.into_iter().zip(words).collect();
            rarest.sort();
            rarest.truncate(WORDS_ASKED_MAX);
            let rarest = query(rarest.into_iter().map(|(_, word)| word).collect());
            let hits = index.search(&rarest, &scope, CANDIDATES_MAX + 1);
            let others = hits.iter().map(|hit| hit.number).filter(|other| *other != number);
            let mut others: Vec<MemoryNumber> = others.take(CANDIDATES_MAX).collect();
            if WORDS_MISSING_MAX < plain.len() {
                let n_missing = index.ask(&query(plain)).n_missing(&others);
                let mut n_missing = n_missing.into_iter();
                others.retain(|_| n_missing.next().is_some_and(|n| n <= WORDS_MISSING_MAX));
            }
            others
        })
    }
}

/// Tells whether a statement is worth looking up: a short one always, a long one when it names
/// something.
fn may_differ(statement: &Statement) -> bool {
    let names = |token: &Token| {
        token.has_digit()
            || token.is_negation()
            || token.written.chars().any(char::is_uppercase)
            || token.written.contains('/')
    };
    statement.tokens.len() <= SHORT_TOKENS_MAX || statement.tokens.iter().skip(1).any(names)
}

/// When something was said, among what was said at the same time.
type Said = (Timestamp, MemoryNumber);

/// Another memory, and what it states.
struct Other {
    number: MemoryNumber,
    said: Said,
    statements: Vec<Statement>,
}

/// Reads those that still hold and belong to the same project.
fn comparable(reader: &Reader, memory: &Memory, numbers: &[MemoryNumber]) -> Result<Vec<Other>> {
    let mut others = Vec::new();
    for (number, other) in reader.numbered(numbers)? {
        // What an assistant reports of its work differs from report to report.
        let is_of_the_user = [other.role, memory.role].contains(&Role::User);
        let is_comparable = other.project == memory.project
            && is_of_the_user
            && other.valid_to.is_none()
            && other.role != Role::System;
        if is_comparable {
            let statements = statements_of(&other);
            others.push(Other { number, said: (other.turn_at, number), statements });
        }
    }
    others.sort_by_key(|other| other.said);
    Ok(others)
}

/// Compares a statement with what was said before it, the latest first, and with the next that was
/// said after it. Where the same was said, what lies beyond was dealt with then.
fn against(said: Said, statement: &Statement, others: &[Other]) -> Vec<Opposed> {
    let mut opposed = Vec::new();
    for other in others.iter().rev().filter(|other| other.said < said) {
        match nearest(other, |theirs| compare(theirs, statement)) {
            Comparison::Differ(slot) if opposed.len() < DISPUTES_MAX_EACH => {
                opposed.push(Opposed { other: other.number, comes: Comes::Before, slot });
            }
            Comparison::Unrelated => {}
            Comparison::Same | Comparison::Differ(_) => break,
        }
    }
    for other in others.iter().filter(|other| said < other.said) {
        match nearest(other, |theirs| compare(statement, theirs)) {
            Comparison::Unrelated => continue,
            Comparison::Differ(slot) => {
                opposed.push(Opposed { other: other.number, comes: Comes::After, slot });
            }
            Comparison::Same => {}
        }
        break;
    }
    opposed
}

/// A memory that states otherwise what the one looked at states.
#[derive(Debug)]
pub(crate) struct Opposed {
    other: MemoryNumber,
    comes: Comes,
    slot: Slot,
}

/// Where the other one stands in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    Before,
    After,
}

impl Opposed {
    /// Returns the dispute with the memory looked at, now that it has a number.
    fn to(&self, own: MemoryNumber) -> NewDispute {
        let (earlier, later) = match self.comes {
            Comes::Before => (self.other, own),
            Comes::After => (own, self.other),
        };
        let Slot { what, old_value, new_value } = self.slot.clone();
        NewDispute { earlier, later, what, old_value, new_value }
    }
}

/// Keeps what stands against a memory.
pub(crate) fn keep_opposed(
    writing: &Writing<'_>,
    number: MemoryNumber,
    opposed: &[Opposed],
    now: Timestamp,
) -> Result<()> {
    let disputes: Vec<NewDispute> = opposed.iter().map(|one| one.to(number)).collect();
    keep(writing, &disputes, now).map(drop)
}

/// Compares a statement with all of another memory: who says the same somewhere does not differ.
fn nearest(other: &Other, compare: impl Fn(&Statement) -> Comparison) -> Comparison {
    let mut nearest = Comparison::Unrelated;
    for theirs in &other.statements {
        match compare(theirs) {
            Comparison::Same => return Comparison::Same,
            Comparison::Differ(slot) => nearest = Comparison::Differ(slot),
            Comparison::Unrelated => {}
        }
    }
    nearest
}

/// Keeps what is new, says so in one event, and returns how many there were.
fn keep(writing: &Writing<'_>, disputes: &[NewDispute], now: Timestamp) -> Result<u64> {
    let mut n_new = 0;
    let mut sources: Vec<MemoryId> = Vec::new();
    for dispute in disputes {
        if !writing.put_dispute(dispute, now)? {
            continue;
        }
        n_new += 1;
        if sources.len() < SOURCES_MAX {
            let pair = writing.read().numbered(&[dispute.earlier, dispute.later])?;
            sources.extend(pair.iter().map(|(_, memory)| memory.id));
        }
    }
    if 0 < n_new {
        writing.drop_disputes(DISPUTES_MAX, disputes.len())?;
        writing.event(&NewEvent {
            kind: "s4_contradiction".to_owned(),
            severity: Some(Severity::Info),
            domain: Some("memory".to_owned()),
            at: now,
            data: json!({"mechanism": "disputed", "count": n_new}),
            session: None,
            sources,
        })?;
    }
    Ok(n_new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Trial, now};

    /// Stores texts, runs the step, and returns the values that stand against each other.
    #[track_caller]
    fn check(texts: &[&str], expect: &[(usize, usize, &str, &str)]) {
        let trial = Trial::new();
        let ids = trial.tell(texts);
        trial.run(&Disputes, now());
        let found = trial.engine.read(|reader| Ok(reader.open_disputes(99)?)).unwrap();
        let place = |id| ids.iter().position(|known| *known == id).unwrap();
        let mut found: Vec<(usize, usize, String, String)> = found
            .into_iter()
            .map(|dispute| {
                let pair = (place(dispute.earlier_id), place(dispute.later_id));
                (pair.0, pair.1, dispute.about.old_value, dispute.about.new_value)
            })
            .collect();
        found.sort();
        let expect: Vec<_> = (expect.iter())
            .map(|(old, new, was, is)| (*old, *new, (*was).to_owned(), (*is).to_owned()))
            .collect();
        assert_eq!(found, expect, "{texts:?}");
    }

    const PORT: &str = "The billing service listens on port 8080.";
    const OTHER_PORT: &str = "Careful: the billing service now listens on port 9090.";

    #[test]
    fn the_same_sentence_with_another_value_is_a_dispute() {
        let said = "By the way. The billing service now listens on port 9090. Lunch?";
        check(&[PORT, "we had soup for lunch yesterday", said], &[(0, 2, "8080", "9090")]);
        check(&[PORT, OTHER_PORT], &[(0, 1, "8080", "9090")]);
        let denied = "- The billing service listens on port 9090, not 8080.";
        check(&[PORT, denied], &[(0, 1, "8080", "9090")]);
    }

    #[test]
    fn a_value_of_four_words_in_a_long_sentence_is_a_dispute() {
        let owned_by = |whom: &str| {
            format!("The nightly export of the settled invoices is owned and watched by {whom}.")
        };
        let (old, new) = ("Harbour Ledger Operations Team", "Quayside Billing Support Group");
        check(&[&owned_by(old), &owned_by(new)], &[(0, 1, old, new)]);
        let not_by = |whom: &str| format!("The nightly export mustn't be watched by {whom}");
        check(&[&not_by(old), &not_by(new)], &[(0, 1, old, new)]);
        let closed = |from: &str, to: &str| {
            format!("The harbour office is closed from {from} to {to} this year")
        };
        let (winter, spring) =
            (("Monday 3 January", "Friday 7 February"), ("Tuesday 4 March", "Saturday 8 April"));
        let values = |(from, to): (&str, &str)| format!("{from} and {to}");
        check(
            &[&closed(winter.0, winter.1), &closed(spring.0, spring.1)],
            &[(0, 1, &values(winter), &values(spring))],
        );
    }

    #[test]
    fn what_is_remarked_behind_a_value_hides_no_difference() {
        let kept = "Good. Seat holds expire after 8 minutes, keep that number in mind.";
        let slow = "Seat holds expire after 12 minutes now, the page of the bank is slow.";
        check(&[kept, slow], &[(0, 1, "8", "12")]);
        let first = "The launch of the site is planned for 9 June, not 12 May.";
        let last = "The launch of the site is planned for 23 June; the port needs two more weeks.";
        check(&[first, last], &[(0, 1, "9", "23")]);
    }

    #[test]
    fn what_is_denied_counted_in_words_or_runs_elsewhere_is_a_dispute() {
        let uses = "The checkout uses Redis for its sessions.";
        let uses_not = "The checkout does not use Redis for its sessions.";
        check(&[uses, uses_not], &[(0, 1, "uses", "does not use")]);
        check(
            &["We deploy on Fridays.", "We don't deploy on Fridays."],
            &[(0, 1, "deploy", "do not deploy")],
        );
        check(
            &["The upload limit is five", "The upload limit is seven"],
            &[(0, 1, "five", "seven")],
        );
        check(
            &["CI runs on GitHub Actions.", "CI runs on Buildkite now."],
            &[(0, 1, "GitHub Actions", "Buildkite")],
        );
        check(&["CI läuft auf GitLab.", "CI läuft auf Jenkins."], &[(0, 1, "GitLab", "Jenkins")]);
    }

    #[test]
    fn other_subjects_lists_and_questions_are_no_dispute() {
        let uses = "The checkout uses Redis for its sessions.";
        check(&[uses, "The search does not use Redis for its sessions."], &[]);
        check(&[uses, "Does the checkout not use Redis for its sessions?"], &[]);
        check(&["We deploy on Fridays.", "Do we deploy on Fridays or not?"], &[]);
        check(&["The upload limit is five", "The upload limit is 5"], &[]);
        check(&["CI runs on GitHub Actions.", "CI runs on Linux, Windows."], &[]);
        check(&["CI runs on GitHub Actions.", "CI runs on GitHub Actions and Buildkite."], &[]);
        check(&["CI runs on Linux.", "The crash appears on Windows."], &[]);
        check(&["The crash appears on Linux.", "The crash appears on Windows."], &[]);
        check(&["CI runs on GitHub Actions.", "CI runs on Buildkite?"], &[]);
        check(&["CI runs on every push.", "CI runs on each commit."], &[]);
    }

    #[test]
    fn what_was_said_between_decides() {
        let next = "The billing service listens on port 9090.";
        check(&[PORT, next, next], &[(0, 1, "8080", "9090")]);
        check(&[PORT, PORT, next], &[(0, 2, "8080", "9090"), (1, 2, "8080", "9090")]);
        check(&[PORT, next, PORT], &[(0, 1, "8080", "9090"), (1, 2, "9090", "8080")]);
    }

    #[test]
    fn nothing_is_compared_twice() {
        let trial = Trial::new();
        trial.tell(&[PORT, "The billing service listens on port 9090."]);
        assert_eq!(trial.run(&Disputes, now())["disputes_found"], 1);
        assert!(trial.run(&Disputes, now()).is_empty());
        trial.tell(&["The billing service listens on port 7070."]);
        let effects = trial.run(&Disputes, now());
        assert_eq!((effects["memories_compared"], effects["disputes_found"]), (1, 2));
    }

    #[test]
    fn many_sentences_of_one_form_about_different_things_do_not_differ() {
        let texts: Vec<String> = (0..300)
            .map(|n| format!("The service{n} process listens on port {}.", 8000 + n))
            .collect();
        let trial = Trial::new();
        trial.tell(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(trial.run(&Disputes, now())["disputes_found"], 0);
        trial.tell(&["The service77 process listens on port 1."]);
        assert_eq!(trial.run(&Disputes, now())["disputes_found"], 1);
    }
}
