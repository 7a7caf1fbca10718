//! Recall: the right words first, within the budget, in an order that never depends on luck.

use iai_memory::{BriefAsk, CueMode, NewMemory, RecallAsk};

use crate::fixture::{Home, batch, days_ago, now, texts, turn};

#[test]
fn the_turn_with_the_cues_words_comes_first() {
    let home = Home::with_turns(&[
        "We use PostgreSQL for the ledger",
        "The retry policy is four attempts with jitter",
        "Lunch is at noon",
    ]);
    let answer = home.recall("what is our retry policy?");
    assert_eq!(texts(&answer)[0], "The retry policy is four attempts with jitter");
    assert_eq!(answer.cue_mode, CueMode::Concept);
    assert!(answer.hits[0].reason.contains("bm25"), "{}", answer.hits[0].reason);
}

#[test]
fn words_are_found_in_any_form_case_and_accent() {
    let home = Home::with_turns(&["We DECIDED against the café chain"]);
    for cue in ["deciding", "cafe", "CAFÉ", "chains"] {
        assert_eq!(home.recall(cue).hits.len(), 1, "{cue}");
    }
}

#[test]
fn a_quoted_span_must_stand_as_it_is() {
    let home = Home::with_turns(&["use plan B today", "B is the plan we use", "plan A"]);
    let answer = home.recall("who said \"plan B\"?");
    assert_eq!(texts(&answer), ["use plan B today"]);
    assert_eq!(answer.cue_mode, CueMode::Verbatim);
}

#[test]
fn a_quoted_word_of_a_longer_cue_hides_nothing_and_gains() {
    let deploy = "the billing service is deployed with the blue button";
    let home = Home::with_turns(&["special offers end today", deploy]);
    let cue = "how do we deploy the billing service with that \"special\" button of ours again";
    let answer = home.recall(cue);
    assert_eq!((answer.hits.len(), answer.cue_mode), (2, CueMode::Verbatim));
    for hit in &answer.hits {
        let is_quoted = hit.literal_surface != deploy;
        assert_eq!(hit.reason.contains("quoted words"), is_quoted, "{}", hit.reason);
    }
    let text = format!("{cue}, {}", "and then we went on to something else ".repeat(4));
    assert_eq!(home.recall(&text).cue_mode, CueMode::Concept);
}

/// A6: age counts.
#[test]
fn of_two_equal_turns_the_fresher_comes_first() {
    let home = Home::new();
    let old = turn(0, "deploy with the blue button", days_ago(400));
    let new = turn(1, "deploy with the blue button", days_ago(1));
    let (old_at, new_at) = (old.turn_at.to_string(), new.turn_at.to_string());
    home.engine.store_batch(&batch("f", vec![old, new]), now()).unwrap();
    let answer = home.recall("deploy button");
    let order: Vec<&str> = answer.hits.iter().map(|hit| hit.ts.as_str()).collect();
    assert_eq!(order, [new_at.as_str(), old_at.as_str()]);
}

/// However much was said of it since: who asks as of a day is answered by what had been said.
#[test]
fn what_came_later_leaves_room_for_what_had_been_said_by_then() {
    let home = Home::new();
    let later = |n: u64| turn(n, &format!("retry policy of the billing service, {n}"), days_ago(1));
    let mut turns: Vec<NewMemory> = (1..=200).map(later).collect();
    let by_then = "retry policy of the billing service: three attempts";
    turns.push(turn(0, by_then, days_ago(9)));
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    let ask = |as_of| RecallAsk {
        as_of,
        n_hits_wanted: Some(100),
        ..RecallAsk::new("the retry policy of the billing service", 100_000)
    };
    let today = home.engine.recall(&ask(None), now()).unwrap();
    assert!(!texts(&today).contains(&by_then), "today there is better");
    let then = home.engine.recall(&ask(Some(days_ago(5))), now()).unwrap();
    assert!(texts(&then).contains(&by_then), "{:?}", texts(&then));
    assert!(texts(&then).len() > 1, "what came later stays findable");
}

