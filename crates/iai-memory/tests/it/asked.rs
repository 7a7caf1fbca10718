//! What is asked for by its kind, and what says that something changed.

use iai_memory::{BriefAsk, NewMemory, RecallAsk, Role, ShelfFilter};
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{Home, batch, days_ago, now, texts, turn};

/// The user begins, turns are a minute apart.
fn session(name: &str, project: &str, at: Timestamp, said: &[&str]) -> Vec<NewMemory> {
    let turns = (0_i64..).zip(said).map(|(n, text)| NewMemory {
        session: name.to_owned(),
        project: Some(project.to_owned()),
        cwd: Some(project.to_owned()),
        role: if n % 2 == 0 { Role::User } else { Role::Assistant },
        ..turn(n.unsigned_abs(), text, at + SignedDuration::from_mins(n))
    });
    turns.collect()
}

pub(crate) fn lived(sessions: &[(&str, i64, &[&str])]) -> Home {
    let home = Home::new();
    for (n, (project, days, said)) in sessions.iter().enumerate() {
        let name = format!("s{n}");
        let turns = session(&name, project, days_ago(*days), said);
        home.engine.store_batch(&batch(&name, turns), now()).unwrap();
    }
    home
}

#[test]
fn what_remains_to_be_done_is_what_the_project_left_open() {
    let home = lived(&[
        ("/p", 9, &["Look at the tests.", "Green.", "I still need to calibrate drone 11."]),
        ("/p", 8, &["Drone 11 is calibrated.", "Good.", "Next: the audit of the form"]),
        ("/p", 7, &["The pipes leak.", "Mended.", "Let's leave the worker thread for later."]),
        ("/p", 5, &["What remains is nothing.", "Fine.", "TODO: write the flight report"]),
        ("/q", 3, &["Done is what remains.", "Yes.", "TODO: paint the fence"]),
    ]);
    for cue in ["what remains to be done?", "Was ist noch offen?"] {
        let answer = home.recall_from(cue, 100_000, Some("/p"));
        let found = texts(&answer);
        let expect = ["TODO: write the flight report", "Let's leave the worker thread for later."];
        assert_eq!(found[..2], expect, "{cue}: {found:?}");
        assert!(answer.hits[0].reason.ends_with(", left open"), "{}", answer.hits[0].reason);
    }
    let elsewhere = home.recall_from("what remains to be done?", 100_000, Some("/q"));
    assert_eq!(texts(&elsewhere)[0], "TODO: paint the fence");
    let about = home.recall_from("what is still open about the worker?", 100_000, Some("/p"));
    assert!(texts(&about)[0].contains("worker thread"), "{:?}", texts(&about));
}

#[test]
fn a_wish_answers_what_one_wants_before_a_report_does() {
    let home = lived(&[
        ("/p", 9, &["Please always format the reports with prettier.", "Understood."]),
        ("/p", 2, &["Format of the reports?", "The format of the reports is fine."]),
        ("/q", 1, &["Always format the reports by hand.", "Understood."]),
    ]);
    let wanted = home.recall_from("how should reports be formatted?", 100_000, Some("/p"));
    assert!(texts(&wanted)[0].contains("prettier"), "{:?}", texts(&wanted));
    assert!(wanted.hits[0].reason.contains("+ a wish 0.30"), "{}", wanted.hits[0].reason);
}

#[test]
fn what_says_that_it_changed_stands_above_what_was() {
    let was = "Staging runs with five nodes, because of the load test on staging nodes.";
    let home = lived(&[
        ("/p", 60, &[was, "Applied."]),
        ("/p", 20, &["Staging is back to three nodes, the load test is over.", "Applied."]),
        ("/p", 10, &["The nodes of staging are green.", "Yes."]),
    ]);
    let order = |cue: &str| {
        let answer = home.recall(cue);
        let found = texts(&answer);
        let place = |part: &str| found.iter().position(|text| text.contains(part)).unwrap();
        (place("three nodes"), place("five nodes"))
    };
    let (new, old) = order("staging nodes of the load test");
    assert!(new < old);
    let (new, old) = order("staging nodes of the load test, previously");
    assert!(old < new, "who asks how it was is told that");
}

