//! Whether the current fact is found after it changed, and the old wording when somebody asks for
//! it: made-up lives, corrected by `memory_contradict` or just said otherwise.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use iai_wire::SpoolEvent;
use serde_json::{Value, json};

use super::household::{Household, Lending};
use super::life::{Fact, Fate, Life, LifeTurn};
use super::loading::Loader;
use super::process::wait_for;
use super::sheet::Sheet;
use crate::client::Client;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// When the first session was, and how much later each next one.
const FIRST_SECOND: i64 = 1_710_000_000;
const SECONDS_PER_SESSION: i64 = 50_000;
const SECONDS_PER_TURN: i64 = 60;
/// Hits looked at, and the tokens they may cost.
const N_HITS: usize = 10;
const BUDGET_TOKENS: u64 = 6000;
/// The current fact has to be among so many.
const CURRENT_TOP: usize = 3;
const PROGRESS_EVERY: usize = 100;
const COMPARING_LIMIT: Duration = Duration::from_mins(30);
/// How often we look.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const EVENTS_MAX: u64 = 1000;

/// What to measure.
pub(crate) struct ContradictionBench<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) n_sessions: usize,
    pub(crate) n_seeds: u64,
    pub(crate) lending: Lending,
    pub(crate) progress: &'a dyn Fn(&str),
}

/// Lives one life per seed, each in a home of its own.
pub(crate) fn run(bench: &ContradictionBench<'_>) -> anyhow::Result<Sheet> {
    let mut counts = Counts::default();
    let mut status = Value::Null;
    for seed in 1..=bench.n_seeds {
        let mut household = Household::lending(bench.settings, bench.lending)?;
        household.start_daemon()?;
        let life = Life::new(bench.n_sessions, seed);
        let mut run = Run {
            client: household.client(),
            ids: life.facts.iter().map(|fact| vec![None; fact.wordings.len()]).collect(),
            life: &life,
            hinted: RefCell::default(),
        };
        (bench.progress)(&format!("seed {seed}: storing {} sessions", bench.n_sessions));
        run.store()?;
        household.wait_indexed()?;
        run.change(&mut counts, bench.progress)?;
        household.wait_indexed()?;
        let watchman = run.wait_compared()?;
        run.ask(&mut counts, bench.progress)?;
        run.count_noticed(&watchman, &mut counts)?;
        status = household.status()?;
    }
    let title = format!("{} sessions × {} seeds", bench.n_sessions, bench.n_seeds);
    let mut sheet = Sheet::new(format!("corrections, {title}"), &status);
    counts.tell(&mut sheet);
    Ok(sheet)
}

/// One life in one home.
struct Run<'a> {
    client: Client,
    life: &'a Life,
    /// The id of each wording of each fact, as it was said first.
    ids: Vec<Vec<Option<String>>>,
    /// Memories an answer has asked about: it does so once, whatever the cue was.
    hinted: RefCell<BTreeSet<String>>,
}