/// Who asks again wants what was answered, not that it was asked; and not once for every time.
#[test]
fn the_answer_comes_before_the_same_question_asked_before() {
    let cue = "what did we decide about the retry policy in the billing service?";
    let said = |session: &str, days: i64, index: u64, text: &str| NewMemory {
        session: session.to_owned(),
        ..turn(index, text, days_ago(days))
    };
    let decision = "We decided that billing gives up after five attempts; no other policy.";
    let home = Home::new();
    let turns = vec![
        said("a", 20, 0, "what is the retry policy in the billing service?"),
        said("a", 20, 1, decision),
        said("b", 9, 0, "What did we decide on the retry policy of the billing service?"),
        said("c", 5, 0, "what did we decide about the retry policy in the billing service"),
        said("d", 2, 0, "what was the retry policy in the billing service?"),
        said("e", 2, 0, "the canteen has soup on Mondays"),
    ];
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    let answer = home.recall(cue);
    assert_eq!(texts(&answer)[0], decision, "also before what nobody marked as a question");
    let few = home.recall_hits(cue, 2, 9000);
    assert_eq!(texts(&few)[0], decision, "also where there is place for few");
    let asked = home.recall("who asked about the retry policy in the billing service?");
    assert!(texts(&asked)[1].ends_with('?'), "{:?}", texts(&asked));
}

/// A question that has more of the cue's words is still only a question.
#[test]
fn an_answer_comes_before_another_question_about_the_same() {
    let said = |session: &str, index: u64, text: &str| NewMemory {
        session: session.to_owned(),
        ..turn(index, text, days_ago(3))
    };
    let answer = "Reminders go out by mail, one day ahead.";
    let turns = vec![
        said("a", 0, "Do reminders go out by push as well, one day ahead?"),
        said("b", 0, answer),
        said("c", 0, "the canteen has soup on Mondays"),
    ];
    let home = Home::new();
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    let found = home.recall("how do reminders go out, a day ahead or by push");
    assert_eq!(texts(&found)[0], answer);
    assert!(found.hits[1].reason.contains(" − asks "), "{}", found.hits[1].reason);
}

/// Words that a young store does not know yet say nothing against what it knows.
#[test]
fn a_right_hit_of_a_young_store_is_not_doubted_and_a_stranger_is() {
    let home = Home::with_turns(&[
        "We use PostgreSQL for the ledger",
        "The retry policy is four attempts with jitter",
        "Lunch is at noon",
    ]);
    let doubts =
        |cue: &str| home.recall(cue).hints.iter().any(|hint| hint.kind == "low_confidence");
    assert!(!doubts("do you remember how often we retry when a payment fails?"));
    assert!(!doubts("which database did we choose for the ledger?"));
    assert!(doubts("what is the colour of the car that grandmother drove in the war?"));
    assert!(doubts("the zorbl of quandrix"));
}

#[test]
fn a_hit_tells_its_age() {
    let home = Home::new();
    let turns = vec![turn(0, "deploy with the blue button", days_ago(3))];
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    assert_eq!(home.recall("deploy button").hits[0].age, "3 days ago");
}

#[test]
fn the_project_one_asks_from_comes_first_and_others_stay() {
    let home = Home::new();
    let elsewhere = turn(0, "deploy with the blue button", days_ago(1));
    let here = NewMemory {
        session: "t".to_owned(),
        project: Some("/q".to_owned()),
        cwd: Some("/q".to_owned()),
        ..turn(0, "deploy with the blue button", days_ago(1))
    };
    home.engine.store_batch(&batch("f", vec![elsewhere]), now()).unwrap();
    home.engine.store_batch(&batch("g", vec![here]), now()).unwrap();
    for (asked_from, expect) in
        [(None, ["/p", "/q"]), (Some("/q"), ["/q", "/p"]), (Some("/unknown"), ["/p", "/q"])]
    {
        let answer = home.recall_from("deploy button", 100_000, asked_from);
        let order: Vec<&str> =
            answer.hits.iter().filter_map(|hit| hit.project.as_deref()).collect();
        assert_eq!(order, expect, "{asked_from:?}");
    }
}

#[test]
fn a_long_cue_is_asked_by_its_rarest_words() {
    let filler: Vec<String> = (0..200).map(|n| format!("so well then about {n}")).collect();
    let mut all: Vec<&str> = filler.iter().map(String::as_str).collect();
    all.push("the xylophone stands in the attic");
    let home = Home::with_turns(&all);
    let greeting = "so well then about ".repeat(20);
    let answer = home.recall(&format!("{greeting} the xylophone attic"));
    assert_eq!(texts(&answer)[0], "the xylophone stands in the attic");
}

#[test]
fn small_talk_and_strangers_get_nothing() {
    let home = Home::with_turns(&["thanks for the hello world program"]);
    let answer = home.recall("thanks!");
    assert!(answer.hits.is_empty());
    assert_eq!(answer.hints[0].kind, "retrieval_skipped");
    assert!(home.recall("xylophone").hits.is_empty());
}