/// The cue leads to the old name, and only the old name to the new one.
#[test]
fn what_was_renamed_or_replaced_since_stands_beside_the_old_name() {
    let home = lived(&[
        ("/p", 90, &["The intake service is called quoll.", "Noted."]),
        ("/p", 80, &["Binaries are signed with keypress.", "Done."]),
        ("/p", 60, &["We rename quoll to numbat, the lawyers found a trademark.", "Renamed."]),
        ("/p", 50, &["We switch from keypress to sealwax, everybody has it.", "Switched."]),
        ("/p", 40, &["The intake has a flaky test.", "It is mended."]),
        ("/q", 30, &["We rename quoll to wombat over here.", "Renamed."]),
    ]);
    for (cue, old, new) in [
        ("how is the intake service called?", "called quoll", "to numbat"),
        ("how are binaries signed?", "with keypress", "to sealwax"),
    ] {
        let answer = home.recall_from(cue, 100_000, Some("/p"));
        let found = texts(&answer);
        let place = |part: &str| found.iter().position(|text| text.contains(part));
        assert_eq!((place(old), place(new)), (Some(1), Some(0)), "{cue}: {found:?}");
        assert!(answer.hits[0].reason.starts_with("says what changed"), "{answer:?}");
    }
    let was =
        home.recall_from("how was the intake service called previously?", 100_000, Some("/p"));
    assert!(was.hits.iter().all(|hit| !hit.reason.starts_with("says what")), "{was:?}");
}

#[test]
fn a_delay_stands_above_the_day_that_was_planned() {
    let home = lived(&[
        ("/p", 60, &["Version 0.9 of the ferry app comes out on 30 June.", "Noted."]),
        ("/p", 20, &["The ferry app is delayed by a bug, 14 July.", "Noted."]),
    ]);
    let answer = home.recall_from("when does the ferry app come out?", 100_000, Some("/p"));
    assert!(texts(&answer)[0].contains("14 July"), "{:?}", texts(&answer));
}

/// Nobody says that anything changed; another figure stands where one was.
#[test]
fn a_later_figure_stands_above_the_one_before_it_and_another_matter_does_not() {
    let home = lived(&[
        ("/p", 60, &["The threshold for alerts is 2 percent of errors.", "Ok."]),
        ("/p", 40, &["The page size of the printer is 5 inches.", "Ok."]),
        (
            "/p",
            30,
            &["Nights are loud: the threshold of alerts is to be 5 percent of errors.", "Ok."],
        ),
        ("/p", 20, &["Are 9 percent of errors too much for an alert?", "No."]),
        ("/p", 15, &["The threshold for paper is 4 percent of waste.", "Ok."]),
        ("/q", 10, &["Alerts page above 7 percent of errors.", "Ok."]),
    ]);
    let answer = home.recall_from("threshold of errors for alerts", 100_000, Some("/p"));
    let found = texts(&answer);
    let place = |part: &str| found.iter().position(|text| text.contains(part)).unwrap();
    assert_eq!((place("to be 5"), place("2 percent of errors")), (0, 1), "{found:?}");
    assert!(place("2 percent of errors") < place("7 percent"), "{found:?}");
    assert!(place("2 percent of errors") < place("9 percent"), "{found:?}");
    assert!(place("2 percent of errors") < place("paper is 4"), "{found:?}");
}

#[test]
fn before_something_is_done_asks_for_nothing_of_the_past() {
    let home = lived(&[
        ("/p", 60, &["A seat is held for 8 minutes.", "Noted."]),
        ("/p", 20, &["A seat is held for 12 minutes now.", "Noted."]),
    ]);
    let first = |cue: &str| texts(&home.recall(cue))[0].to_owned();
    assert!(first("how long is a seat held before it expires?").contains("12 minutes"));
    assert!(first("how long was a seat held before?").contains("8 minutes"));
}

