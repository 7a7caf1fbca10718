//! What holds now wins over what it replaced, in any language, along any chain; the old wording
//! stays findable.

use iai_memory::{MemoryId, RecallAnswer};

use crate::fixture::{Home, batch, days_ago, now, texts, turn};

fn id_of(home: &Home, text: &str) -> MemoryId {
    let answer = home.recall(&format!("\"{text}\""));
    answer.hits.iter().find(|hit| hit.literal_surface == text).unwrap().record_id
}

fn contradict(home: &Home, old: &str, new: &str) -> MemoryId {
    let id = id_of(home, old).to_string();
    home.engine.contradict(&id, new, "later session", now()).unwrap().new_record_id
}

#[track_caller]
fn place(answer: &RecallAnswer, text: &str) -> usize {
    let order = texts(answer);
    order.iter().position(|hit| *hit == text).expect("it is among the hits")
}

/// A4: contradict, then ask: the new fact first, the old one marked stale below it.
#[test]
fn a_correction_ranks_first_and_the_old_wording_below_it_is_stale() {
    let old = "the database of the shop runs on port 5432";
    let mut turns = vec![old.to_owned()];
    turns.extend((0..60).map(|n| format!("the database of store{n} runs on port {}", 6000 + n)));
    let home = Home::with_turns(&turns.iter().map(String::as_str).collect::<Vec<_>>());
    let new = contradict(&home, old, "shop moved to 6543");
    let answer = home.recall("on which port does the database of the shop run");
    assert_eq!(answer.hits[0].record_id, new, "{:?}", texts(&answer));
    assert_eq!(answer.hits[0].valid_to, None);
    let stale = &answer.hits[place(&answer, old)];
    assert!(stale.reason.ends_with(" · stale"), "{}", stale.reason);
    assert_eq!(stale.valid_to, answer.hits[0].valid_from);
    assert_eq!((stale.relation, stale.partner_id), (Some("superseded_by"), Some(new)));
    assert_eq!((answer.hits[0].relation, answer.hits[0].partner_id), (None, None));
}

/// A5: contradict in Russian.
#[test]
fn a_correction_may_be_in_another_language() {
    let home = Home::with_turns(&["the release is on Friday", "the release party is at the pier"]);
    let new = contradict(&home, "the release is on Friday", "релиз перенесли на понедельник");
    assert_eq!(home.recall("when is the release").hits[0].record_id, new);
    assert_eq!(home.recall("перенесли релиз").hits[0].record_id, new);
    assert_eq!(home.recall("перенесли релиз").hits[0].session_id, "later session");
}

/// Hits fill the room, and yet it is told what the first of them replaced.
#[test]
fn what_was_replaced_is_told_in_a_small_room_too() {
    let old = "on Fridays the harbour office closes at noon";
    let mut turns = vec![old.to_owned()];
    let other =
        |n: usize| format!("the harbour office of pier {n} closes late, by {n} pm on Monday");
    turns.extend((0..40).map(other));
    let home = Home::with_turns(&turns.iter().map(String::as_str).collect::<Vec<_>>());
    let new = contradict(&home, old, "the harbour office closes at three");
    let is_told = |answer: &RecallAnswer| {
        let told = answer.hits.iter().chain(&answer.anti_hits);
        told.filter(|hit| hit.partner_id == Some(new)).count() == 1
    };
    for budget in [600, 1500, 3000] {
        let answer = home.recall_within("when does the harbour office close", budget);
        assert_eq!(answer.hits[0].record_id, new, "{budget}: {:?}", texts(&answer));
        assert!(is_told(&answer), "{budget}: {answer:?}");
    }
}

#[test]
fn whichever_of_a_chain_is_found_brings_the_current_one() {
    let home = Home::with_turns(&["the mascot is a falcon", "lunch is served at noon"]);
    contradict(&home, "the mascot is a falcon", "we switched to an otter");
    let current = contradict(&home, "we switched to an otter", "it became a heron");
    for cue in ["falcon mascot", "switched otter", "became heron"] {
        let answer = home.recall(cue);
        assert_eq!(answer.hits[0].record_id, current, "{cue}: {:?}", texts(&answer));
        let stale = answer.hits.iter().filter(|hit| hit.reason.ends_with(" · stale"));
        let n_superseded = answer.anti_hits.iter().filter(|hit| hit.partner_id == Some(current));
        assert_eq!(stale.count() + n_superseded.count(), 2, "{cue}: {answer:?}");
    }
}

#[test]
fn a_correction_of_the_outdated_corrects_what_holds_now() {
    let home = Home::with_turns(&["the mascot is a falcon"]);
    let first = id_of(&home, "the mascot is a falcon");
    contradict(&home, "the mascot is a falcon", "the mascot is an otter");
    let late = home.engine.contradict(&first.to_string(), "the mascot is a heron", "s", now());
    let late = late.unwrap();
    assert_eq!(late.original_id, first);
    let answer = home.recall("mascot");
    let order = texts(&answer);
    assert_eq!(
        order,
        ["the mascot is a heron", "the mascot is an otter", "the mascot is a falcon"]
    );
    // Said again, it is what holds already.
    let again = home.engine.contradict(&first.to_string(), "the mascot is a heron", "t", now());
    assert_eq!(again.unwrap().new_record_id, late.new_record_id);
    assert_eq!(home.engine.overview().unwrap().memories, 3);
}

