//! What was taught is found like anything else, and passes for nothing that somebody said.

use iai_memory::{
    BriefAsk, EpisodesAsk, ForgetAsk, ForgetReason, ForgetWork, NewMemory, PatternsAsk, RecallAsk,
    Role, Tier,
};
use jiff::SignedDuration;
use serde_json::json;

use crate::fixture::{Home, batch, days_ago, now, turn};

const PROJECT: &str = "/home/dev/heron";

/// A passage that sounds like a user with habits, wishes and decisions.
fn passage(n: u64) -> NewMemory {
    let text = format!(
        "We decided to use lighthouse number {n} for good. Please always run cargo test first. I \
         prefer tabs; henceforth, moreover, one ought to proceed accordingly. TODO: item {n}."
    );
    NewMemory {
        host: "taught".to_owned(),
        session: format!("taught:/docs/{n}.md"),
        turn_uuid: Some(format!("taught:/docs/{n}.md")),
        role: Role::System,
        tier: Tier::Semantic,
        project: Some(PROJECT.to_owned()),
        cwd: None,
        provenance: json!({"taught": {"set": "docs", "name": format!("docs/{n}.md"),
                           "part": "§Rules", "file": format!("/docs/{n}.md")}}),
        ..turn(n, &text, now() - SignedDuration::from_mins(5))
    }
}

fn said(n: u64, role: Role, text: &str) -> NewMemory {
    NewMemory {
        session: "talk".to_owned(),
        project: Some(PROJECT.to_owned()),
        cwd: Some(PROJECT.to_owned()),
        role,
        ..turn(n, text, days_ago(2))
    }
}

/// A talk of two turns, and many passages that are newer.
fn home() -> Home {
    let home = Home::new();
    let talk = vec![
        said(0, Role::User, "Set up the payment importer for the bank files, thanks."),
        said(1, Role::Assistant, "The importer reads the files and writes to the ledger."),
    ];
    home.engine.store_batch(&batch("talk", talk), days_ago(1)).unwrap();
    let passages: Vec<NewMemory> = (0..40).map(passage).collect();
    home.engine.store_turns(&passages, now()).unwrap();
    home.engine.organise_now(now()).unwrap();
    home
}

#[test]
fn it_is_found_and_says_where_it_is_from() {
    let home = home();
    let answer = home.engine.recall(&RecallAsk::new("lighthouse number 7", 4000), now()).unwrap();
    let hit = &answer.hits[0];
    assert!(hit.literal_surface.contains("number 7 "), "{}", hit.literal_surface);
    assert_eq!(hit.taught.as_deref(), Some("docs/7.md §Rules"));
    assert!(!hit.reason.contains("summary"), "{}", hit.reason);
    let said = home.engine.recall(&RecallAsk::new("payment importer", 4000), now()).unwrap();
    assert_eq!(said.hits[0].taught, None);
}

#[test]
fn a_brief_tells_the_talk_and_none_of_it() {
    let home = home();
    let ask = |project: Option<&str>| BriefAsk {
        session: "next".to_owned(),
        project: project.map(str::to_owned),
    };
    let brief = home.engine.brief(&ask(Some(PROJECT)), now()).unwrap();
    let told = serde_json::to_string(&brief).unwrap();
    assert!(told.contains("payment importer"), "{told}");
    assert!(!told.contains("lighthouse") && !told.contains("tabs"), "{told}");
    let only_taught = Home::new();
    only_taught.engine.store_turns(&[passage(1)], now()).unwrap();
    let brief = only_taught.engine.brief(&ask(None), now()).unwrap();
    assert!(!serde_json::to_string(&brief).unwrap().contains("heron"));
}

#[test]
fn no_statistic_and_no_habit_counts_it() {
    let home = home();
    let formality = home.engine.camouflaging(5).unwrap();
    assert_eq!(formality.sample_count, 1);
    let ask = PatternsAsk { project: None, confidence_min: 0.0 };
    assert_eq!(home.engine.patterns(&ask).unwrap().total, 0);
    let topology = serde_json::to_value(home.engine.topology().unwrap()).unwrap();
    assert!(!topology.to_string().contains("lighthouse"), "{topology}");
    let ask = EpisodesAsk { project: None, limit: 50, before: None };
    let episodes = home.engine.episodes(&ask).unwrap();
    assert_eq!((episodes.count, episodes.episodes[0].session_id.as_str()), (1, "talk"));
    let overview = home.engine.overview().unwrap();
    assert_eq!((overview.memories, overview.taught), (42, 40));
    assert!(overview.last_said_at.unwrap() <= overview.last_captured_at.clone().unwrap());
    assert_eq!(overview.last_captured_at, Some(days_ago(1).to_string()));
}

#[test]
fn a_set_is_listed_and_forgotten_by_its_name() {
    let home = home();
    let taught = home.engine.taught(Some("docs"), 0).unwrap();
    assert_eq!((taught.count, taught.files[0].passages), (40, 1));
    assert_eq!(home.engine.taught(Some("docs"), 40).unwrap().count, 0);
    assert_eq!(home.engine.taught(Some("other"), 0).unwrap().count, 0);
    assert_eq!(home.engine.taught_passages("taught:/docs/3.md").unwrap(), [passage(3).id()]);
    let ask = ForgetAsk { taught: Some("docs".to_owned()), ..ForgetAsk::default() };
    assert!(ask.means(&passage(1)) && !ask.means(&said(0, Role::User, "x")));
    assert_eq!(home.engine.forget_preview(&ask).unwrap().count, 40);
    home.engine.begin_forgetting(&ask, ForgetReason::Asked, None, now()).unwrap();
    let work = ForgetWork { clock: &now, erase_names: &|_| Ok(()), must_stop: &|| false };
    home.engine.work_off_forgetting(&work).unwrap();
    assert_eq!(home.engine.overview().unwrap().memories, 2);
}
