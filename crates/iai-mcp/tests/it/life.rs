//! A developer's life of sixty sessions, asked about through MCP and the hooks: what holds now is
//! found first, what was is still found, and a new session begins with its own project.

mod story;

use std::fmt::Write as _;

use serde_json::{Value, json};
use story::PROJECTS;

use crate::standing::session_start;
use crate::support::{Daemon, Mcp, Sandbox};

const SEED: u64 = 20;

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

fn texts(answer: &Value, list: &str) -> Vec<String> {
    let hits = answer[list].as_array().unwrap().iter();
    hits.map(|hit| hit["literal_surface"].as_str().unwrap().to_owned()).collect()
}

fn place_of(texts: &[String], value: &str) -> Option<usize> {
    texts.iter().position(|text| text.contains(value))
}

/// Cues, the value that holds, and the value that held.
const CHANGED: &[(&str, &str, &str, &str)] = &[
    ("ledger", "which port do I use for the payments gateway on staging?", "7500", "7443"),
    ("ledger", "staging gateway port", "7500", "7443"),
    ("ledger", "when is the audit due", "28 October", "is 14 October"),
    ("ledger", "where do the nightly dumps go?", "/mnt/backup", "to /srv/dumps"),
    ("ledger", "name of our bookkeeping daemon", "tallyman", "ledgerd"),
    ("ledger", "who approves refunds over 500 euros?", "Tomasz", "Marta"),
    ("storefront", "which React version renders the checkout?", "React 19", "React 18"),
    ("storefront", "when does the spring campaign start?", "on 10 March", "on 3 March"),
    ("storefront", "how many entries does the image cache keep", "500", "200"),
    ("storefront", "what serves the search of the shop?", "Meilisearch", "by Elasticsearch"),
    ("atlas", "how often is the weather feed fetched?", "every 5 minutes", "every 15 minutes"),
    ("atlas", "which gdal version is the renderer pinned to", "v3.9.1", "v3.6.2"),
    ("atlas", "who owns the map exports?", "Jonas", "by Priya"),
    ("atlas", "is the coastline job enabled in production?", "not enabled", "job is enabled"),
];

#[test]
fn a_life_of_sixty_sessions_is_remembered() {
    let (sandbox, _daemon) = lived();
    let mut complaints = String::new();
    let mut mcp = Mcp::start_in(&sandbox, "ledger");
    correct_the_approver(&mut mcp);
    for project in PROJECTS {
        let mut mcp = Mcp::start_in(&sandbox, project);
        for (_, cue, now, before) in CHANGED.iter().filter(|asked| asked.0 == project) {
            ask_for(&mut mcp, cue, (now, before), &mut complaints);
        }
    }
    eprintln!("COMPLAINTS\n{complaints}");
    for project in PROJECTS {
        let brief = session_start(&sandbox, "claude", project);
        eprintln!("-------- {project}\n{brief}");
    }
    eprintln!("{:#}", mcp.ask("schema_list", json!({})));
    eprintln!("{:#}", mcp.ask("curiosity_pending", json!({})));
    eprintln!("{:#}", mcp.ask("topology", json!({})));
}

fn correct_the_approver(mcp: &mut Mcp) {
    let answer = mcp.ask("memory_recall", json!({"cue": "refunds approved by"}));
    let hits = answer["hits"].as_array().unwrap();
    let marta = hits.iter().find(|hit| hit["literal_surface"].as_str().unwrap().contains("Marta"));
    let id = &marta.unwrap()["record_id"];
    mcp.ask("memory_contradict", json!({"id": id, "new_fact": "Tomasz does that since August."}));
}

/// The current value is in the first three, before the outdated one; asked for the past, the
/// outdated one is found.
fn ask_for(mcp: &mut Mcp, cue: &str, values: (&str, &str), complaints: &mut String) {
    let (now, before) = values;
    let answer = mcp.ask("memory_recall", json!({"cue": cue}));
    let found = texts(&answer, "hits");
    let (current, outdated) = (place_of(&found, now), place_of(&found, before));
    let is_first = current.is_some_and(|place| place < 3 && outdated.is_none_or(|old| place < old));
    if !is_first {
        writeln!(complaints, "{cue}: {now} at {current:?}, {before} at {outdated:?}").unwrap();
    }
    let past = mcp.ask("memory_recall", json!({"cue": format!("{cue} How was it before?")}));
    if place_of(&texts(&past, "hits"), before).is_none_or(|place| 5 <= place) {
        writeln!(complaints, "{cue}: {before} is lost: {:?}", texts(&past, "hits")).unwrap();
    }
}
