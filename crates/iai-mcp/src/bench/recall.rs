//! How well recall finds what was said, and how fast: real conversations through the shipped
//! pipeline.
//!
//! Each haystack gets a daemon of its own; its turns are stored as `import` stores them, and its
//! questions are asked as `memory_recall` asks them. Nothing here ranks anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::dataset::{Haystack, Question, parse_time};
use super::disguise::{Unmasking, disguise, is_name};
use super::household::Household;
use super::loading::Loader;
use super::machine;
use super::rankings::{self, Ranked, RankingFile};
use super::scores::{Judged, Report, SetReport};
use super::sources::Source;
use crate::capture::Flow;
use crate::client::Client;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// Hits asked for: enough to see ten sessions where many turns of one match.
pub(super) const N_HITS: usize = 100;
/// Enough for that many; a longer turn is shown in part.
const BUDGET_TOKENS: u64 = 100_000;

/// What to run.
pub(crate) struct RecallBench<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) source: Source,
    /// Only these sets; none means all.
    pub(crate) sets: &'a [String],
    /// At most so many questions of each set.
    pub(crate) n_questions_max: usize,
    /// Where ranking files go.
    pub(crate) out: Option<&'a Path>,
    /// Told how far it is.
    pub(crate) progress: &'a dyn Fn(&str),
}

/// Runs every haystack.
pub(crate) fn run(bench: &RecallBench<'_>) -> anyhow::Result<Report> {
    let mut running = Running { bench, described: Value::Null, sets: BTreeMap::new() };
    let is_wanted = |set: &str| bench.sets.is_empty() || bench.sets.iter().any(|name| name == set);
    bench.source.each(&is_wanted, &mut |haystack| running.take(haystack))?;
    let sets = running.sets.into_values().map(|set| set.report).collect();
    let report = Report { described: running.described, sets };
    if let Some(folder) = bench.out {
        for (set, told) in report.set_documents() {
            let path = folder.join(format!("{set}.json"));
            let text = serde_json::to_string_pretty(&told).context("writing the report")?;
            std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        }
    }
    Ok(report)
}

/// Scores ranking files again, from the files and the data alone.
pub(crate) fn score_again(file: &Path, source: &Source) -> anyhow::Result<Report> {
    let ranked = rankings::read(file)?;
    let sets: BTreeSet<String> = ranked.iter().map(|ranked| ranked.set.clone()).collect();
    let mut known: BTreeMap<(String, String, String), Ranked> = BTreeMap::new();
    for ranked in ranked {
        let key = (ranked.set.clone(), ranked.haystack.clone(), ranked.id.clone());
        known.insert(key, ranked);
    }
    let mut reports: BTreeMap<String, SetReport> = BTreeMap::new();
    source.each(&|set| sets.contains(set), &mut |haystack| {
        let report = reports.entry(haystack.set.clone()).or_default();
        let mut n_asked = 0;
        for (question, gold) in haystack.questions.iter().zip(haystack.gold()) {
            let key = (haystack.set.clone(), haystack.name.clone(), question.id.clone());
            match known.remove(&key) {
                Some(ranked) => {
                    n_asked += 1;
                    report.judged.push(Judged::new(&ranked, &gold));
                }
                None => report.n_unanswered += 1,
            }
        }
        report.name.clone_from(&haystack.set);
        if 0 < n_asked {
            report.count(&haystack);
        }
        Ok(Flow::On)
    })?;
    let n_strangers = known.len();
    anyhow::ensure!(n_strangers == 0, "{n_strangers} rankings answer no question of the data");
    let status = json!({"embedding_model": "as told beside the rankings"});
    Ok(Report { described: machine::describe(&status), sets: reports.into_values().collect() })
}

struct Running<'a> {
    bench: &'a RecallBench<'a>,
    described: Value,
    sets: BTreeMap<String, RunningSet>,
}

#[derive(Default)]
struct RunningSet {
    report: SetReport,
    file: Option<RankingFile>,
}

impl Running<'_> {
    fn take(&mut self, mut haystack: Haystack) -> anyhow::Result<Flow> {
        if !self.sets.contains_key(&haystack.set) {
            let file = self.bench.out.map(|folder| RankingFile::create(folder, &haystack.set));
            let mut fresh = RunningSet { file: file.transpose()?, ..RunningSet::default() };
            fresh.report.name.clone_from(&haystack.set);
            self.sets.insert(haystack.set.clone(), fresh);
        }
        let Some(set) = self.sets.get_mut(&haystack.set) else { return Ok(Flow::On) };
        let n_left = self.bench.n_questions_max.saturating_sub(set.report.judged.len());
        if n_left == 0 {
            // Another set may follow in a folder; a published file holds only one.
            let is_over = !matches!(self.bench.source, Source::Folder(_));
            return Ok(if is_over { Flow::Stop } else { Flow::On });
        }
        haystack.questions.truncate(n_left);
        let n_done = set.report.judged.len();
        (self.bench.progress)(&format!("{}: {n_done} questions, {}", haystack.set, haystack.name));
        let told = Told::ask_everything(self.bench.settings, &haystack)
            .with_context(|| format!("in haystack {} of {}", haystack.name, haystack.set))?;
        self.described = machine::describe(&told.status);
        let gold = haystack.gold();
        for (ranked, gold) in told.ranked.iter().zip(&gold) {
            set.report.judged.push(Judged::new(ranked, gold));
        }
        set.report.count(&haystack);
        set.report.took_loading += told.took_loading;
        set.report.took_indexing += told.took_indexing;
        if let Some(file) = &mut set.file {
            file.append(&told.ranked)?;
        }
        Ok(Flow::On)
    }
}