#[test]
fn hostile_cues_are_only_words() {
    let home = Home::with_turns(&["a plain memory"]);
    for cue in ["AND OR NOT", "text:plain", "\"", "* ^ (", "plain*", "NEAR(a b)", "\u{0}a\u{0}"] {
        home.recall(cue);
    }
    home.recall(&"plain ".repeat(100_000));
    assert_eq!(home.recall("(plain) AND text:memory*").hits.len(), 1);
}

#[test]
fn common_words_do_not_drown_the_telling_one() {
    let common = "the service is in the cloud and it is fine";
    let mut all: Vec<String> = (0..800).map(|n| format!("{common} {n}")).collect();
    all.push(format!("{common} but zebra"));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let home = Home::with_turns(&all);
    let answer = home.recall("is the service in the cloud a zebra");
    assert_eq!(texts(&answer)[0], format!("{common} but zebra"));
    assert!(!home.recall("is it the service").hits.is_empty(), "only common words still find");
}

/// A12: the whole answer is counted.
#[test]
fn the_budget_is_kept_for_any_text() {
    let mut all = vec!["short harbour note".to_owned(), "harbour \u{0}\"\\\n".repeat(900)];
    all.extend((1..40).map(|n| format!("harbour {}", "длинный текст 港 ".repeat(n * n))));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let home = Home::with_turns(&all);
    for budget in [0, 50, 100, 300, 1500, 6000, 100_000] {
        let answer = home.recall_within("harbour", budget);
        let text: usize = answer.hits.iter().map(|hit| json_chars(&hit.literal_surface) + 80).sum();
        let total = json_chars(&answer) + text;
        assert!(total <= 4 * usize::try_from(budget).unwrap() + 400, "{budget}: {total}");
        let told = usize::try_from(answer.budget_used).unwrap();
        assert!(total <= 4 * told, "{budget}: {told} tokens told for {total} characters");
    }
}

fn json_chars(value: &impl serde::Serialize) -> usize {
    serde_json::to_string(value).unwrap().chars().count()
}

#[test]
fn an_oversized_hit_is_cut_around_what_matched() {
    let text = format!("{} the needle is here {}", "hay ".repeat(5000), "straw ".repeat(5000));
    let home = Home::with_turns(&[&text]);
    let answer = home.recall_within("needle", 400);
    let hit = &answer.hits[0];
    let excerpt = hit.excerpt.unwrap();
    assert!(hit.literal_surface.contains("needle"), "{}", hit.literal_surface);
    assert_eq!(excerpt.total, text.chars().count());
    let shown: String =
        text.chars().skip(excerpt.start).take(excerpt.end - excerpt.start).collect();
    assert_eq!(hit.literal_surface, shown);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let home = Home::with_turns(&["one two", "two one", "one", "two", "one two three"]);
    let first = serde_json::to_string(&home.recall("one two")).unwrap();
    for _ in 0..5 {
        assert_eq!(serde_json::to_string(&home.recall("one two")).unwrap(), first);
    }
}

#[test]
fn a_brief_tells_the_last_session_of_this_project_only() {
    let home = Home::with_turns(&["let us call it quokka", "quokka it is"]);
    let brief = |project: &str, session: &str| {
        let ask = BriefAsk { session: session.to_owned(), project: Some(project.to_owned()) };
        home.engine.brief(&ask, now()).unwrap().markdown
    };
    assert!(brief("/p", "next").contains("quokka it is"));
    assert_eq!(brief("/p", "s"), "", "not about itself");
    assert_eq!(brief("/other", "next"), "");
}

#[test]
fn in_a_small_store_the_memory_with_more_of_the_cue_comes_first() {
    let home = Home::with_turns(&[
        "the north harbour opens at nine",
        "the south harbour opens at ten",
        "the north crane is blue",
        "the south crane is red",
        "the west harbour is closed",
    ]);
    let answer = home.recall("when does the north harbour open");
    assert_eq!(texts(&answer)[0], "the north harbour opens at nine");
}

#[test]
fn more_hits_than_there_is_room_for_are_the_best_ones() {
    let turns: Vec<String> =
        (0..30).map(|n| format!("the harbour crane lifts crate {n}")).collect();
    let mut turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    turns.insert(10, "the harbour crane needs oil on Fridays");
    let home = Home::with_turns(&turns);
    for n_hits in [10, 30] {
        let answer = home.recall_hits("harbour crane oil", n_hits, 1000);
        assert!(answer.hits[0].literal_surface.contains("oil"), "{n_hits}: {answer:?}");
        assert!((5..n_hits).contains(&answer.hits.len()), "{n_hits}: {}", answer.hits.len());
    }
}

