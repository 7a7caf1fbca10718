//! `status`: what is captured, stored and waiting, whether or not a daemon runs.

use std::process::ExitCode;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::output::Output;
use crate::capture::waiting_files;
use crate::client::Client;
use crate::clock;
use crate::exit::Exit;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// Columns of the names of what is told.
const NAME_COLUMNS: usize = 10;

pub(super) fn run(
    client: &Client,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match client.status() {
        Ok(mut status) => {
            // Counted as for the page; a daemon that still opens the store is not waited for.
            let is_ready = status.at("state") == "ready";
            let overview = is_ready.then(|| client.call_daemon("store_overview", &json!({})));
            if let Some(Ok(overview)) = overview {
                status.set("taught", overview.at("taught").clone());
                status.set("generated", overview.at("generated").clone());
            }
            output.show(&status, |status| laid_out(&describe(status, settings), output));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if error.is_down() => {
            let overview = client.call("store_overview", &json!({}));
            // Where nothing was ever stored, there is nothing wrong.
            let problem = overview.as_ref().err().filter(|_| settings.home.has_store());
            let problem = problem.map(ToString::to_string);
            let mut status = status_down(settings, overview.as_ref().ok());
            status.set("store_problem", json!(problem));
            output.show(&status, |status| laid_out(&describe_down(status, settings), output));
            Ok(Exit::DaemonUnreachable.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// What can be told without a daemon: the store is read where it lies, the spool is counted.
fn status_down(settings: &Settings, overview: Option<&Value>) -> Value {
    let count = |name: &str| overview.and_then(|overview| overview.at(name).as_u64());
    let (waiting, given_up): (Vec<_>, Vec<_>) =
        waiting_files(&settings.home).into_iter().partition(|file| !file.is_set_aside);
    let n_turns = |files: &[crate::capture::WaitingFile]| -> u64 {
        files.iter().map(|file| file.n_turns).sum()
    };
    // What this program made of memories was not captured.
    let generated = count("generated").unwrap_or(0);
    let stored = count("memories").map(|memories| memories.saturating_sub(generated));
    let pending = n_turns(&waiting);
    let failed = count("set_aside").unwrap_or(0) + n_turns(&given_up);
    let oldest = waiting.iter().filter_map(|file| file.written_at).min();
    let oldest = oldest.and_then(|at| Timestamp::try_from(at).ok());
    json!({
        "ok": false,
        "state": "down",
        "version": env!("CARGO_PKG_VERSION"),
        "store": settings.home.root(),
        "captured": stored.unwrap_or(0) + pending + failed,
        "stored": stored,
        "taught": count("taught"),
        "generated": count("generated"),
        "pending": pending,
        "failed": failed,
        "oldest_pending_at": oldest.map(|at| at.to_string()),
    })
}

/// A name and what it is told about.
type Fact = (&'static str, String);

/// Puts every fact on a line of its own; at a terminal, on as many as it takes.
fn laid_out(facts: &[Fact], output: &Output) -> String {
    let line = |(name, text): &Fact| {
        let head = format!("{name:<NAME_COLUMNS$}");
        output.beside(&head, NAME_COLUMNS, text)
    };
    facts.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn describe(status: &Value, settings: &Settings) -> Vec<Fact> {
    let daemon = format!(
        "{} · version {} · process {} · up {} s",
        word(status, "state"),
        word(status, "version"),
        status.at("pid"),
        status.at("uptime_sec").as_f64().unwrap_or(0.0).round()
    );
    let mut facts = common(daemon, status, settings);
    if status.at("model").is_object() {
        facts.push(("model", super::model::describe(status.at("model"))));
    }
    facts
}

fn describe_down(status: &Value, settings: &Settings) -> Vec<Fact> {
    let next = match settings.home.vault().exists() {
        true => "not running; `iai-mcp daemon start` starts it",
        false => "not running, and nothing was set up; `iai-mcp setup` begins",
    };
    common(next.to_owned(), status, settings)
}

fn problem(status: &Value) -> Option<Fact> {
    status.at("store_problem").as_str().map(|what| ("problem", what.to_owned()))
}

fn common(daemon: String, status: &Value, settings: &Settings) -> Vec<Fact> {
    let mut facts = vec![
        ("daemon", daemon),
        ("store", settings.home.root().display().to_string()),
        ("turns", turns(status)),
        ("also", beside_turns(status)),
        ("oldest", oldest(status, clock::now())),
    ];
    facts.retain(|(_, text)| !text.is_empty());
    facts.extend(problem(status));
    facts
}

/// Names what is stored though nobody said it.
fn beside_turns(status: &Value) -> String {
    let n = |name: &str| status.at(name).as_u64().unwrap_or(0);
    unsaid(n("taught"), n("generated")).join(" · ")
}

fn unsaid(n_taught: u64, n_generated: u64) -> Vec<String> {
    let parts =
        [(n_taught, "passage taught", "passages taught"), (n_generated, "summary", "summaries")];
    let told = parts.into_iter().filter(|(n, ..)| 0 < *n);
    told.map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many })).collect()
}

/// Counts what a store holds, each kind by its name.
pub(super) fn kept(overview: &Value) -> String {
    let n = |name: &str| overview.at(name).as_u64().unwrap_or(0);
    let turns = n("memories").saturating_sub(n("taught") + n("generated"));
    let mut parts = vec![format!("{turns} {}", if turns == 1 { "turn" } else { "turns" })];
    parts.extend(unsaid(n("taught"), n("generated")));
    parts.join(", ")
}

fn turns(status: &Value) -> String {
    // Passages came in the same way; nobody said them.
    let n_taught = status.at("taught").as_u64().unwrap_or(0);
    let said = |n: &Value| n.as_u64().unwrap_or(0).saturating_sub(n_taught);
    let stored = match (status.at("stored"), status.at("store_problem")) {
        (Value::Null, Value::Null) => "nothing stored yet".to_owned(),
        // Not "0": there is a store, and nobody can say what is in it.
        (Value::Null, _) => {
            return format!("{} pending · what is stored cannot be counted", status.at("pending"));
        }
        (n, _) => format!("{} stored", said(n)),
    };
    format!(
        "{} captured · {stored} · {} pending · {} set aside",
        said(status.at("captured")),
        status.at("pending"),
        status.at("failed")
    )
}

fn oldest(status: &Value, now: Timestamp) -> String {
    let since = status.at("oldest_pending_at").as_str();
    match since.and_then(|text| text.parse::<Timestamp>().ok()) {
        Some(since) => format!("waits for {}", in_words(now.duration_since(since))),
        None => "nothing waits".to_owned(),
    }
}

/// Tells an age in one unit. A clock that went back makes none of it negative.
pub(super) fn in_words(age: SignedDuration) -> String {
    let seconds = age.as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn word<'a>(status: &'a Value, name: &str) -> &'a str {
    status.at(name).as_str().unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_counts_and_the_oldest_are_always_told() {
        let now: Timestamp = "2026-05-01T10:05:00Z".parse().unwrap();
        let waiting = json!({
            "captured": 9, "stored": 5, "pending": 3, "failed": 1,
            "oldest_pending_at": "2026-05-01T10:00:00Z",
        });
        assert_eq!(turns(&waiting), "9 captured · 5 stored · 3 pending · 1 set aside");
        assert_eq!(oldest(&waiting, now), "waits for 5 min");
        assert_eq!(oldest(&json!({"oldest_pending_at": null}), now), "nothing waits");
        let ahead = json!({"oldest_pending_at": "2026-05-01T11:00:00Z"});
        assert_eq!(oldest(&ahead, now), "waits for 0 s");
        let nothing = json!({"captured": 2, "stored": null, "pending": 2, "failed": 0});
        assert!(turns(&nothing).contains("nothing stored yet · 2 pending"));
    }

    #[test]
    fn ages_are_told_in_their_own_unit() {
        for (seconds, expect) in
            [(-3, "0 s"), (90, "90 s"), (600, "10 min"), (10_000, "2 h"), (600_000, "6 days")]
        {
            assert_eq!(in_words(SignedDuration::from_secs(seconds)), expect);
        }
    }
}