/// What one haystack gave.
struct Told {
    /// In the order of the questions.
    ranked: Vec<Ranked>,
    status: Value,
    took_loading: Duration,
    took_indexing: Duration,
}

impl Told {
    /// Stores the haystack in a home of its own, asking each question when exactly the turns it may
    /// know are stored.
    fn ask_everything(user: &Settings, haystack: &Haystack) -> anyhow::Result<Self> {
        let mut household = Household::new(user)?;
        household.start_daemon()?;
        let client = household.client();
        let mut asking: Vec<(usize, &Question)> = haystack.questions.iter().enumerate().collect();
        asking.sort_by_key(|(_, question)| question.before.unwrap_or(usize::MAX));
        let mut memory = Stocked::new(haystack);
        let mut answered = BTreeMap::new();
        let (mut took_loading, mut took_indexing) = (Duration::ZERO, Duration::ZERO);
        for (place, question) in asking {
            let until = question.before.unwrap_or(usize::MAX).min(haystack.rows.len());
            if memory.n_rows < until {
                took_loading += memory.fill(&client, until)?;
                took_indexing += household.wait_indexed()?;
            }
            answered.insert(place, memory.ask(&client, question)?);
        }
        let status = household.status()?;
        Ok(Self { ranked: answered.into_values().collect(), status, took_loading, took_indexing })
    }
}

/// A store with the first rows of a haystack.
struct Stocked<'a> {
    haystack: &'a Haystack,
    n_rows: usize,
    unmasking: Unmasking,
}

impl<'a> Stocked<'a> {
    fn new(haystack: &'a Haystack) -> Self {
        Self { haystack, n_rows: 0, unmasking: Unmasking::default() }
    }

    /// Stores rows until there are `until` of them; returns what the daemon took.
    fn fill(&mut self, client: &Client, until: usize) -> anyhow::Result<Duration> {
        let rows = self.haystack.rows.iter().enumerate().take(until).skip(self.n_rows);
        let rows: Vec<_> = rows
            .filter_map(|(place, row)| Some((place, disguise(self.haystack, place, row)?)))
            .collect();
        let mut places: Vec<usize> = rows.iter().map(|(place, _)| *place).rev().collect();
        let unmasking = &mut self.unmasking;
        let mut learn = |memory: &str| {
            if let Some(place) = places.pop() {
                unmasking.learn(memory, place);
            }
        };
        let mut loader = Loader::new(client.clone(), &mut learn);
        for (_, disguised) in rows {
            loader.push(&disguised.session, disguised.event)?;
        }
        loader.flush()?;
        let took = loader.took;
        self.n_rows = until;
        Ok(took)
    }

    fn ask(&self, client: &Client, question: &Question) -> anyhow::Result<Ranked> {
        let asof = question.asof.as_deref().and_then(parse_time).map(|at| at.to_string());
        let params = json!({
            "cue": question.cue,
            "budget_tokens": BUDGET_TOKENS,
            "n_hits_max": N_HITS,
            "asof": asof,
        });
        let begun = Instant::now();
        let answer = client.call_daemon("memory_recall", &params);
        let took = begun.elapsed();
        let answer = answer.with_context(|| format!("asking question {}", question.id))?;
        let hits = answer.at("hits").as_array().map_or(&[][..], Vec::as_slice);
        let (mut ranked, mut sessions, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        // A summary that quiet work wrote meanwhile is no row of the haystack.
        for hit in hits.iter().filter(|hit| hit.at("role") != "system") {
            let id = hit.at("record_id").as_str().unwrap_or_default();
            let row = self.unmasking.row(self.haystack, id);
            let row = row.with_context(|| format!("memory {id} is none of this haystack"))?;
            ranked.push(row.id.clone());
            scores.push(hit.at("score").as_f64().unwrap_or(0.0));
            if !sessions.contains(&row.session) {
                sessions.push(row.session.clone());
            }
        }
        Ok(Ranked {
            set: self.haystack.set.clone(),
            haystack: self.haystack.name.clone(),
            id: question.id.clone(),
            kind: question.kind.clone(),
            abstained: is_abstention(&answer),
            ranked,
            ranked_sessions: sessions,
            scores,
            took_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        })
    }
}

/// An answer that tells nothing, or only with the remark that it is probably nothing.
fn is_abstention(answer: &Value) -> bool {
    let hits = answer.at("hits").as_array();
    let mut hints = answer.at("hints").as_array().into_iter().flatten();
    hits.is_none_or(Vec::is_empty) || hints.any(|hint| hint.at("kind") == "low_confidence")
}

impl SetReport {
    /// Counts what a haystack brought.
    fn count(&mut self, haystack: &Haystack) {
        let sessions: BTreeSet<&str> =
            haystack.rows.iter().map(|row| row.session.as_str()).collect();
        let is_silent = |text: &str| text.chars().all(char::is_whitespace);
        self.n_haystacks += 1;
        self.n_rows += haystack.rows.len();
        self.n_sessions += sessions.len();
        self.n_silent_rows += haystack.rows.iter().filter(|row| is_silent(&row.text)).count();
        self.n_named_rows += haystack.rows.iter().filter(|row| is_name(&row.role)).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_and_doubt_are_abstentions() {
        let hit = json!([{"record_id": "a"}]);
        let doubt = json!([{"kind": "no_exact_match"}, {"kind": "low_confidence"}]);
        for (answer, want) in [
            (json!({"hits": []}), true),
            (json!({"hits": hit}), false),
            (json!({"hits": hit, "hints": [{"kind": "no_exact_match"}]}), false),
            (json!({"hits": hit, "hints": doubt}), true),
        ] {
            assert_eq!(is_abstention(&answer), want, "{answer}");
        }
    }
}
