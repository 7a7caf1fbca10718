//! What is forgotten is gone from answers and from every page, whatever was made of it.

use iai_store::CheckDepth;

use super::*;
use crate::recall::RecallAsk;
use crate::trial::{Trial, now};

const CANARY: &str = "zanzibarlighthouse";

fn ask(containing: &str) -> ForgetAsk {
    ForgetAsk { containing: Some(containing.to_owned()), ..ForgetAsk::default() }
}

fn work_off(engine: &MemoryEngine) -> Result<()> {
    let work =
        ForgetWork { clock: &now, erase_names: &|_: &GoneNames| Ok(()), must_stop: &|| false };
    engine.work_off_forgetting(&work)
}

fn forget(engine: &MemoryEngine, ask: &ForgetAsk) -> ForgetProgress {
    let receipt = engine.begin_forgetting(ask, ForgetReason::Asked, None, now()).unwrap();
    work_off(engine).unwrap();
    engine.forget_progress(receipt, Duration::ZERO).unwrap()
}

fn is_in_pages(engine: &MemoryEngine, word: &str) -> bool {
    let pages = engine.with_writer(|store| Ok(store.raw_pages()?)).unwrap();
    pages.windows(word.len()).any(|bytes| bytes.eq_ignore_ascii_case(word.as_bytes()))
}

fn n_hits(engine: &MemoryEngine, cue: &str) -> usize {
    let hits = engine.recall(&RecallAsk::new(cue, 2000), now()).unwrap().hits;
    hits.iter().filter(|hit| hit.literal_surface.contains(CANARY)).count()
}

#[test]
fn whatever_was_made_of_a_memory_goes_with_it() {
    let trial = Trial::new();
    let engine = &trial.engine;
    let telling = [
        format!("I prefer the {CANARY} over the ferry, always book {CANARY}"),
        format!("run `cargo {CANARY}` and look at src/{CANARY}.rs"),
        format!("From now on remember: {CANARY} opens at nine"),
        format!("{CANARY} opens at ten, the Zanzibar Office said"),
    ];
    let all: Vec<String> = (0..6)
        .flat_map(|n| telling.iter().map(move |text| format!("{text}, day {n}")))
        .chain((0..20).map(|n| format!("the garden needs water on day {n}")))
        .collect();
    trial.tell(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let consolidate =
        || engine.consolidate(crate::organise::Patience(Duration::ZERO), &now).unwrap();
    consolidate();
    engine
        .recall(&RecallAsk::new(format!("unheard questions about {CANARY} boats"), 500), now())
        .unwrap();
    consolidate();
    assert!(0 < n_hits(engine, CANARY) && is_in_pages(engine, CANARY));
    let preview = engine.forget_preview(&ask(CANARY)).unwrap();
    assert!(24 <= preview.count && preview.memories.len() == 20, "{preview:?}");
    let done = forget(engine, &ask(CANARY));
    assert!(done.is_finished && done.failed.is_none() && done.left == 0, "{done:?}");
    assert_eq!(n_hits(engine, CANARY), 0);
    assert!(!is_in_pages(engine, CANARY));
    engine
        .recall(&RecallAsk::new(format!("what did we say of {CANARY} boats"), 500), now())
        .unwrap();
    consolidate();
    assert!(!is_in_pages(engine, CANARY), "nor does asking again note it");
    assert_eq!(engine.check(CheckDepth::Deep).unwrap().problems, []);
    assert_eq!(engine.check_forgotten().unwrap().problems, []);
}

#[test]
fn a_confirmation_holds_only_for_what_was_shown() {
    let trial = Trial::new();
    trial.tell(&["the sea is blue"]);
    let seal = trial.engine.forget_preview(&ask("sea")).unwrap().seal;
    trial.tell(&["the sea is grey"]);
    let begin = |ask: &ForgetAsk, seal: &str| {
        trial.engine.begin_forgetting(ask, ForgetReason::Asked, Some(seal), now())
    };
    assert!(begin(&ask("sea"), &seal).unwrap_err().to_string().contains("no longer fits"));
    let seal = trial.engine.forget_preview(&ask("sea")).unwrap().seal;
    assert!(begin(&ask("Sea"), &seal).is_err(), "other letters are another wish");
    begin(&ask("sea"), &seal).unwrap();
    work_off(&trial.engine).unwrap();
    assert_eq!(trial.engine.overview().unwrap().memories, 0);
}

#[test]
fn no_wish_an_empty_one_and_an_unknown_id_are_refused() {
    let trial = Trial::new();
    for (bad, word) in [
        (ForgetAsk::default(), "`ids`"),
        (ask("  "), "`match`"),
        (ForgetAsk { ids: vec!["ffffffff".to_owned()], ..ForgetAsk::default() }, "ffffffff"),
    ] {
        let error = trial.engine.forget_preview(&bad).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let nowhere = ForgetAsk { project: Some("nowhere".to_owned()), ..ForgetAsk::default() };
    assert_eq!(trial.engine.forget_preview(&nowhere).unwrap().count, 0);
}

#[test]
fn a_failure_outside_leaves_the_receipt_open_and_the_next_try_ends_it() {
    let trial = Trial::new();
    trial.tell(&["the sea is blue"]);
    let engine = &trial.engine;
    let receipt = engine.begin_forgetting(&ask("sea"), ForgetReason::Asked, None, now()).unwrap();
    let work = ForgetWork {
        clock: &now,
        erase_names: &|_: &GoneNames| Err(std::io::Error::other("no disk")),
        must_stop: &|| false,
    };
    assert!(engine.work_off_forgetting(&work).is_err());
    let progress = engine.forget_progress(receipt, Duration::from_secs(60)).unwrap();
    assert!(!progress.is_finished && progress.failed.unwrap().contains("no disk"));
    assert!(engine.has_unfinished_forgetting().unwrap());
    work_off(engine).unwrap();
    assert!(engine.forget_progress(receipt, Duration::ZERO).unwrap().is_finished);
    assert_eq!(engine.forget_receipts(10).unwrap()[0].count, 1);
}
