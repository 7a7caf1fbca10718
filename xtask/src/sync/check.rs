//! What has to hold at the end.

use std::collections::BTreeSet;

use serde_json::Value;

use super::home::{Home, text};
use super::ledger::{Fate, Ledger};
use super::place::Place;

/// Everybody has heard of everything by then; more is an echo.
const ROUNDS_MAX: usize = 40;
/// Kinds of lines of an export that are a home's own.
const LOCAL: [&str; 4] = ["iai-mcp export", "end", "use", "link_session"];
/// How much is told of what went wrong.
const TOLD_MAX: usize = 20;

/// Puts everything right, has everybody exchange until nothing moves, and compares.
pub(super) fn all(homes: &[Home], place: &Place, ledger: &Ledger) -> Result<(), String> {
    place.mend(homes.len());
    let n_rounds = converge(homes)?;
    ledger.tell("rounds until nothing moved", n_rounds.to_string());
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
    let leaked = place.leaked(&ledger.words())?;
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
    let memories: Vec<&String> =
        lines.iter().filter(|line| line.contains("\"kind\":\"memory\"")).collect();
    let mut wrong = Vec::new();
    for (word, turn) in ledger.turns() {
        let n_found = memories.iter().filter(|line| line.contains(&word)).count();
        let why = match turn.fate {
            Fate::Kept if n_found == 0 => "was acknowledged and is lost",
            Fate::Gone if lines.iter().any(|line| line.contains(&word)) => {
                "was forgotten and is there"
            }
            _ if 1 < n_found => "is there more than once",
            _ => continue,
        };
        wrong.push(format!("home {number}: {word} of {} {why}", turn.session));
    }
    wrong
}
