//! Counts facts by session and keeps the patterns they show: habits, what comes together, stated
//! preferences. Each pattern is known by what it says, so that counting again updates it.

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{
    FactKind, FactSeen, MemoryNumber, NewEvent, NewPattern, PatternKind, PatternPut, PatternStatus,
    Severity, StepProgress,
};
use jiff::Timestamp;
use serde_json::json;

use super::{Advance, Due, Effects, Shift, Step, facts};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// A pattern is sure from so many sessions on, and in this share of cases …
const AUTO: (u64, f64) = (5, 0.85);
/// … and worth a question from here on.
const PENDING: (u64, f64) = (3, 0.65);
/// Where the object is as frequent anyway, the subject says nothing about it.
const LIFT_MIN: f64 = 1.3;
/// Facts of a project whose pairs are counted: the most frequent.
const FACTS_PAIRED_MAX: usize = 160;
/// Patterns kept of a project: the surest.
const PATTERNS_MAX: usize = 100;
/// Memories kept as evidence of a pattern.
const EVIDENCE_MAX: usize = 50;
/// Rows read between two looks at who goes first.
const ROWS_PER_READ: usize = 4096;
/// Patterns written in one transaction.
const PATTERNS_PER_WRITE: usize = 200;

/// How patterns are found. By another rule everything is counted again, and what it does not find
/// goes.
const RULE: u64 = 2;

const NAME: &str = "patterns";

pub(super) struct Habits;

/// The sessions a fact was seen in, each with the first memory that shows it there.
type Sessions = BTreeMap<u32, MemoryNumber>;
/// Facts by project.
type Counts = BTreeMap<String, BTreeMap<u64, Sessions>>;
/// A fact, what it is, and where it was seen.
struct Fact<'a> {
    kind: FactKind,
    name: &'a str,
    sessions: &'a Sessions,
}

impl Step for Habits {
    fn name(&self) -> &'static str {
        NAME
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        if shift.must_make_way() {
            return Ok(Advance::MadeWay);
        }
        let (n_seen, taken, before) = engine.read(|reader| {
            Ok((reader.n_facts_seen()?, reader.step(facts::NAME)?, reader.step(NAME)?))
        })?;
        let state = json!({"n": n_seen, "up_to": taken.up_to.get(), "rule": RULE});
        if before.state == state || (n_seen == 0 && before.state.get("n").is_none()) {
            return Ok(Advance::Nothing);
        }
        let Some(counts) = count(engine, shift)? else { return Ok(Advance::MadeWay) };
        let mut counted = Vec::new();
        for (project, facts) in &counts {
            match patterns_of(engine, shift, project, facts)? {
                Some(patterns) => counted.extend(patterns),
                None => return Ok(Advance::MadeWay),
            }
        }
        let effects = keep(engine, shift, &counted)?;
        let progress = StepProgress { state, ..StepProgress::default() };
        engine.write(|writing| {
            if !effects.is_empty() {
                writing.event(&run_event(&effects, counted.len(), shift.now))?;
            }
            Ok(writing.put_step(NAME, &progress, shift.now)?)
        })?;
        Ok(Advance::Did(effects))
    }
}

