//! How things have gone: ages of the last capture, drain and consolidation, starts, memory.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::Check;
use crate::cli::status::in_words;
use crate::client::{CallError, Client};
use crate::clock;
use crate::fields::Fields as _;

/// Nothing captured for so long is worth a word, where hosts are in daily use.
const CAPTURE_AGE_WARN: SignedDuration = SignedDuration::from_hours(24 * 7);
/// So many starts in a day without a goodbye before are a daemon that keeps dying.
const DEATHS_WARN: u64 = 3;
/// A daemon that has grown by so much since it was ready, and to more than twice, may leak.
const GROWTH_MIB_WARN: u64 = 256;
const DAY: SignedDuration = SignedDuration::from_hours(24);

pub(super) fn all(client: &Client, status: &Result<Value, CallError>) -> Vec<Check> {
    let Ok(status) = status else {
        return ["last capture", "last drain", "last round", "restarts", "memory use"]
            .map(Check::unknown)
            .into();
    };
    let now = clock::now();
    vec![
        capture(client, now),
        drain(status, now),
        round(status, now),
        restarts(client, now),
        memory_use(status),
    ]
}

fn capture(client: &Client, now: Timestamp) -> Check {
    const NAME: &str = "last capture";
    let last = client.call_daemon("store_overview", &json!({}));
    let at = match &last {
        Ok(told) => time_of(told.at("last_captured_at")),
        Err(error) => return Check::warn(NAME, error.to_string(), "try again later"),
    };
    match at {
        None => Check::pass(NAME, "nothing was captured yet"),
        Some(at) if now.duration_since(at) > CAPTURE_AGE_WARN => Check::warn(
            NAME,
            format!("{} ago", in_words(now.duration_since(at))),
            "if you worked with an assistant since, `iai-mcp capture-hooks status` may say why",
        ),
        Some(at) => Check::pass(NAME, format!("{} ago", in_words(now.duration_since(at)))),
    }
}

fn drain(status: &Value, now: Timestamp) -> Check {
    const NAME: &str = "last drain";
    let pending = status.at("pending").as_u64().unwrap_or(0);
    match time_of(status.at("drained_at")) {
        None => Check::pass(NAME, "none since the daemon started"),
        Some(at) => {
            let age = in_words(now.duration_since(at));
            Check::pass(NAME, format!("{age} ago, {pending} turns wait"))
        }
    }
}

fn round(status: &Value, now: Timestamp) -> Check {
    const NAME: &str = "last round";
    if let Some(step) = status.at("consolidating").as_str() {
        return Check::pass(NAME, format!("one is under way, at {step}"));
    }
    match time_of(status.at("consolidated_at")) {
        None => Check::pass(NAME, "none yet; one begins when nobody asked for a while"),
        Some(at) => {
            Check::pass(NAME, format!("consolidated {} ago", in_words(now.duration_since(at))))
        }
    }
}

/// A daemon says goodbye when it leaves; a start without one before it is the end of a dead one.
fn restarts(client: &Client, now: Timestamp) -> Check {
    const NAME: &str = "restarts";
    let count = |kind: &str| -> Result<u64, CallError> {
        let ask = json!({"kind": kind, "since": (now - DAY).to_string(), "limit": 1000});
        Ok(client.call_daemon("events_query", &ask)?.at("count").as_u64().unwrap_or(0))
    };
    let (started, stopped) = match (count("daemon_started"), count("daemon_stopped")) {
        (Ok(started), Ok(stopped)) => (started, stopped),
        (Err(error), _) | (_, Err(error)) => {
            return Check::warn(NAME, error.to_string(), "try again later");
        }
    };
    let n_deaths = started.saturating_sub(stopped).saturating_sub(1);
    let detail = format!("{started} starts in 24 h, {n_deaths} after no goodbye");
    match n_deaths {
        0..DEATHS_WARN => Check::pass(NAME, detail),
        _ => Check::warn(NAME, detail, "it keeps dying; `iai-mcp daemon logs` may say why"),
    }
}

fn memory_use(status: &Value) -> Check {
    const NAME: &str = "memory use";
    let told = status.at("memory");
    let mib = |name: &str| told.at(name).as_u64();
    let (Some(now), Some(ready)) = (mib("rss_mib"), mib("rss_mib_when_ready")) else {
        return Check::pass(NAME, "this system does not tell");
    };
    let hours = status.at("uptime_sec").as_f64().unwrap_or(0.0) / 3600.0;
    let peak = mib("rss_mib_peak").unwrap_or(now);
    let detail =
        format!("{now} MiB, {ready} when it was ready, {peak} at most, up for {hours:.1} h");
    if ready + GROWTH_MIB_WARN < now && 2 * ready < now {
        return Check::warn(NAME, detail, "`iai-mcp daemon restart` gives it back");
    }
    Check::pass(NAME, detail)
}

fn time_of(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn only_a_daemon_that_doubled_and_more_is_suspected() {
        let verdict = |now: u64, ready: u64| {
            let memory = json!({"rss_mib": now, "rss_mib_when_ready": ready, "rss_mib_peak": now});
            memory_use(&json!({"memory": memory, "uptime_sec": 60.0})).verdict
        };
        assert_eq!(verdict(300, 40), Verdict::Warn);
        assert_eq!(verdict(90, 40), Verdict::Pass);
        assert_eq!(verdict(900, 700), Verdict::Pass);
        assert_eq!(memory_use(&json!({})).verdict, Verdict::Pass);
    }
}
