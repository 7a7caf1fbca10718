//! What has to hold at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::{Home, text};
use super::ledger::{Fate, Ledger};
use super::place::Place;
use crate::process;

/// Everybody has heard of everything by then; more is an echo.
const ROUNDS_MAX: usize = 40;
/// What is said in one home is in all by then, where nothing is in the way.
const HEARD_DEADLINE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(5);
/// Kinds of lines of an export that are a home's own.
const LOCAL: [&str; 4] = ["iai-mcp export", "end", "use", "link_session"];
/// How much is told of what went wrong.
const TOLD_MAX: usize = 20;

/// Puts everything right, has everybody exchange until nothing moves, and compares.
pub(super) fn all(homes: &[Home], place: &Place, ledger: &Ledger) -> Result<(), String> {
    place.mend(homes.len());
    let n_rounds = converge(homes)?;
    ledger.tell("rounds until nothing moved", n_rounds.to_string());
    ledger.note_longest("heard of by itself after", hear_by_itself(homes)?);
    converge(homes)?;
    let mut wrong = Vec::new();
    let mut exports = Vec::new();
    for home in homes {
        exports.push(exported(home)?);
        wrong.extend(home.print(&["verify", "--json"]).err());
        wrong.extend(standing(home)?);
    }
    wrong.extend(differing(&exports));
    for (number, lines) in exports.iter().enumerate() {
        wrong.extend(unkept(number, lines, ledger));
    }
    let scratch = homes.first().map_or(Path::new("/"), |home| &home.folder);
    let leaked = place.leaked(&ledger.words(), scratch)?;
    wrong.extend(leaked.iter().map(|word| format!("{word} stands in the place between")));
    let n_lines = exports.first().map_or(0, BTreeSet::len);
    ledger.tell("lines of every export", n_lines.to_string());
    if wrong.is_empty() {
        ledger.tell("breaches", "0".to_owned());
        return Ok(());
    }
    ledger.tell("breaches", wrong.len().to_string());
    wrong.truncate(TOLD_MAX);
    Err(format!("not as promised:\n  {}", wrong.join("\n  ")))
}

/// Exchanges everywhere until nothing moves any more; returns after how many rounds.
fn converge(homes: &[Home]) -> Result<usize, String> {
    let mut last = String::new();
    for round in 0..ROUNDS_MAX {
        let mut has_moved = false;
        for home in homes {
            home.rise()?;
            if !home.settle()? {
                return Err(format!("home {}: the daemon does not answer", home.number));
            }
            let before = written(&home.succeed(&["sync", "status", "--json"])?);
            let now = home.run(&["sync", "now", "--json"])?;
            let after = home.succeed(&["sync", "status", "--json"])?;
            has_moved |= now.is_none() || before != written(&after);
            last = after.to_string();
        }
        if !has_moved && 0 < round {
            return Ok(round);
        }
    }
    Err(format!("after {ROUNDS_MAX} rounds there is still something to tell: {last}"))
}

/// Says something in the first home and waits until the last has it, though nobody asked for an
/// exchange; returns how long it took.
fn hear_by_itself(homes: &[Home]) -> Result<Duration, String> {
    let (Some(first), Some(last)) = (homes.first(), homes.last()) else {
        return Ok(Duration::ZERO);
    };
    let session = "heard-by-itself";
    let begin = Instant::now();
    let said = json!({"text": "the pilot boat is out", "session_id": session});
    first.call("memory_capture", &said).ok_or("home 0: nothing can be captured")?;
    while begin.elapsed() < HEARD_DEADLINE {
        let params = json!({"session": session, "skip": 0, "limit": 1});
        let answer = last.call("session_turns", &params).unwrap_or_default();
        if answer["turns"].as_array().is_some_and(|turns| !turns.is_empty()) {
            return Ok(begin.elapsed());
        }
        process::pause(POLL);
    }
    let seconds = HEARD_DEADLINE.as_secs();
    Err(format!("home {}: was told nothing by itself within {seconds} s", last.number))
}

/// Returns how far a home has written and read, and what waits.
fn written(status: &Value) -> Vec<u64> {
    let vault = &status["vaults"][0];
    let machines = vault["machines"].as_array().cloned().unwrap_or_default();
    let read = machines.iter().map(|machine| machine["entries"].as_u64().unwrap_or(0));
    let mut all: Vec<u64> = read.collect();
    all.extend(["written", "waiting_to_send"].map(|name| vault[name].as_u64().unwrap_or(0)));
    all
}

/// Says what a home itself finds odd about its vault.
fn standing(home: &Home) -> Result<Vec<String>, String> {
    let status = home.succeed(&["sync", "status", "--json"])?;
    let vault = &status["vaults"][0];
    let names =
        ["withheld", "waiting_to_send", "waiting_for_memories", "waiting_for_update"].into_iter();
    let mut odd: Vec<String> = names
        .filter(|name| vault[*name].as_u64() != Some(0))
        .map(|name| format!("home {}: {name} is {}", home.number, vault[name]))
        .collect();
    let trouble = text(vault, "trouble");
    if !trouble.is_empty() {
        odd.push(format!("home {}: {trouble}", home.number));
    }
    for machine in vault["machines"].as_array().into_iter().flatten() {
        if !machine["trouble"].is_null() {
            odd.push(format!("home {}: of {}: {}", home.number, machine["id"], machine["trouble"]));
        }
    }
    Ok(odd)
}

/// Returns every line that is everybody's. No two are the same.
fn exported(home: &Home) -> Result<BTreeSet<String>, String> {
    let told = home.print(&["export"])?;
    let is_local = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        LOCAL.contains(&text(&line, "kind").as_str())
    };
    let lines: Vec<&str> = told.lines().filter(|line| !is_local(line)).collect();
    let set: BTreeSet<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    if set.len() < lines.len() {
        return Err(format!("home {}: an export has the same line twice", home.number));
    }
    Ok(set)
}

fn differing(exports: &[BTreeSet<String>]) -> Vec<String> {
    let Some((first, others)) = exports.split_first() else { return Vec::new() };
    let mut wrong = Vec::new();
    for (other, number) in others.iter().zip(1..) {
        let only = |here: &BTreeSet<String>, there: &BTreeSet<String>| {
            here.difference(there).cloned().collect::<Vec<String>>()
        };
        wrong.extend(only(first, other).iter().map(|line| format!("only in home 0: {line}")));
        wrong
            .extend(only(other, first).iter().map(|line| format!("only in home {number}: {line}")));
    }
    wrong
}

/// Says which promises about turns a home does not keep.
fn unkept(number: usize, lines: &BTreeSet<String>, ledger: &Ledger) -> Vec<String> {
    // A word is looked up once, not in every line: there are many of both.
    let mut n_by_word: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        let is_memory = line.contains("\"kind\":\"memory\"");
        let words = line.split(|letter: char| !letter.is_ascii_lowercase());
        for word in words.collect::<BTreeSet<&str>>() {
            *n_by_word.entry(word).or_default() += usize::from(is_memory);
        }
    }
    let mut wrong = Vec::new();
    for (word, turn) in ledger.turns() {
        let n_found = n_by_word.get(word.as_str()).copied().unwrap_or(0);
        let why = match turn.fate {
            Fate::Kept if n_found == 0 => "was acknowledged and is lost",
            Fate::Gone if n_by_word.contains_key(word.as_str()) => "was forgotten and is there",
            _ if 1 < n_found => "is there more than once",
            _ => continue,
        };
        wrong.push(format!("home {number}: {word} of {} {why}", turn.session));
    }
    wrong
}
