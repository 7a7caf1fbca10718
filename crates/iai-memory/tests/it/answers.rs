//! What says later that an answer is replaced, and what is asked of a project by its name.

use crate::asked::lived;
use crate::fixture::texts;

/// Tells what stands first for a cue that is asked from a project.
#[track_caller]
fn check_first(sessions: &[(&str, i64, &[&str])], (cue, from): (&str, &str), expect: &str) {
    let home = lived(sessions);
    let answer = home.recall_from(cue, 100_000, Some(from));
    let found = texts(&answer);
    assert!(found.first().is_some_and(|first| first.contains(expect)), "{cue}: {found:?}");
}

#[test]
fn what_names_the_answer_as_replaced_stands_above_it() {
    let check = |was: &str, is: &str, cue: &str, expect: &str| {
        let life: [(&str, i64, &[&str]); 3] = [
            ("/w/pay", 60, &[was, "Noted."]),
            ("/w/pay", 40, &["What about the flaky test?", "It waits for the clock now."]),
            ("/w/pay", 20, &[is, "Done."]),
        ];
        check_first(&life, (cue, "/w/pay"), expect);
    };
    check(
        "We run on Postgres as the store for payments, nothing exotic.",
        "Summarise the week. Oh, and: forget Postgres, everything is in Cockroach now.",
        "which database do we store payments in",
        "Cockroach",
    );
    check(
        "The renderer of statements is called tabulator, three others depend on it.",
        "The thing formerly known as tabulator is quillworks from today on.",
        "what is the statement renderer called",
        "quillworks",
    );
    check(
        "Set the request quota to 45 per minute for now.",
        "Colour-blind users? One more thing: they raised our ceiling from 45 to 75 requests.",
        "what request quota is configured",
        "75",
    );
    check(
        "We promised the release for September 28, so let's cut scope.",
        "We got more time, the launch is pushed back to December 7.",
        "when do we release",
        "December 7",
    );
    check(
        "We build it with Rust 1.78, check the toolchain file.",
        "CI was upgraded, we're on Rust 1.82 now.",
        "which Rust do we build it with",
        "1.82",
    );
}

#[test]
fn what_replaces_another_thing_of_the_same_turn_does_not() {
    let told = "The throttle is 250 requests a minute per client. \
                The pusher of positions got a new name: waypoint.";
    let life: [(&str, i64, &[&str]); 2] = [
        ("/w/track", 60, &[told, "Noted."]),
        ("/w/track", 20, &["waypoint is now called trailhead, fix the imports.", "Done."]),
    ];
    check_first(&life, ("how many requests a minute may a client make", "/w/track"), "250");
    check_first(&life, ("what is the pusher of positions called", "/w/track"), "trailhead");
}

/// "Alerts of fleet-cli" and "the fleet-cli skeleton" have the name, and nothing else of it.
#[test]
fn who_names_a_project_asks_for_the_rest() {
    let life: [(&str, i64, &[&str]); 4] = [
        ("/w/fleet-cli", 60, &["Alerts of fleet-cli go to the bells.", "Noted."]),
        ("/w/fleet-cli", 50, &["Let's start fleet-cli, the fleet-cli skeleton first.", "Ok."]),
        ("/w/fleet-cli", 40, &["The staging listener is at port 6260.", "Noted."]),
        ("/w/ledger", 30, &["The staging port of the ledger is 3100.", "Noted."]),
    ];
    check_first(&life, ("staging port of fleet-cli", "/w/ledger"), "6260");
    check_first(&life, ("the fleet-cli staging port", "/w/ledger"), "6260");
    check_first(&life, ("where do alerts of fleet-cli go", "/w/ledger"), "bells");
}