impl Run<'_> {
    fn store(&mut self) -> anyhow::Result<()> {
        let mut stored: Vec<String> = Vec::new();
        let mut note = |id: &str| stored.push(id.to_owned());
        let mut loader = Loader::new(self.client.clone(), &mut note);
        for (session, turns) in self.life.sessions.iter().enumerate() {
            for (place, turn) in turns.iter().enumerate() {
                loader.push(&format!("life-{session}"), event(session, place, turn))?;
            }
        }
        loader.flush()?;
        let turns = self.life.sessions.iter().flatten();
        for (turn, id) in turns.zip(stored) {
            if let Some((fact, wording)) = turn.says {
                self.note_id(fact, wording, id);
            }
        }
        Ok(())
    }

    fn note_id(&mut self, fact: usize, wording: usize, id: String) {
        if let Some(known) = self.ids.get_mut(fact).and_then(|ids| ids.get_mut(wording)) {
            known.get_or_insert(id);
        }
    }

    fn id(&self, fact: usize, wording: usize) -> &str {
        let id = self.ids.get(fact).and_then(|ids| ids.get(wording)?.as_deref());
        id.unwrap_or_default()
    }

    /// Corrects facts, each time the one that is found, and captures others with another value.
    fn change(&mut self, counts: &mut Counts, progress: &dyn Fn(&str)) -> anyhow::Result<()> {
        for (n, fact) in self.life.facts.iter().enumerate() {
            if n.is_multiple_of(PROGRESS_EVERY) {
                progress(&format!("correcting fact {n}"));
            }
            for (wording, text) in fact.wordings.iter().enumerate().skip(1) {
                let session = format!("change-{n}-{wording}");
                match fact.fate {
                    Fate::Stays | Fate::SaidOtherwise => {}
                    Fate::Corrected => {
                        let hits = self.hits(&fact.cue)?;
                        let old = self.id(n, wording - 1).to_owned();
                        counts.found_to_correct.count(hits.contains(&old));
                        let params = json!({"id": old, "new_fact": text, "session_id": session});
                        let done = self.call("memory_contradict", &params)?;
                        self.note_id(n, wording, text_at(&done, "new_record_id"));
                    }
                    Fate::CapturedOtherwise => {
                        let params = json!({"text": text, "session_id": session});
                        let done = self.call("memory_capture", &params)?;
                        self.note_id(n, wording, text_at(&done, "record_id"));
                    }
                }
            }
        }
        Ok(())
    }

    fn ask(&self, counts: &mut Counts, progress: &dyn Fn(&str)) -> anyhow::Result<()> {
        for (n, fact) in self.life.facts.iter().enumerate() {
            if n.is_multiple_of(PROGRESS_EVERY) {
                progress(&format!("asking about fact {n}"));
            }
            let begun = Instant::now();
            let answer = self.recall(&fact.cue)?;
            counts.took.push(begun.elapsed());
            let current = self.id(n, fact.wordings.len() - 1);
            let place = ids_at(&answer, "hits").iter().position(|id| *id == current);
            let is_found = place.is_some_and(|place| place < CURRENT_TOP);
            match fact.fate {
                Fate::Stays => counts.count_unchanged(fact, is_found),
                Fate::Corrected => {
                    counts.current.count(is_found);
                    counts.current_first.count(place == Some(0));
                    self.ask_history(n, fact, counts)?;
                }
                Fate::SaidOtherwise | Fate::CapturedOtherwise => {
                    counts.implicit_current.count(is_found);
                    self.ask_history(n, fact, counts)?;
                }
            }
            if ids_at(&answer, "anti_hits").contains(&current) {
                counts.n_current_as_anti_hit += 1;
            }
        }
        Ok(())
    }

    /// Asks how it was, and for the first wording word for word.
    fn ask_history(&self, n: usize, fact: &Fact, counts: &mut Counts) -> anyhow::Result<()> {
        let first = fact.wordings.first().map_or("", String::as_str);
        let quoted = format!("\"{}\"", first.trim_end_matches('.'));
        for (cue, tally) in
            [(&fact.history_cue, &mut counts.history), (&quoted, &mut counts.quoted)]
        {
            // Said twice in the same words, either is the old wording.
            let answer = self.recall(cue)?;
            let hits = answer.at("hits").as_array().map_or(&[][..], Vec::as_slice);
            let is_found = hits.iter().any(|hit| hit.at("literal_surface") == first);
            let by_id = ids_at(&answer, "hits").contains(&self.id(n, 0));
            tally.count(is_found || by_id);
        }
        Ok(())
    }

    /// Counts which changes were noticed and told, and what was noticed although nobody changed it.
    fn count_noticed(&self, watchman: &str, counts: &mut Counts) -> anyhow::Result<()> {
        let hinted = self.hinted.borrow();
        let mut changed: BTreeSet<&str> = BTreeSet::from([watchman]);
        for (n, fact) in self.life.facts.iter().enumerate() {
            let ids = self.ids.get(n).into_iter().flatten().flatten().map(String::as_str);
            match fact.fate {
                Fate::Stays => {}
                Fate::Corrected => changed.extend(ids),
                Fate::SaidOtherwise | Fate::CapturedOtherwise => {
                    changed.extend(ids);
                    counts.count_implicit(fact, hinted.contains(self.id(n, 1)));
                }
            }
        }
        for event in self.noted()? {
            let sources = event.at("source_ids").as_array().cloned().unwrap_or_default();
            counts.n_disputes += event.at("data").at("count").as_u64().unwrap_or(0);
            let known = |id: &Value| id.as_str().is_some_and(|id| changed.contains(id));
            counts.n_false_alarms += u64::from(!sources.is_empty() && !sources.iter().any(known));
        }
        Ok(())
    }

    /// Returns the events that tell of disputes.
    fn noted(&self) -> anyhow::Result<Vec<Value>> {
        let params = json!({"kind": "s4_contradiction", "severity": "info", "limit": EVENTS_MAX});
        let answer = self.call("events_query", &params)?;
        Ok(answer.at("events").as_array().cloned().unwrap_or_default())
    }

    /// Waits until everything is compared: memories are in order, so that a last dispute of our own
    /// is noted after all others. Returns its memory.
    fn wait_compared(&self) -> anyhow::Result<String> {
        let mut last = String::new();
        let mut note = |id: &str| id.clone_into(&mut last);
        let mut loader = Loader::new(self.client.clone(), &mut note);
        for (place, value) in ["1111", "2222"].into_iter().enumerate() {
            let text = format!("The watchman of the last hour listens on port {value}.");
            let turn = LifeTurn { text, says: None };
            loader.push("watchman", event(self.life.sessions.len(), place, &turn))?;
        }
        loader.flush()?;
        let mut asked: Option<Instant> = None;
        wait_for("comparing what came in", COMPARING_LIMIT, || {
            // Whoever asks goes first: asking without a pause, we would wait for ourselves.
            if asked.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
                return Ok(None);
            }
            asked = Some(Instant::now());
            let has_last = |event: &Value| {
                let sources = event.at("source_ids").as_array().into_iter().flatten();
                sources.into_iter().any(|id| id == last.as_str())
            };
            Ok(self.noted()?.iter().any(has_last).then_some(()))
        })?;
        Ok(last)
    }

    fn hits(&self, cue: &str) -> anyhow::Result<Vec<String>> {
        let answer = self.recall(cue)?;
        Ok(ids_at(&answer, "hits").into_iter().map(str::to_owned).collect())
    }

    fn recall(&self, cue: &str) -> anyhow::Result<Value> {
        let params = json!({"cue": cue, "n_hits_max": N_HITS, "budget_tokens": BUDGET_TOKENS});
        let answer = self.call("memory_recall", &params)?;
        for hint in answer.at("hints").as_array().into_iter().flatten() {
            if hint.at("kind") == "contradiction" {
                let sources = hint.at("source_ids").as_array().into_iter().flatten();
                let sources = sources.filter_map(|id| id.as_str().map(str::to_owned));
                self.hinted.borrow_mut().extend(sources);
            }
        }
        Ok(answer)
    }

    fn call(&self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.client.call_daemon(method, params).with_context(|| format!("calling {method}"))
    }
}

