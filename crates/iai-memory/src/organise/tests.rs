//! The scheduler: calls, failures, holds, and making way.

use std::sync::atomic::{AtomicU64, Ordering};

use iai_store::{KeySource, MemoryId, StorePaths};
use jiff::SignedDuration;

use super::*;
use crate::trial::Trial;

/// Does something until its progress says three, and makes way once.
struct CountToThree;

impl Step for CountToThree {
    fn name(&self) -> &'static str {
        "count"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
        let n = progress.state.get("n").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if n == 3 {
            return Ok(Advance::Nothing);
        }
        progress.state = serde_json::json!({"n": n + 1});
        engine.write(|writing| Ok(writing.put_step(self.name(), &progress, shift.now)?))?;
        Ok(if n == 1 { Advance::MadeWay } else { Advance::Did(Effects::from([("n", 1)])) })
    }
}

/// Fails as often as it is called.
#[derive(Default)]
struct Failing(AtomicU64);

impl Step for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, _: &MemoryEngine, _: &Shift<'_>) -> Result<Advance> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err(MemoryError::bad("test", "as ordered"))
    }
}

fn engine(folder: &std::path::Path) -> MemoryEngine {
    let paths = StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join("key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    };
    MemoryEngine::open(&paths, &KeySource { passphrase: None }, Timestamp::UNIX_EPOCH).unwrap().0
}

fn run(engine: &MemoryEngine, steps: &[&dyn Step], occasion: Occasion, hour: i64) -> bool {
    let at = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hour);
    engine.organise.begin_round(None);
    engine.run_steps(steps, occasion, &|| at).unwrap()
}

#[test]
fn a_step_is_called_until_it_has_nothing_to_do_and_then_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    assert!(run(&engine, &[&CountToThree], Occasion::Soon, 0));
    let done = engine.organise.end_round(None);
    assert_eq!(done.effects, BTreeMap::from([("count", Effects::from([("n", 2)]))]));
    assert!(run(&engine, &[&CountToThree], Occasion::Demand, 0));
    assert!(engine.organise.end_round(None).effects.is_empty());
}

#[test]
fn a_step_that_fails_three_times_rests_for_a_day_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let failing = Failing::default();
    for (hour, n_calls) in [(0, 1), (1, 2), (2, 3), (3, 3), (25, 3), (26, 4), (27, 5)] {
        assert!(run(&engine, &[&failing, &CountToThree], Occasion::Idle, hour));
        assert_eq!(failing.0.load(Ordering::Relaxed), n_calls, "hour {hour}");
        let done = engine.organise.end_round(None);
        assert_eq!(done.resting.is_empty(), !(3..=25).contains(&hour));
    }
}

#[test]
fn idle_work_is_held_back_and_what_is_wanted_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    engine.hold_organising(Some(Timestamp::UNIX_EPOCH + SignedDuration::from_hours(2)));
    assert!(!run(&engine, &[&CountToThree], Occasion::Idle, 1));
    assert!(engine.organise.end_round(None).effects.is_empty());
    assert!(run(&engine, &[&CountToThree], Occasion::Demand, 1));
    assert_eq!(engine.organise.end_round(None).effects.len(), 1);
    assert!(run(&engine, &[&CountToThree], Occasion::Idle, 2));
    engine.hold_organising(None);
    assert!(!run(&engine, &[&CountToThree], Occasion::Idle, 999));
    engine.resume_organising();
    assert!(run(&engine, &[&CountToThree], Occasion::Idle, 1));
}

/// Steps that read memory by memory; the others work on what these have made.
const READING: &[&str] =
    &["attributes", "formality", "disputes", "remarks", "nearness", "facts", "entity_links"];

/// Nobody is waited for: who asks in these tests asks without end.
fn shift(engine: &MemoryEngine) -> Shift<'_> {
    let shift = Shift::new(Timestamp::UNIX_EPOCH, Occasion::Demand, &engine.organise);
    Shift { patience: Duration::ZERO, ..shift }
}

fn up_to(engine: &MemoryEngine, step: &dyn Step) -> u32 {
    engine.read(|reader| Ok(reader.step(step.name())?)).unwrap().up_to.get()
}

#[test]
fn a_step_that_must_make_way_at_once_does_nothing() {
    let trial = Trial::new();
    trial.tell(&["The billing service listens on port 8080."; 40]);
    trial.engine.stop_organising();
    for step in STEPS {
        let done = step.advance(&trial.engine, &shift(&trial.engine)).unwrap();
        assert!(!matches!(done, Advance::Did(_)), "{}: {done:?}", step.name());
        assert_eq!(up_to(&trial.engine, *step), 0, "{}", step.name());
    }
}