/// Adds up in which sessions of which projects each fact was seen.
fn count(engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Option<Counts>> {
    let mut counts = Counts::new();
    let mut last = FactSeen { memory: MemoryNumber::new(0), fact: 0 };
    loop {
        let rows = engine.read(|reader| Ok(reader.facts_after(last, ROWS_PER_READ)?))?;
        let Some(row) = rows.last() else { return Ok(Some(counts)) };
        last = *row;
        engine.with_index(|index| {
            let catalogue = index.catalogue();
            for FactSeen { memory, fact } in rows {
                let Some(entry) = catalogue.entry(memory) else { continue };
                let project = catalogue.project_name(memory).unwrap_or_default();
                if !counts.contains_key(project) {
                    counts.insert(project.to_owned(), BTreeMap::new());
                }
                if let Some(facts) = counts.get_mut(project) {
                    facts.entry(fact).or_default().entry(entry.session).or_insert(memory);
                }
            }
        })?;
        if !shift.step_aside() {
            return Ok(None);
        }
    }
}

/// Finds the patterns of one project; `None` when somebody sent it away.
fn patterns_of(
    engine: &MemoryEngine,
    shift: &Shift<'_>,
    project: &str,
    facts: &BTreeMap<u64, Sessions>,
) -> Result<Option<Vec<NewPattern>>> {
    let frequent: Vec<u64> = facts
        .iter()
        .filter(|(_, sessions)| PENDING.0 <= sessions.len() as u64)
        .map(|(fact, _)| *fact)
        .collect();
    let names = engine.read(|reader| Ok(reader.facts(&frequent)?))?;
    let mut known: Vec<Fact<'_>> = names
        .iter()
        .filter_map(|(number, (kind, name))| {
            Some(Fact { kind: *kind, name, sessions: facts.get(number)? })
        })
        .collect();
    known.sort_by(|a, b| b.sessions.len().cmp(&a.sessions.len()).then_with(|| a.name.cmp(b.name)));
    let all: BTreeSet<u32> = facts.values().flat_map(|sessions| sessions.keys().copied()).collect();
    let mut patterns = habits(project, &known);
    patterns.extend(preferences(project, &known));
    match associations(project, &known, all.len(), &|| shift.step_aside()) {
        Some(associations) => patterns.extend(associations),
        None => return Ok(None),
    }
    patterns.sort_by(|a, b| {
        let order = |pattern: &NewPattern| (pattern.status, u64::MAX - pattern.n_evidence);
        order(a)
            .cmp(&order(b))
            .then_with(|| (a.kind, &a.subject, &a.object).cmp(&(b.kind, &b.subject, &b.object)))
    });
    patterns.truncate(PATTERNS_MAX);
    Ok(Some(patterns))
}

/// Commands that are run in most sessions in which any is.
fn habits(project: &str, known: &[Fact<'_>]) -> Vec<NewPattern> {
    let commands = || known.iter().filter(|fact| fact.kind == FactKind::Command);
    let working: BTreeSet<u32> =
        commands().flat_map(|fact| fact.sessions.keys().copied()).collect();
    let pattern = |fact: &Fact<'_>| {
        let shown: Vec<MemoryNumber> = fact.sessions.values().copied().collect();
        let subject = (PatternKind::Habit, String::new(), spoken(fact));
        judged(project, subject, &shown, working.len() - shown.len())
    };
    commands().filter_map(pattern).collect()
}

/// What the user asked for in several sessions; asking for the opposite is an exception.
fn preferences(project: &str, known: &[Fact<'_>]) -> Vec<NewPattern> {
    let stated = || known.iter().filter(|fact| fact.kind == FactKind::Preference);
    let pattern = |fact: &Fact<'_>| {
        let opposite = facts::opposite_of(fact.name);
        let against = stated().find(|other| Some(other.name) == opposite.as_deref());
        let shown: Vec<MemoryNumber> = fact.sessions.values().copied().collect();
        let subject = (PatternKind::Preference, String::new(), fact.name.to_owned());
        judged(project, subject, &shown, against.map_or(0, |other| other.sessions.len()))
    };
    stated().filter_map(pattern).collect()
}

/// Commands and names that come together more often than by chance; of the two ways to say so, the
/// one that holds more often.
fn associations(
    project: &str,
    known: &[Fact<'_>],
    n_sessions: usize,
    may_go_on: &dyn Fn() -> bool,
) -> Option<Vec<NewPattern>> {
    let paired: Vec<&Fact<'_>> = known
        .iter()
        .filter(|fact| fact.kind != FactKind::Preference)
        .take(FACTS_PAIRED_MAX)
        .collect();
    let mut patterns = Vec::new();
    for (place, one) in paired.iter().enumerate() {
        if !may_go_on() {
            return None;
        }
        for other in paired.iter().skip(place + 1) {
            let said = |subject: &Fact<'_>, object: &Fact<'_>| {
                association(project, subject, object, n_sessions)
            };
            let (there, back) = (said(one, other), said(other, one));
            let confidence = |pattern: &Option<NewPattern>| pattern.as_ref().map(|p| p.confidence);
            // Of equal ones the first, so that every run says the same.
            let is_surer = confidence(&there) < confidence(&back);
            patterns.extend(if is_surer { back } else { there });
        }
    }
    Some(patterns)
}

/// "Where the one is, the other is too", should that tell anything.
fn association(
    project: &str,
    subject: &Fact<'_>,
    object: &Fact<'_>,
    n_sessions: usize,
) -> Option<NewPattern> {
    let both = object.sessions.iter().filter(|(s, _)| subject.sessions.contains_key(s));
    let shown: Vec<MemoryNumber> = both.map(|(_, memory)| *memory).collect();
    if !is_telling(shown.len(), subject, object, n_sessions) {
        return None;
    }
    let said = (PatternKind::Association, spoken(subject), spoken(object));
    judged(project, said, &shown, subject.sessions.len() - shown.len())
}

/// Compares how often the object comes with the subject with how often it comes at all.
#[expect(clippy::cast_precision_loss, reason = "counts of sessions")]
fn is_telling(n_both: usize, subject: &Fact<'_>, object: &Fact<'_>, n_sessions: usize) -> bool {
    let with = n_both as f64 / subject.sessions.len().max(1) as f64;
    let at_all = object.sessions.len() as f64 / n_sessions.max(1) as f64;
    LIFT_MIN * at_all <= with
}

/// Judges a pattern by how many sessions show it and how many should and do not.
#[expect(clippy::cast_precision_loss, reason = "counts of sessions")]
fn judged(
    project: &str,
    (kind, subject, object): (PatternKind, String, String),
    shown: &[MemoryNumber],
    n_exceptions: usize,
) -> Option<NewPattern> {
    let n_evidence = shown.len() as u64;
    let confidence = n_evidence as f64 / (n_evidence + n_exceptions as u64).max(1) as f64;
    let status = if AUTO.0 <= n_evidence && AUTO.1 <= confidence {
        PatternStatus::Auto
    } else if PENDING.0 <= n_evidence && PENDING.1 <= confidence {
        PatternStatus::Pending
    } else {
        return None;
    };
    let newest = shown.iter().rev().take(EVIDENCE_MAX).copied();
    Some(NewPattern {
        kind,
        subject,
        object,
        project: project.to_owned(),
        n_evidence,
        n_exceptions: n_exceptions as u64,
        confidence: (confidence * 1000.0).round() / 1000.0,
        status,
        evidence: newest.collect(),
    })
}

/// A command stands in backticks.
fn spoken(fact: &Fact<'_>) -> String {
    match fact.kind {
        FactKind::Command => format!("`{}`", fact.name),
        FactKind::Entity | FactKind::Preference => fact.name.to_owned(),
    }
}

/// Writes what was counted and drops what no longer holds.
fn keep(engine: &MemoryEngine, shift: &Shift<'_>, counted: &[NewPattern]) -> Result<Effects> {
    let known = engine.read(|reader| Ok(reader.patterns(None, usize::MAX)?))?;
    let key = |pattern: &NewPattern| {
        let NewPattern { kind, subject, object, project, .. } = pattern;
        (*kind, subject.clone(), object.clone(), project.clone())
    };
    let still: BTreeSet<_> = counted.iter().map(key).collect();
    let gone = known.iter().filter(|pattern| !still.contains(&key(&pattern.counted)));
    let gone: Vec<u64> = gone.map(|pattern| pattern.number).collect();
    let mut effects = Effects::new();
    for part in counted.chunks(PATTERNS_PER_WRITE) {
        shift.step_aside();
        engine.write(|writing| {
            for pattern in part {
                let effect = match writing.put_pattern(pattern, shift.now)? {
                    PatternPut::New => "patterns_found",
                    PatternPut::Changed => "patterns_updated",
                    PatternPut::Same => continue,
                };
                *effects.entry(effect).or_default() += 1;
            }
            Ok(())
        })?;
    }
    engine.write(|writing| {
        for number in &gone {
            writing.drop_pattern(*number)?;
        }
        Ok(())
    })?;
    if !gone.is_empty() {
        effects.insert("patterns_dropped", gone.len() as u64);
    }
    Ok(effects)
}

/// Says what a count changed, and how many patterns there are now.
fn run_event(effects: &Effects, n_patterns: usize, now: Timestamp) -> NewEvent {
    let n = |name| effects.get(name).copied().unwrap_or(0);
    NewEvent {
        kind: "schema_induction_run".to_owned(),
        severity: Some(Severity::Info),
        domain: Some("memory".to_owned()),
        at: now,
        data: json!({
            "patterns_found": n("patterns_found"),
            "patterns_updated": n("patterns_updated"),
            "patterns_dropped": n("patterns_dropped"),
            "patterns": n_patterns,
        }),
        session: None,
        sources: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(of: impl Iterator<Item = u32>) -> Sessions {
        of.map(|session| (session, MemoryNumber::new(session))).collect()
    }

    #[test]
    fn both_statuses_are_reached_and_exceptions_counted() {
        let check = |n_shown: u32, n_exceptions, expect: Option<(PatternStatus, f64)>| {
            let shown: Vec<MemoryNumber> = (1..=n_shown).map(MemoryNumber::new).collect();
            let said = (PatternKind::Habit, String::new(), "x".to_owned());
            let judged = judged("p", said, &shown, n_exceptions);
            assert_eq!(judged.map(|pattern| (pattern.status, pattern.confidence)), expect);
        };
        check(5, 0, Some((PatternStatus::Auto, 1.0)));
        check(17, 3, Some((PatternStatus::Auto, 0.85)));
        check(8, 2, Some((PatternStatus::Pending, 0.8)));
        check(3, 0, Some((PatternStatus::Pending, 1.0)));
        check(3, 2, None);
        check(2, 0, None);
    }

    #[test]
    fn what_is_everywhere_anyway_tells_nothing() {
        let (everywhere, here) = (sessions(0..20), sessions(0..6));
        let fact = |name, sessions| Fact { kind: FactKind::Entity, name, sessions };
        let with = sessions(0..6);
        let known = [fact("git", &everywhere), fact("a", &here), fact("b", &with)];
        let found = associations("p", &known, 20, &|| true).unwrap();
        let said: Vec<(&str, &str)> =
            found.iter().map(|p| (p.subject.as_str(), p.object.as_str())).collect();
        assert_eq!(said, [("a", "b")], "and not its mirror too");
        assert_eq!(found[0].n_evidence, 6);
        assert_eq!(found[0].status, PatternStatus::Auto);
    }

    #[test]
    fn of_two_ways_to_say_it_the_surer_one_is_told() {
        let (wide, narrow) = (sessions(0..7), sessions(0..5));
        let fact = |name, sessions| Fact { kind: FactKind::Entity, name, sessions };
        for known in [
            [fact("wide", &wide), fact("narrow", &narrow)],
            [fact("narrow", &narrow), fact("wide", &wide)],
        ] {
            let found = associations("p", &known, 40, &|| true).unwrap();
            let said: Vec<(&str, &str)> =
                found.iter().map(|p| (p.subject.as_str(), p.object.as_str())).collect();
            assert_eq!(said, [("narrow", "wide")]);
        }
    }

    #[test]
    fn asking_for_the_opposite_is_an_exception() {
        let (for_it, against) = (sessions(0..6), sessions(6..8));
        let fact = |name, sessions| Fact { kind: FactKind::Preference, name, sessions };
        let known = [fact("prefers a to b", &for_it), fact("prefers b to a", &against)];
        let found = preferences("p", &known);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].n_evidence, found[0].n_exceptions), (6, 2));
        assert_eq!(found[0].status, PatternStatus::Pending);
    }
}