fn event(session: usize, place: usize, turn: &LifeTurn) -> SpoolEvent {
    let seconds = |n: usize, each: i64| i64::try_from(n).unwrap_or(0).saturating_mul(each);
    let since = seconds(session, SECONDS_PER_SESSION) + seconds(place, SECONDS_PER_TURN);
    let at = jiff::Timestamp::from_second(FIRST_SECOND.saturating_add(since)).ok();
    let at = at.map(|at| at.to_string());
    SpoolEvent {
        text: turn.text.clone(),
        tier: "episodic".to_owned(),
        role: "user".to_owned(),
        ts: at.clone().unwrap_or_default(),
        turn_ts: at,
        source: Some("bench".to_owned()),
        uuid: Some(format!("life-{session}-{place}")),
        ..SpoolEvent::default()
    }
}

fn ids_at<'a>(answer: &'a Value, list: &str) -> Vec<&'a str> {
    let hits = answer.at(list).as_array().map_or(&[][..], Vec::as_slice);
    hits.iter().filter_map(|hit| hit.at("record_id").as_str()).collect()
}

fn text_at(answer: &Value, field: &str) -> String {
    answer.at(field).as_str().unwrap_or_default().to_owned()
}

/// A share: how many of how many.
#[derive(Default)]
struct Share {
    n_right: u64,
    n_all: u64,
}

