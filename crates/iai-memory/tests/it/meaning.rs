//! The meaning lane, with a model that knows words only by their letters: what is embedded, what
//! answers meanwhile, and what is left when a model is replaced.

use std::sync::Arc;

use iai_memory::{Embedder, FakeEmbedder, MeaningStatus, ModelKept};

use crate::asked::lived;
use crate::fixture::{Home, batch, days_ago, now, texts, turn};

fn attach(home: &Home, name: &str) {
    home.engine.attach_model(Arc::new(FakeEmbedder::new(name))).unwrap();
}

fn embed_all(home: &Home) {
    while home.engine.embed_step().unwrap() {}
}

fn status(home: &Home) -> MeaningStatus {
    home.engine.load_index().unwrap();
    home.engine.meaning_status()
}

#[test]
fn without_a_model_words_answer_and_say_so() {
    let home = Home::with_turns(&["the retry policy is five attempts"]);
    let answer = home.recall("retry policy");
    assert_eq!(texts(&answer), ["the retry policy is five attempts"]);
    assert!(answer.hints.iter().any(|hint| hint.kind == "words_only"));
    assert!(!answer.hits[0].reason.contains("meaning"));
}

#[test]
fn a_model_is_given_what_was_there_before_it() {
    let home = Home::with_turns(&["the retry policy is five attempts", "lunch was late"]);
    attach(&home, "one");
    assert_eq!(status(&home).pending, 2);
    embed_all(&home);
    assert_eq!(status(&home), MeaningStatus { model: Some("one".into()), ..Default::default() });
    let answer = home.recall("retry policy");
    assert!(answer.hits[0].reason.starts_with("meaning"), "{}", answer.hits[0].reason);
    assert!(answer.hints.iter().all(|hint| hint.kind != "words_only"));
    let more = turn(9, "dinner was early", days_ago(0));
    home.engine.store_batch(&batch("g", vec![more]), now()).unwrap();
    assert_eq!(status(&home).pending, 1);
    embed_all(&home);
    assert_eq!(status(&home).pending, 0);
}

/// What was said a moment ago has no vector yet, and is found by its words no worse for it.
#[test]
fn what_is_not_embedded_yet_does_not_stand_below_what_is_vaguely_near() {
    let home = Home::with_turns(&[
        "the compost heap is next to the old shed",
        "tomatoes need four litres of water",
        "the shed was painted green",
        "lunch was late",
    ]);
    attach(&home, "one");
    embed_all(&home);
    let taught = "the compost is turned every three weeks";
    home.engine.store_batch(&batch("g", vec![turn(9, taught, days_ago(0))]), now()).unwrap();
    let answer = home.recall("how often is the compost turned");
    assert_eq!(texts(&answer)[0], taught);
    assert!(answer.hits[0].reason.contains("not embedded yet"), "{}", answer.hits[0].reason);
    embed_all(&home);
    assert_eq!(texts(&home.recall("how often is the compost turned"))[0], taught);
}

#[test]
fn the_old_model_answers_until_the_new_one_knows_everything() {
    let turns: Vec<String> = (0..100).map(|n| format!("turn {n} about topic{n}")).collect();
    let home = Home::with_turns(&turns.iter().map(String::as_str).collect::<Vec<_>>());
    attach(&home, "one");
    embed_all(&home);
    attach(&home, "two");
    assert!(home.engine.embed_step().unwrap());
    let half = status(&home);
    assert_eq!((half.model.as_deref(), half.next_model.as_deref()), (Some("one"), Some("two")));
    assert!((1..100).contains(&half.next_pending), "{half:?}");
    assert!(home.recall("topic7").hits[0].reason.starts_with("meaning"));
    embed_all(&home);
    assert_eq!(status(&home), MeaningStatus { model: Some("two".into()), ..Default::default() });
    let kept = ModelKept {
        name: "two".into(),
        sha256: FakeEmbedder::new("two").identity().sha256.clone(),
        is_serving: true,
    };
    assert_eq!(home.engine.models_kept().unwrap(), [kept]);
    let report = home.engine.check(iai_memory::CheckDepth::Deep).unwrap();
    assert!(report.is_clean(), "{report:?}");
}

#[test]
fn every_part_of_a_long_turn_is_found() {
    let filler = "nothing of note happened and then nothing happened again ".repeat(250);
    let long = format!("alpaca {filler} bagpipe {filler} cathedral {filler} dulcimer");
    assert!(30_000 < long.len());
    let home = Home::with_turns(&[&long, "an alpine walk", "a bag of rice"]);
    attach(&home, "one");
    embed_all(&home);
    for word in ["alpaca", "bagpipe", "cathedral", "dulcimer"] {
        let answer = home.recall_hits(word, 3, 10_000);
        assert!(answer.hits[0].literal_surface.contains(word), "{word}: {answer:?}");
    }
}

#[test]
fn a_short_answer_is_found_by_what_it_answers() {
    let home = Home::with_turns(&[
        "shall we deploy the billing service with strategy A or strategy B",
        "yes, use B",
        "the weather in Lisbon is fine",
    ]);
    attach(&home, "one");
    embed_all(&home);
    let answer = home.recall("deploy billing service strategy");
    let place = |text: &str| texts(&answer).iter().position(|hit| *hit == text);
    assert_eq!(place("yes, use B"), Some(1), "{:?}", texts(&answer));
}

#[test]
fn a_thread_embeds_until_it_is_told_to_stop() {
    let home = Home::with_turns(&["one turn"]);
    attach(&home, "one");
    std::thread::scope(|scope| {
        let work = scope.spawn(|| home.engine.embed_until_stopped());
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while 0 < status(&home).pending {
            assert!(std::time::Instant::now() < deadline, "never embedded");
            std::thread::yield_now();
        }
        home.engine.stop_embedding();
        work.join().unwrap().unwrap();
    });
}

/// No word of the cue is in the text: only the letters are alike, in one of its passages.
#[test]
fn of_a_long_text_the_passage_nearest_in_meaning_is_shown() {
    let filler = "lorem ipsum dolor sit amet ".repeat(300);
    let text = format!("{filler}zeppelinclamps {}{filler}", "zeppelinclamps ".repeat(20));
    let home = Home::with_turns(&[&text, "lunch was late"]);
    attach(&home, "one");
    embed_all(&home);
    let answer = home.recall_within("zeppelinclamp", 500);
    let shown = &answer.hits[0].literal_surface;
    assert!(shown.contains("zeppelinclamps"), "{shown}");
}

/// What a hit names may have been replaced in a matter that nobody asked about.
#[test]
fn what_replaced_it_elsewhere_is_brought_only_where_it_is_near_to_the_cue() {
    let told = |since: &str| {
        let home = lived(&[
            ("/p", 60, &["Uploads of customers land in the frobnik bucket.", "Noted."]),
            ("/p", 40, &["The frobnik is full.", "I see."]),
            ("/p", 20, &[since, "Ok."]),
        ]);
        let is_brought = || {
            let answer =
                home.recall_from("where do uploads of customers land", 100_000, Some("/p"));
            let found = texts(&answer);
            let place = |part: &str| found.iter().position(|text| text.contains(part));
            place(since).is_some_and(|at| Some(at) < place("frobnik bucket"))
        };
        let by_words = is_brought();
        attach(&home, "one");
        embed_all(&home);
        (by_words, is_brought())
    };
    let near = "Uploads of customers: we moved from frobnik to garage.";
    assert_eq!(told(near), (true, true));
    let far = "Lunch with Ben and Ana: we moved from frobnik to garage.";
    assert_eq!(told(far), (true, false), "nothing but a name is the same");
}
