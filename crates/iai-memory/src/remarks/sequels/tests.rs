//! What is found, in which order, and how often.

use iai_embed::FakeEmbedder;
use jiff::SignedDuration;

use super::*;
use crate::trial::{Trial, now};

const COMMITS: &str = "we always use conventional commits with a ticket, please";
const PREFIXES: &str = "conventional commits with ticket are over, plain sentences instead";

/// Finds remarks, then sequels; returns what the second step did.
fn find(trial: &Trial) -> Effects {
    trial.run(&FindRemarks, now());
    trial.run(&FindSequels, now())
}

/// Returns what was said since about the first wish or decision of the project.
fn sequels(trial: &Trial, kind: RemarkKind) -> Vec<String> {
    let found = trial.engine.read(|reader| {
        let remark = reader.remarks(kind, "/p", 10)?.pop().expect("a remark");
        Ok(reader.sequels(kind, &remark)?)
    });
    found.unwrap().into_iter().map(|sequel| sequel.memory.text).collect()
}

#[test]
fn what_is_said_later_about_the_same_is_found() {
    let check = |remark: &str, kind: RemarkKind, later: &str, expect: bool| {
        let trial = Trial::new();
        trial.tell(&[remark, "The importer is slow today.", later]);
        find(&trial);
        assert_eq!(!sequels(&trial, kind).is_empty(), expect, "{remark} / {later}");
    };
    let (wish, decision) = (RemarkKind::Preference, RemarkKind::Decision);
    check(COMMITS, wish, PREFIXES, true);
    check(COMMITS, wish, "are conventional commits with ticket still a thing?", false);
    check(COMMITS, wish, "the shop has plain prices now, no longer rounded", false);
    // Anybody may say "commit".
    check(COMMITS, wish, "commit it now, no longer wait", false);
    let mollie = "We decided to take Mollie for the payments of the shop.";
    check(mollie, decision, "the payments of the shop move to Adyen, Mollie is gone", true);
    check(mollie, decision, "the colours of the buttons move to the theme", false);
}

#[test]
fn history_may_come_in_in_any_order() {
    let trial = Trial::new();
    let hour = SignedDuration::from_hours(1);
    let say = |session: &str, text: &str, at: Timestamp| {
        let said = iai_store::NewMemory {
            session: session.to_owned(),
            turn_at: at,
            ..crate::trial::turn(0, text)
        };
        trial.engine.store_turns(&[said], now()).unwrap();
    };
    say("later", PREFIXES, now() - hour);
    find(&trial);
    say("before", COMMITS, now() - 2 * hour);
    find(&trial);
    assert_eq!(sequels(&trial, RemarkKind::Preference), [PREFIXES]);
    say("long before", "conventional commits with ticket are over now", now() - 9 * hour);
    find(&trial);
    assert_eq!(sequels(&trial, RemarkKind::Preference), [PREFIXES], "the wish came later");
}

#[test]
fn nothing_is_heard_twice_until_another_model_serves() {
    let trial = Trial::new();
    trial.tell(&[COMMITS, PREFIXES]);
    assert_eq!(find(&trial).get("sequels_found"), Some(&1));
    assert_eq!(find(&trial), Effects::new());
    trial.engine.attach_model(Arc::new(FakeEmbedder::new("a"))).unwrap();
    assert_eq!(find(&trial), Effects::new(), "no vectors are there yet");
    while trial.engine.embed_step().unwrap() {}
    assert_eq!(find(&trial).get("turns_heard"), Some(&2));
    assert_eq!(sequels(&trial, RemarkKind::Preference), [PREFIXES]);
    let compared = trial.engine.read(compared_up_to).unwrap();
    assert_eq!(compared, Some(MemoryNumber::new(2)));
}

#[test]
fn the_nearest_few_are_kept_and_what_takes_back_beside_them() {
    let trial = Trial::new();
    let far = "conventional commits look odd now, says the board of the yard";
    let near: Vec<String> =
        (1..=4).map(|n| format!("conventional commits with a ticket: now {n}")).collect();
    let waiver = "you don't need to use conventional commits any more in the yard of the board";
    trial.tell(&[COMMITS, waiver, far]);
    trial.tell(&near.iter().map(String::as_str).collect::<Vec<_>>());
    find(&trial);
    let found = sequels(&trial, RemarkKind::Preference);
    assert_eq!(found.len(), KEPT_MAX + 1, "{found:?}");
    assert!(found.iter().any(|text| text == waiver), "{found:?}");
    assert!(found.iter().any(|text| *text == near[3]), "of equals the newest: {found:?}");
    assert!(!found.iter().any(|text| text == far || *text == near[0]), "{found:?}");
}

#[test]
fn a_model_that_is_late_takes_nothing_with_it() {
    let trial = Trial::new();
    trial.tell(&[COMMITS, PREFIXES]);
    trial.run(&FindRemarks, now());
    let found_by_model = StepProgress {
        state: json!({"rules": RULES, "model": "somebody"}),
        ..StepProgress::default()
    };
    trial.engine.write(|w| Ok(w.put_step(FindSequels.name(), &found_by_model, now())?)).unwrap();
    assert_eq!(trial.run(&FindSequels, now()), Effects::new());
}

#[test]
fn nothing_is_heard_before_its_remarks_are_found_by_the_rules_of_today() {
    let trial = Trial::new();
    trial.tell(&[COMMITS, PREFIXES]);
    let before =
        |rules: u64| StepProgress { state: json!({"rules": rules}), up_to: MemoryNumber::new(2) };
    let put = |progress: StepProgress| {
        trial.engine.write(|w| Ok(w.put_step(FindRemarks.name(), &progress, now())?)).unwrap();
    };
    put(before(RULES - 1));
    assert_eq!(trial.run(&FindSequels, now()), Effects::new());
    put(before(RULES));
    assert_eq!(trial.run(&FindSequels, now()).get("turns_heard"), Some(&2));
}