#[test]
fn what_the_assistant_reports_as_changed_stands_above_what_was() {
    let home = lived(&[
        ("/p", 60, &["Where does the API listen?", "On staging, the API listens on 8085."]),
        ("/p", 30, &["Is it up?", "On staging, the API is now to listen on 8190."]),
        ("/p", 20, &["Ports?", "On staging, the API could listen on 8300 as well."]),
    ]);
    let cue = "which port does the API listen on, on staging";
    // As of a day before it was moved, nothing had changed.
    for (as_of, first, second) in [(None, "8190", "8085"), (Some(days_ago(45)), "8085", "8190")] {
        let ask = RecallAsk { as_of, ..RecallAsk::new(cue, 100_000) };
        let answer = home.engine.recall(&ask, now()).unwrap();
        let found = texts(&answer);
        let place = |part: &str| found.iter().position(|text| text.contains(part)).unwrap();
        assert!(place(first) < place(second), "{as_of:?}: {found:?}");
    }
}

/// Nobody says that anything changed, and each is stated by the assistant.
#[test]
fn the_last_of_several_figures_for_one_thing_stands_first() {
    let home = lived(&[
        ("/p", 90, &["Set it.", "The limit: 64 grains can sound at once."]),
        ("/p", 60, &["More.", "128 grains can sound at once."]),
        ("/p", 30, &["Too loud.", "96 grains can sound at once."]),
        ("/p", 20, &["Still loud?", "We could go down to 80 grains."]),
        ("/q", 10, &["Seeds.", "The limit is 500 grains at once."]),
    ]);
    let cue = "limit: how many grains can sound at once";
    let first = |as_of| {
        let ask =
            RecallAsk { as_of, asked_from: Some("/p".to_owned()), ..RecallAsk::new(cue, 9000) };
        texts(&home.engine.recall(&ask, now()).unwrap())[0].to_owned()
    };
    assert!(first(None).contains("96"), "{}", first(None));
    assert!(first(Some(days_ago(45))).contains("128"), "nobody had said 96 yet");
}

#[test]
fn an_assistant_that_names_what_it_replaced_stands_above_it() {
    let home = lived(&[
        ("/p", 60, &["A dashboard?", "It is set up, the staging instance listens on 8501."]),
        ("/p", 30, &["It clashes.", "I moved the board from 8501 to 8650."]),
    ]);
    let answer = home.recall_from("where does the staging dashboard listen", 100_000, Some("/p"));
    let found = texts(&answer);
    let place = |part: &str| found.iter().position(|text| text.contains(part)).unwrap();
    assert!(place("from 8501 to 8650") < place("listens on 8501"), "{found:?}");
}

#[test]
fn what_the_user_replaced_is_found_however_much_the_assistant_said_of_it() {
    let chatter: Vec<String> = (0..40).map(|n| format!("frobnik checked {n}.")).collect();
    let mut talk = vec!["Check it."];
    for said in &chatter {
        talk.extend([said.as_str(), "Again."]);
    }
    let home = lived(&[
        ("/p", 60, &["Uploads land in the frobnik bucket.", "Noted."]),
        ("/p", 40, &talk),
        (
            "/p",
            20,
            &["After a long talk with the other floor we moved from frobnik to garage.", "Ok."],
        ),
    ]);
    let answer = home.recall_from("where do uploads land", 100_000, Some("/p"));
    let found = texts(&answer);
    let place = |part: &str| found.iter().position(|text| text.contains(part));
    assert!(place("to garage").is_some_and(|at| Some(at) < place("frobnik bucket")), "{found:?}");
}

#[test]
fn what_takes_back_a_number_stands_above_the_decision_and_beside_it_in_the_brief() {
    let home = lived(&[
        ("/p", 9, &["Decision: the uploader keeps its retry count at 5.", "Noted."]),
        ("/p", 6, &["The retry of the mailer is slow.", "I see."]),
        ("/p", 4, &["Actually, use 7 retries instead of 5.", "Changed."]),
        ("/p", 3, &["Use 9 plates instead of 5.", "Fine."]),
    ]);
    let answer = home.recall_from("what did we decide about retries", 100_000, Some("/p"));
    let found = texts(&answer);
    let place = |part: &str| found.iter().position(|text| text.contains(part)).unwrap();
    assert!(place("7 retries") < place("count at 5"), "{found:?}");
    home.engine.organise_now(now()).unwrap();
    let ask = BriefAsk { session: "next".to_owned(), project: Some("/p".to_owned()) };
    let brief = home.engine.brief(&ask, now()).unwrap().markdown;
    let decided = brief.lines().find(|line| line.contains("count at 5")).unwrap();
    assert!(
        decided.contains("since 2026-11-11: “Actually, use 7 retries instead of 5.”"),
        "{brief}"
    );
    let decided = home.engine.picture_decided(None, 5, now()).unwrap().decided;
    let shown = decided.iter().find(|one| one.decision.first_words.contains("count at 5")).unwrap();
    let since = shown.since.as_ref().map(|since| since.first_words.as_str());
    assert_eq!(since, Some("Actually, use 7 retries instead of 5."));
}