/// A look lets by what takes a few milliseconds: one memory, not a batch of them.
#[test]
fn between_two_looks_a_step_reads_one_memory() {
    let trial = Trial::new();
    trial.tell(&["The billing service listens on port 8080."; 40]);
    for step in STEPS.iter().filter(|step| READING.contains(&step.name())) {
        let shift = shift(&trial.engine);
        while matches!(step.advance(&trial.engine, &shift).unwrap(), Advance::Did(_)) {}
        assert_eq!(up_to(&trial.engine, *step), 40, "{}", step.name());
        assert!(40 <= shift.n_looks.get(), "{}: {}", step.name(), shift.n_looks.get());
    }
}

/// Whoever is asked without end does one piece of work at a time, but does it.
#[test]
fn a_step_that_is_asked_without_end_comes_forward_by_one_memory() {
    let trial = Trial::new();
    trial.tell(&["The billing service listens on port 8080."; 40]);
    let _asking = trial.engine.asking();
    for n in 1..=3 {
        let done = Attributes.advance(&trial.engine, &shift(&trial.engine)).unwrap();
        assert!(matches!(done, Advance::Did(_)), "{done:?}");
        assert_eq!(up_to(&trial.engine, &Attributes), n);
    }
}

/// Who asks in the middle of a batch waits for the memory under way; the batch waits for them, is
/// not cut, and needs one commit however often it was interrupted.
#[test]
fn a_question_in_the_middle_of_a_batch_is_waited_for() {
    let trial = Trial::new();
    let ids = trial.tell(&["The billing service listens on port 8080."; 8]);
    let engine = &trial.engine;
    let shift = Shift::new(Timestamp::UNIX_EPOCH, Occasion::Demand, &engine.organise);
    let mut seen: Vec<(MemoryId, bool)> = Vec::new();
    std::thread::scope(|scope| {
        let seen = &mut seen;
        let done = shift.one_by_one(&ids, |id| {
            seen.push((*id, engine.organise.is_asked()));
            let asking = engine.asking();
            // Answered by another thread, whenever that comes to it: the next piece waits.
            scope.spawn(move || drop(asking));
            Ok(())
        });
        assert_eq!(done.unwrap(), ids);
    });
    assert!(seen.iter().all(|(_, is_asked)| !is_asked), "{seen:?}");
}

/// A request waits for at most what lies between two looks: no step may write more than a few
/// milliseconds' worth of rows there.
#[test]
fn between_two_looks_a_step_writes_few_rows() {
    const ROWS_MAX: u64 = 4000;
    let trial = Trial::new();
    let texts: Vec<String> = (0..600)
        .map(|n| {
            format!(
                "Always run `make check{}` before service{} listens on port {n}.",
                n % 9,
                n % 90
            )
        })
        .collect();
    trial.tell(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let engine = &trial.engine;
    for step in STEPS {
        let (rows, most) = (Cell::new(n_rows_changed(engine)), Cell::new(0));
        let look = || {
            let now = n_rows_changed(engine);
            most.set(most.get().max(now - rows.replace(now)));
        };
        let shift = Shift { at_look: Some(&look), ..shift(engine) };
        while step.advance(engine, &shift).unwrap() != Advance::Nothing {}
        look();
        assert!(most.get() <= ROWS_MAX, "{}: {}", step.name(), most.get());
    }
}

fn n_rows_changed(engine: &MemoryEngine) -> u64 {
    engine.with_writer(|store| Ok(store.n_rows_changed())).unwrap()
}

#[test]
fn whoever_asks_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let (now, occasion) = (Timestamp::UNIX_EPOCH, Occasion::Idle);
    let shift = Shift::new(now, occasion, &engine.organise);
    assert!(!shift.must_make_way());
    let (first, second) = (engine.asking(), engine.asking());
    drop(first);
    assert!(shift.must_make_way());
    drop(second);
    assert!(!shift.must_make_way() && shift.step_aside());
    engine.stop_organising();
    assert!(shift.must_make_way() && !shift.step_aside());
}

/// A round under way hears every ring; who wanted one meanwhile is served when it is over.
#[test]
fn a_wish_whose_ring_was_heard_is_served_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    engine.organise.state().is_begun = true;
    engine.hold_organising(None);
    let wish = engine.organise.demand();
    assert!(engine.organise.bell.hear_ring());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let clock = || Timestamp::UNIX_EPOCH;
            let pace = Pace { clock: &clock, idle_min: Duration::MAX, after_idle_round: &|| () };
            engine.organise_until_stopped(&pace).unwrap();
        });
        let (_, served) = engine.organise.wait_served(wish, Duration::from_secs(60));
        engine.stop_organising();
        assert_eq!(served, room::Served::Whole);
    });
}