#[test]
fn back_to_the_first_wording_is_a_new_memory_and_no_circle() {
    let home = Home::new();
    let ask = |text: &str| iai_memory::CaptureAsk {
        text: text.to_owned(),
        cue: None,
        tier: iai_memory::Tier::Episodic,
        role: iai_memory::Role::User,
        session: "s".to_owned(),
        project: None,
        cwd: None,
    };
    let captured = home.engine.capture(&ask("the mascot is a falcon"), now()).unwrap();
    let mut ids = vec![captured.record_id.unwrap()];
    for text in ["the mascot is an otter", "the mascot is a falcon", "the mascot is an otter"] {
        let last = ids[ids.len() - 1].to_string();
        ids.push(home.engine.contradict(&last, text, "s", now()).unwrap().new_record_id);
    }
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 4);
    for cue in ["mascot falcon", "mascot otter"] {
        assert_eq!(home.recall(cue).hits[0].record_id, ids[3]);
    }
    let back = home.engine.contradict(&ids[0].to_string(), "the mascot is an otter", "s", now());
    assert_eq!(back.unwrap().new_record_id, ids[3]);
}

#[test]
fn whoever_asks_how_it_was_finds_the_old_wording() {
    let old = "the database of the shop runs on port 5432";
    let mut turns = vec![old.to_owned()];
    turns.extend((0..60).map(|n| format!("the shop of region{n} has a database on port 6{n:03}")));
    let home = Home::with_turns(&turns.iter().map(String::as_str).collect::<Vec<_>>());
    contradict(&home, old, "the shop database moved to 6543");
    for cue in [
        "which port did the database of the shop use before",
        "what did the database of the shop originally run on",
        "\"database of the shop runs on port 5432\"",
    ] {
        assert!(place(&home.recall(cue), old) < 3, "{cue}");
    }
}

#[test]
fn the_current_fact_is_never_an_anti_hit() {
    let home = Home::with_turns(&["the mascot is a falcon", "the mascot is painted on the wall"]);
    let current = contradict(&home, "the mascot is a falcon", "since May we have an otter");
    for cue in ["mascot", "otter since May", "\"the mascot is a falcon\"", "falcon"] {
        let answer = home.recall(cue);
        assert!(answer.anti_hits.len() <= 3);
        for hit in &answer.anti_hits {
            assert_ne!(hit.record_id, current, "{cue}");
            assert_eq!(hit.relation, Some("superseded_by"));
            assert_eq!(hit.partner_id, Some(current));
        }
    }
    let told = home.recall("otter since May");
    assert_eq!(told.anti_hits[0].literal_surface, "the mascot is a falcon");
}

#[test]
fn asked_as_of_a_day_before_the_correction_the_old_fact_holds() {
    let home = Home::new();
    let text = "the mascot is a falcon";
    home.engine.store_batch(&batch("f", vec![turn(0, text, days_ago(9))]), now()).unwrap();
    contradict(&home, text, "the mascot is an otter");
    let ask = iai_memory::RecallAsk {
        as_of: Some(days_ago(3)),
        ..iai_memory::RecallAsk::new("what is the mascot", 9000)
    };
    let answer = home.engine.recall(&ask, now()).unwrap();
    assert_eq!(texts(&answer)[0], text);
    assert!(!answer.hits[0].reason.contains("stale"), "{}", answer.hits[0].reason);
}

#[test]
fn the_same_sentence_elsewhere_is_corrected_with_it_unless_it_is_said_again_later() {
    let text = "the mascot of the shop is a falcon";
    let said = |session: &str, text: &str, days: i64| iai_memory::NewMemory {
        session: session.to_owned(),
        ..turn(0, text, days_ago(days))
    };
    let home = Home::new();
    let turns = vec![said("a", text, 9), said("b", "The mascot of the shop is a falcon!", 2)];
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    let current = contradict(&home, text, "we have an otter since then");
    let answer = home.recall("what is the mascot of the shop");
    assert_eq!(answer.hits[0].record_id, current, "{:?}", texts(&answer));
    let copy = &answer.hits[place(&answer, "The mascot of the shop is a falcon!")];
    assert!(copy.reason.ends_with(" · stale") && copy.valid_to.is_some(), "{}", copy.reason);
    let again = "the mascot of the shop is a falcon";
    let later = batch("g", vec![said("c", again, -1)]);
    home.engine.store_batch(&later, now()).unwrap();
    let ask = iai_memory::RecallAsk::new("what is the mascot of the shop", 9000);
    let answer = home.engine.recall(&ask, days_ago(-2)).unwrap();
    let said_again = answer.hits.iter().find(|hit| hit.session_id == "c").unwrap();
    assert_eq!(said_again.valid_to, None, "{}", said_again.reason);
}

/// "It is blue now" of one thing is outdated, and still holds of another.
#[test]
fn the_same_few_words_correct_one_thing_and_another() {
    let home = Home::with_turns(&[
        "the heron flag is painted red",
        "the osprey flag is painted white",
        "lunch is served at noon",
    ]);
    let correct = |old: MemoryId, new: &str, session: &str| {
        home.engine.contradict(&old.to_string(), new, session, now()).unwrap().new_record_id
    };
    let heron = correct(id_of(&home, "the heron flag is painted red"), "Blue now.", "a");
    let osprey = correct(id_of(&home, "the osprey flag is painted white"), "Blue now.", "b");
    assert_ne!(heron, osprey);
    let green = correct(heron, "Green, after all.", "c");
    let answer = home.recall("how is the osprey flag painted");
    assert_eq!(answer.hits[0].record_id, osprey, "{answer:?}");
    assert_eq!(answer.hits[0].valid_to, None);
    assert_eq!(home.recall("how is the heron flag painted").hits[0].record_id, green);
}