impl Share {
    fn count(&mut self, is_right: bool) {
        self.n_right += u64::from(is_right);
        self.n_all += 1;
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of questions")]
    fn tell(&self, name: &str, sheet: &mut Sheet) {
        let share = self.n_right as f64 / self.n_all.max(1) as f64;
        let text = format!("{share:.4}  ({} of {})", self.n_right, self.n_all);
        let document = json!({"share": share, "right": self.n_right, "all": self.n_all});
        sheet.add(name, text, document);
    }
}

fn kind_of(fact: &Fact) -> String {
    format!("{:?}", fact.kind).to_lowercase()
}

#[derive(Default)]
struct Counts {
    found_to_correct: Share,
    current: Share,
    current_first: Share,
    history: Share,
    quoted: Share,
    unchanged: Share,
    unchanged_by_kind: std::collections::BTreeMap<String, Share>,
    implicit_current: Share,
    hinted: Share,
    hinted_by_kind: std::collections::BTreeMap<String, Share>,
    n_current_as_anti_hit: u64,
    n_disputes: u64,
    n_false_alarms: u64,
    took: super::figures::Times,
}

impl Counts {
    fn count_unchanged(&mut self, fact: &Fact, is_found: bool) {
        self.unchanged.count(is_found);
        self.unchanged_by_kind.entry(kind_of(fact)).or_default().count(is_found);
    }

    fn count_implicit(&mut self, fact: &Fact, is_hinted: bool) {
        self.hinted.count(is_hinted);
        self.hinted_by_kind.entry(kind_of(fact)).or_default().count(is_hinted);
    }

    fn tell(&self, sheet: &mut Sheet) {
        self.current.tell("corrected: current fact among the first 3", sheet);
        self.current_first.tell("corrected: current fact first", sheet);
        self.history.tell("how it was: old wording among the first 10", sheet);
        self.quoted.tell("old wording quoted: among the first 10", sheet);
        self.found_to_correct.tell("fact found before it was corrected", sheet);
        self.unchanged.tell("unchanged fact among the first 3", sheet);
        for (kind, share) in &self.unchanged_by_kind {
            share.tell(&format!("unchanged fact, {kind}: among the first 3"), sheet);
        }
        self.implicit_current.tell("said otherwise: later wording among the first 3", sheet);
        self.hinted.tell("said otherwise: noticed and hinted", sheet);
        for (kind, share) in &self.hinted_by_kind {
            share.tell(&format!("said otherwise, {kind}: hinted"), sheet);
        }
        sheet.add("disputes noted", self.n_disputes.to_string(), self.n_disputes);
        let (shown, n) = (self.n_false_alarms.to_string(), self.n_false_alarms);
        sheet.add("false alarms: disputes about what nobody changed", shown, n);
        let (shown, n) = (self.n_current_as_anti_hit.to_string(), self.n_current_as_anti_hit);
        sheet.add("current fact told as outdated", shown, n);
        sheet.add_times("recall, socket", &self.took);
    }
}
