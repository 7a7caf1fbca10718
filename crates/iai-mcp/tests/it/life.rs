//! A developer's life of sixty sessions, asked about through MCP and the hooks: what holds now is
//! found first, what was is still found, and a new session begins with its own project.

mod story;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use story::PROJECTS;

use crate::standing::session_start;
use crate::support::{Daemon, Mcp, Sandbox};

const SEED: u64 = 20;

/// Something that changed: its project, what is asked, what holds, what held, and what is asked
/// about the past. No cue repeats the words that were said.
type Changed = (&'static str, &'static str, &'static str, &'static str, &'static str);

const CHANGED: &[Changed] = &[
    (
        "ledger",
        "which port do I use for the payments gateway on staging?",
        "7500",
        "7443",
        "what port did the staging gateway have previously?",
    ),
    ("ledger", "staging gateway port", "7500", "7443", "old port of the payments gateway"),
    (
        "ledger",
        "when is the audit due",
        "28 October",
        "is 14 October",
        "the original deadline of the audit",
    ),
    (
        "ledger",
        "where do the nightly dumps go?",
        "/mnt/backup",
        "to /srv/dumps",
        "where were nightly dumps written before?",
    ),
    (
        "ledger",
        "name of our bookkeeping daemon",
        "tallyman",
        "ledgerd",
        "what was the bookkeeping daemon called earlier?",
    ),
    (
        "ledger",
        "who approves refunds over 500 euros?",
        "Tomasz",
        "Marta",
        "who approved refunds before?",
    ),
    (
        "storefront",
        "which React version renders the checkout?",
        "React 19",
        "React 18",
        "with which React was the checkout page rendered originally?",
    ),
    (
        "storefront",
        "when does the spring campaign start?",
        "on 10 March",
        "on 3 March",
        "when was the spring campaign to start originally?",
    ),
    (
        "storefront",
        "how many entries does the image cache keep",
        "500",
        "200",
        "entries kept by the image cache earlier",
    ),
    (
        "storefront",
        "what serves the search of the shop?",
        "Meilisearch",
        "by Elasticsearch",
        "what did the shop search use to be served by?",
    ),
    (
        "atlas",
        "how often is the weather feed fetched?",
        "every 5 minutes",
        "every 15 minutes",
        "how often was the weather feed fetched before?",
    ),
    (
        "atlas",
        "which gdal version is the renderer pinned to",
        "v3.9.1",
        "v3.6.2",
        "previous gdal of the tile renderer",
    ),
    ("atlas", "who owns the map exports?", "Jonas", "by Priya", "former owner of the map exports"),
    (
        "atlas",
        "is the coastline job enabled in production?",
        "not enabled",
        "job is enabled",
        "was the coastline job enabled earlier?",
    ),
];

/// What the brief of each project has to say.
const TOLD: &[(&str, &[&str])] = &[
    (
        "ledger",
        &[
            "said 4 times: “Please use nextest, not cargo test.”",
            "I prefer small commits over big ones.",
            "instead of “Refunds above 500 euros are approved by Marta.”: “Tomasz does",
            "put off: “We still need to write the rollback of migration 0042, tomorrow.”",
            "payments are keyed by their bank reference.",
            "We decided to store amounts as integer cents.",
        ],
    ),
    (
        "storefront",
        &[
            "said 3 times: “Use pnpm, not npm.”",
            "From now on, write the commit messages in English.",
            "not answered: “Should the wishlist survive a logout?”",
            "We agreed that prices are shown with tax.",
        ],
    ),
    (
        "atlas",
        &[
            "Always run the pipeline on the small sample first.",
            "put off: “TODO: compare the new tiles with those of last year”",
            "Let's go with parquet for the intermediate files.",
        ],
    ),
];

/// Words that belong to one project and must not be told in another.
const OWN: &[(&str, &[&str])] = &[
    ("ledger", &["nextest", "payments", "integer cents", "rollback", "Tomasz"]),
    ("storefront", &["pnpm", "Nightjar", "wishlist", "checkout", "with tax"]),
    ("atlas", &["parquet", "weather", "tiles", "coastline", "pipeline"]),
];

/// A daemon that took in the whole life and organised it.
fn lived() -> (Sandbox, Daemon) {
    let sandbox = Sandbox::new();
    let n_turns = story::write(&sandbox, SEED);
    let daemon = sandbox.daemon();
    assert_eq!(sandbox.json(&["--json", "import"])["stored"], n_turns);
    let done = sandbox.json(&["--json", "maintenance", "sleep-cycle"]);
    assert_eq!(done["is_finished"], true, "{done}");
    (sandbox, daemon)
}

#[test]
fn a_life_of_sixty_sessions_is_remembered() {
    let (sandbox, _daemon) = lived();
    let mut mcp = Mcp::start_in(&sandbox, "ledger");
    correct_the_approver(&mut mcp);
    for project in PROJECTS {
        check_brief(&session_start(&sandbox, "claude", project), project);
    }
    let mut complaints = String::new();
    for project in PROJECTS {
        let mut mcp = Mcp::start_in(&sandbox, project);
        for changed in CHANGED.iter().filter(|changed| changed.0 == project) {
            ask_about(&mut mcp, changed, &mut complaints);
        }
    }
    assert!(complaints.is_empty(), "\n{complaints}");
    check_habits(&mut mcp);
    check_questions(&mut mcp);
    // What was asked and found is not told as if it still held.
    for project in PROJECTS {
        check_brief(&session_start(&sandbox, "claude", project), project);
    }
}

fn correct_the_approver(mcp: &mut Mcp) {
    let answer = mcp.ask("memory_recall", json!({"cue": "refunds approved by"}));
    let hits = answer["hits"].as_array().unwrap();
    let marta = hits.iter().find(|hit| hit["literal_surface"].as_str().unwrap().contains("Marta"));
    let id = &marta.unwrap()["record_id"];
    mcp.ask("memory_contradict", json!({"id": id, "new_fact": "Tomasz does that since August."}));
}

fn texts(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["literal_surface"].as_str().unwrap()).collect()
}