#[test]
fn who_asks_for_a_decision_of_a_day_and_gets_it_is_not_told_to_doubt() {
    let home = lived(&[
        ("/p", 9, &["Look at the tests.", "Green."]),
        ("/p", 1, &["OK, decision: a Postgres queue, 8 attempts. No RabbitMQ.", "Noted."]),
        ("/p", 0, &["Thanks, we do the admin view tomorrow.", "Fine."]),
    ]);
    home.engine.organise_now(now()).unwrap();
    let has_doubt = |cue: &str| {
        let answer = home.recall_from(cue, 100_000, Some("/p"));
        let is_first = texts(&answer)[0].contains("Postgres queue");
        (is_first, answer.hints.iter().any(|hint| hint.kind == "low_confidence"))
    };
    assert_eq!(has_doubt("what did we decide yesterday"), (true, false));
    assert!(has_doubt("what did we decide about the zebra crossing").1);
    let ask = BriefAsk { session: "next".to_owned(), project: Some("/p".to_owned()) };
    let brief = home.engine.brief(&ask, now()).unwrap().markdown;
    let told = brief
        .lines()
        .any(|line| line.contains("decision: a Postgres queue, 8 attempts. No RabbitMQ.”"));
    assert!(told, "{brief}");
}

/// Two common words are as rare as any among so few turns.
#[test]
fn words_that_only_join_find_nothing_in_a_young_store() {
    let home = lived(&[
        ("/p", 3, &["Thanks, we do the admin view tomorrow.", "Fine."]),
        ("/p", 2, &["Webhooks are tried eight times.", "Noted."]),
    ]);
    let answer = home.recall_from("how often do we retry a webhook", 100_000, Some("/p"));
    assert!(texts(&answer)[0].contains("Webhooks are tried"), "{:?}", texts(&answer));
}

#[test]
fn what_is_put_off_by_the_user_is_open_though_the_assistant_notes_it() {
    let todo = "TODO for next time: the migration of the orders.total column from float to \
                numeric(12,2) is still open";
    let home = lived(&[
        ("/p", 3, &["Prices are wrong.", "Mended.", todo, "I left a TODO in migrations/0012.sql."]),
        ("/p", 2, &["The footer is grey.", "Changed."]),
    ]);
    let ask = BriefAsk { session: "next".to_owned(), project: Some("/p".to_owned()) };
    let brief = home.engine.brief(&ask, now()).unwrap().markdown;
    assert!(brief.contains("migration of the orders.total column"), "{brief}");
}

#[test]
fn a_project_is_found_by_its_name_too() {
    let home = lived(&[("/code/shop", 9, &["The tide is high.", "So it is."])]);
    for name in ["/code/shop", "shop", "Shop/"] {
        let ask = RecallAsk { project: Some(name.to_owned()), ..RecallAsk::new("tide", 9000) };
        let answer = home.engine.recall(&ask, now()).unwrap();
        assert_eq!(texts(&answer)[0], "The tide is high.", "{name}");
        let filter = ShelfFilter { project: Some(name.to_owned()), session: None };
        assert_eq!(home.engine.list(&filter, 9).unwrap().len(), 2, "{name}");
    }
    let filter = ShelfFilter { project: Some("hop".to_owned()), session: None };
    assert!(home.engine.list(&filter, 9).unwrap().is_empty());
}