#[test]
fn a_number_of_hits_share_the_budget_and_none_is_passed_over() {
    let long = format!("harbour {}", "stone and water ".repeat(2000));
    let home = Home::with_turns(&[&long, "the harbour opens", "harbour dues", &long]);
    let whole = home.recall_within("harbour", 1000);
    assert!(whole.hits.len() < 4, "long ones do not fit whole");
    let shared = home.recall_hits("harbour", 4, 1000);
    assert_eq!(shared.hits.len(), 4);
    assert!(shared.budget_used <= 1200, "{}", shared.budget_used);
    for hit in shared.hits.iter().filter(|hit| hit.literal_surface.contains("stone")) {
        assert!(hit.excerpt.is_some());
    }
    assert_eq!(home.recall_hits("harbour", 1, 1000).hits.len(), 1);
}

/// However many hits are wanted, the best come first; what there is no room for is the tail.
#[test]
fn wanting_more_hits_never_costs_the_best_ones() {
    let home = Home::new();
    let filler = "and so on about the harbour, the boats and the tide ".repeat(12);
    let turns = (0..60).map(|n| {
        let words = "lighthouse ".repeat(1 + n % 7);
        turn(n as u64, &format!("{words} number {n} {filler}"), days_ago(n as i64))
    });
    home.engine.store_batch(&batch("f", turns.collect()), now()).unwrap();
    let ids = |n_hits: usize| -> Vec<_> {
        let hits = home.recall_hits("lighthouse", n_hits, 1500).hits;
        hits.into_iter().map(|hit| hit.record_id).collect()
    };
    let few = ids(3);
    assert_eq!(few.len(), 3);
    for n_hits in [5, 8, 9, 12, 20, 50, 100] {
        let many = ids(n_hits);
        assert_eq!(many.get(..3), Some(&few[..]), "of {n_hits} wanted, {} came", many.len());
    }
}

/// Fifty thousand characters, with a fact at the beginning, in the middle and at the end.
fn long_turn() -> String {
    let filler = |from: usize, to: usize| -> String {
        (from..to)
            .map(|n| format!("Case {n} of the module is handled in step {}. ", n * 37))
            .collect()
    };
    let facts = [
        "The lighthouse lamp needs 24 volts. ",
        "The zeppelin clamp needs 14 newton metres. ",
        "The walrus protocol ends with a hash.",
    ];
    let text =
        format!("{}{}{}{}{}", facts[0], filler(0, 600), facts[1], filler(600, 1100), facts[2]);
    assert!(50_000 < text.len(), "{}", text.len());
    text
}

#[test]
fn every_part_of_a_long_turn_is_found_among_short_ones_and_shown() {
    let long = long_turn();
    let short = [
        "We chose the policy of the billing service, and the reason was the cost.",
        "what was the reason of the delay of the parts?",
        "the end of the road is where the bus ends",
        "lunch was late",
    ];
    let turns: Vec<&str> = short.iter().copied().chain([long.as_str()]).collect();
    let home = Home::with_turns(&turns);
    for (cue, fact) in [
        ("what is the voltage of the lighthouse lamps?", "24 volts"),
        ("what is the torque of the clamp of the zeppelin?", "14 newton"),
        ("how does the protocol of the walrus end?", "ends with a hash"),
    ] {
        let answer = home.recall_within(cue, 800);
        let first = &answer.hits[0];
        assert!(first.literal_surface.contains(fact), "{cue}: {}", first.literal_surface);
        let excerpt = first.excerpt.unwrap();
        let shown: String =
            long.chars().skip(excerpt.start).take(excerpt.end - excerpt.start).collect();
        assert_eq!(shown, first.literal_surface, "the offsets are true");
        assert_eq!(excerpt.total, long.chars().count());
    }
}

#[test]
fn what_was_said_on_the_days_of_a_cue_is_found_however_well_other_days_match() {
    let home = Home::new();
    let mut turns: Vec<NewMemory> = (0..150)
        .map(|n| turn(n, &format!("the classifier changed, variant {n}"), days_ago(100)))
        .collect();
    turns.push(turn(200, "we export the weights to another runtime", days_ago(90)));
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    let answer = home.recall("what changed in the classifier on the 17th of August");
    assert!(texts(&answer).contains(&"we export the weights to another runtime"), "{answer:?}");
}