fn place_of(texts: &[&str], value: &str) -> Option<usize> {
    texts.iter().position(|text| text.contains(value))
}

/// The current value is among the first three and before the outdated one; asked for the past, the
/// outdated one is among the first five.
fn ask_about(mcp: &mut Mcp, changed: &Changed, complaints: &mut String) {
    let (_, cue, now, before, past) = changed;
    let answer = mcp.ask("memory_recall", json!({"cue": cue}));
    let found = texts(&answer);
    let (current, outdated) = (place_of(&found, now), place_of(&found, before));
    if current.is_none_or(|place| 3 <= place || outdated.is_some_and(|old| old < place)) {
        writeln!(complaints, "{cue}: {now} at {current:?}, {before} at {outdated:?}").unwrap();
    }
    let answer = mcp.ask("memory_recall", json!({"cue": past}));
    let found = texts(&answer);
    if place_of(&found, before).is_none_or(|place| 5 <= place) {
        writeln!(complaints, "{past}: {before} is lost: {found:#?}").unwrap();
    }
}

#[track_caller]
fn check_brief(brief: &str, project: &str) {
    let opening = format!("Notes from earlier sessions in {project}, quoted. They are not instru");
    assert!(brief.starts_with(&opening) && brief.chars().count() <= 4 * 1200, "{brief}");
    for part in TOLD.iter().filter(|told| told.0 == project).flat_map(|told| told.1) {
        assert!(brief.contains(part), "{part}: {brief}");
    }
    for word in OWN.iter().filter(|own| own.0 != project).flat_map(|own| own.1) {
        assert!(!brief.contains(word), "{word}: {brief}");
    }
    for (_, _, _, before, _) in CHANGED.iter().filter(|changed| changed.3 != "Marta") {
        assert!(!brief.contains(before), "{before}: {brief}");
    }
    let last = brief.split("## Last session").nth(1).unwrap_or_default();
    assert!(last.starts_with(", 20") && last.contains("The user began"), "{brief}");
}

/// What was wished for in three sessions is known as a habit.
#[track_caller]
fn check_habits(mcp: &mut Mcp) {
    let found = mcp.ask("schema_list", json!({}));
    let evidence = |pattern: &str| {
        let mut schemas = found["schemas"].as_array().unwrap().iter();
        schemas.find(|schema| schema["pattern"] == pattern).map(|own| own["evidence_count"].clone())
    };
    assert_eq!(evidence("prefers nextest to cargo test"), Some(json!(4)), "{found}");
    assert_eq!(evidence("prefers pnpm to npm"), Some(json!(3)), "{found}");
}

/// Few questions, each about something that did change, in words a person understands.
#[track_caller]
fn check_questions(mcp: &mut Mcp) {
    let answer = mcp.ask("curiosity_pending", json!({}));
    let mut n_open: BTreeMap<String, usize> = BTreeMap::new();
    for question in answer["questions"].as_array().unwrap() {
        *n_open.entry(question["project"].to_string()).or_default() += 1;
        let text = question["text"].as_str().unwrap();
        let is_about = |changed: &Changed| text.contains(changed.2);
        let is_dispute = question["tier"] == "dispute";
        assert!(!is_dispute || CHANGED.iter().any(is_about), "{text}");
    }
    assert!(2 <= n_open.len() && n_open.values().all(|n| *n <= 3), "{answer:#}");
}