#[test]
fn a_question_leads_to_its_reply_and_an_agreement_to_what_was_agreed() {
    let home = lived(&[
        ("/p", 30, &["cool. where's grafana again, my bookmark died", "It is at graf.internal."]),
        ("/p", 20, &["The tiles of the map are slow.", "Six workers then?", "yes, do that"]),
        ("/p", 10, &["Grafana has new colours.", "They are nice."]),
    ]);
    let answer = home.recall_from("grafana bookmark", 100_000, Some("/p"));
    let reply = answer.hits.iter().find(|hit| hit.literal_surface.contains("graf.internal"));
    let reply = reply.unwrap_or_else(|| panic!("{answer:?}"));
    assert!(reply.reason.contains("the reply"), "{}", reply.reason);
    assert!(texts(&answer)[0].contains("graf.internal"), "{:?}", texts(&answer));
    let agreed = home.recall_from("how many workers for the tiles of the map", 100_000, Some("/p"));
    let proposal = agreed.hits.iter().find(|hit| hit.literal_surface.contains("Six workers"));
    let place = |part: &str| texts(&agreed).iter().position(|text| text.contains(part));
    assert!(proposal.is_some() && place("Six workers") < place("yes, do that"), "{agreed:?}");
    let before = RecallAsk {
        as_of: Some(days_ago(30)),
        asked_from: Some("/p".to_owned()),
        ..RecallAsk::new("grafana bookmark", 100_000)
    };
    let answer = home.engine.recall(&before, now()).unwrap();
    let reply = answer.hits.iter().find(|hit| hit.literal_surface.contains("graf.internal"));
    assert!(reply.is_none_or(|hit| !hit.reason.contains("the reply")), "said a minute later");
}

#[test]
fn names_of_several_words_and_names_from_code_are_followed_to_what_holds() {
    let home = lived(&[
        ("/p", 90, &["call our invoice worker billing-core from today", "Done."]),
        ("/p", 80, &["How long may a webhook take?", "`HOOK_TIMEOUT_S=10` in settings.py."]),
        ("/p", 40, &["a new name, please", "Renamed billing-core → ledger-core in the chart."]),
        ("/p", 30, &["more please", "HOOK_TIMEOUT_S is at 25 on staging and prod."]),
        ("/p", 20, &["All invoices are sent.", "Good."]),
    ]);
    for (cue, old, new) in [
        ("name of our invoice worker", "worker billing-core", "ledger-core in"),
        ("how long may a webhook take", "S=10", "at 25"),
    ] {
        let answer = home.recall_from(cue, 100_000, Some("/p"));
        let found = texts(&answer);
        let place = |part: &str| found.iter().position(|text| text.contains(part)).unwrap();
        assert!(place(new) < place(old), "{cue}: {found:?}");
    }
}

#[test]
fn of_what_replaced_one_thing_the_latest_stands_first() {
    let home = lived(&[
        ("/p", 90, &["Finance gave us 4200 a month for cloud.", "Noted."]),
        ("/p", 60, &["Finance gives us 5,000 a month for cloud now.", "Noted."]),
        ("/p", 30, &["Finance cut us, cloud is at 4,600 a month.", "Noted."]),
    ]);
    let cue = "how much does finance give us for cloud a month?";
    let answer = home.recall_from(cue, 100_000, Some("/p"));
    let found = texts(&answer);
    let place = |part: &str| found.iter().position(|text| text.contains(part)).unwrap();
    assert!(place("4,600") < place("5,000"), "{found:?}");
    assert!(place("5,000") < place("4200"), "{found:?}");
}

/// Who asks for a day asks for no other figure.
#[test]
fn a_day_that_was_moved_stands_first_and_other_figures_do_not() {
    let home = lived(&[
        ("/p", 90, &["Filed: the pilot of Marisk starts on 5 October with 12 buoys.", "Ok."]),
        ("/p", 50, &["The start of the pilot of Marisk: they have no ship, Nov 16", "Moved."]),
        ("/p", 20, &["Marisk wants 24 buoys in the pilot.", "They have 12."]),
    ]);
    let answer = home.recall_from("when does the pilot of Marisk start?", 100_000, Some("/p"));
    let found = texts(&answer);
    assert!(found[0].contains("Nov 16"), "{found:?}");
}
