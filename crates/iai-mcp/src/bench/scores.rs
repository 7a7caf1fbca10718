//! From judged answers to a report: per set and per kind, as JSON and as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::dataset::Gold;
use super::figures::{Times, milliseconds};
use super::machine;
use super::metrics::{self, Estimate, MISSED, Metrics, NAMES, Ranking};
use super::rankings::Ranked;
use super::recall::N_HITS;

/// Sessions a ranking should show before it ends.
const N_SESSIONS_WANTED: usize = 10;
/// What was done to the corpus; told with every result.
const DISGUISE: &str = "ids of turns and sessions were replaced by opaque ones before storing";
const NAMES_KEPT: &str = "roles other than user and assistant were kept as \"Name: \" in the text";
const KIND_CHARS_MAX: usize = 36;

/// The whole result.
pub(crate) struct Report {
    /// The machine and the program.
    pub(super) described: Value,
    pub(super) sets: Vec<SetReport>,
}

/// The result of one set.
#[derive(Default)]
pub(super) struct SetReport {
    pub(super) name: String,
    pub(super) n_haystacks: usize,
    pub(super) n_rows: usize,
    pub(super) n_sessions: usize,
    /// Rows without words, which no memory keeps.
    pub(super) n_silent_rows: usize,
    /// Rows whose role is somebody's name.
    pub(super) n_named_rows: usize,
    /// Questions without a ranking; only when scoring again.
    pub(super) n_unanswered: usize,
    pub(super) judged: Vec<Judged>,
    pub(super) took_loading: Duration,
    pub(super) took_indexing: Duration,
}

/// One answer, judged.
pub(super) struct Judged {
    kind: String,
    outcome: Outcome,
    /// The list was full before ten sessions were seen.
    is_narrow: bool,
    took: Duration,
}

#[derive(Clone, Copy)]
enum Outcome {
    /// There was something to find.
    Scored(Metrics),
    /// There was something to find, and the answer held it back.
    Lost,
    /// There was nothing to find.
    Unanswerable { abstained: bool },
}

impl Judged {
    pub(super) fn new(ranked: &Ranked, gold: &Gold) -> Self {
        let ranking = Ranking { turns: &ranked.ranked, sessions: &ranked.ranked_sessions };
        let outcome = match (gold.turns.is_empty(), ranked.abstained) {
            (true, abstained) => Outcome::Unanswerable { abstained },
            (false, true) => Outcome::Lost,
            (false, false) => Outcome::Scored(metrics::score(ranking, gold)),
        };
        let is_narrow =
            N_HITS <= ranked.ranked.len() && ranked.ranked_sessions.len() < N_SESSIONS_WANTED;
        let took = Duration::from_micros(ranked.took_us);
        Self { kind: ranked.kind.clone(), outcome, is_narrow, took }
    }
}

/// The questions of one kind, or all of them.
struct Group {
    kind: String,
    n_questions: usize,
    n_scored: usize,
    n_lost: usize,
    estimates: Vec<(&'static str, Estimate)>,
    n_unanswerable: usize,
    n_abstained: usize,
}

impl Group {
    fn of(kind: &str, judged: &[&Judged]) -> Self {
        let mut scored = Vec::new();
        let (mut n_lost, mut n_unanswerable, mut n_abstained) = (0, 0, 0);
        for judged in judged {
            match judged.outcome {
                Outcome::Scored(metrics) => scored.push(metrics),
                Outcome::Lost => {
                    n_lost += 1;
                    scored.push(MISSED);
                }
                Outcome::Unanswerable { abstained } => {
                    n_unanswerable += 1;
                    n_abstained += usize::from(abstained);
                }
            }
        }
        Self {
            kind: kind.to_owned(),
            n_questions: judged.len(),
            n_scored: scored.len(),
            n_lost,
            estimates: NAMES.into_iter().zip(metrics::estimate(&scored)).collect(),
            n_unanswerable,
            n_abstained,
        }
    }

    fn document(&self) -> Value {
        let mut told = json!({
            "kind": self.kind,
            "questions": self.n_questions,
            "scored": self.n_scored,
            "lost_to_abstention": self.n_lost,
        });
        let fields = told.as_object_mut();
        let metrics: Map<String, Value> = self.estimates.iter().map(estimate_field).collect();
        if let Some(fields) = fields {
            if 0 < self.n_scored {
                fields.insert("metrics".to_owned(), metrics.into());
            }
            if 0 < self.n_unanswerable {
                let abstention = json!({
                    "unanswerable": self.n_unanswerable,
                    "abstained": self.n_abstained,
                    "share": rounded(ratio(self.n_abstained, self.n_unanswerable)),
                });
                fields.insert("abstention".to_owned(), abstention);
            }
        }
        told
    }
}

fn estimate_field((name, estimate): &(&'static str, Estimate)) -> (String, Value) {
    let Estimate { mean, low, high } = *estimate;
    let told = json!({"mean": rounded(mean), "low": rounded(low), "high": rounded(high)});
    ((*name).to_owned(), told)
}

fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl SetReport {
    /// All questions first, then each kind by name.
    fn groups(&self) -> Vec<Group> {
        let mut by_kind: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
        for judged in &self.judged {
            by_kind.entry(&judged.kind).or_default().push(judged);
        }
        let all: Vec<&Judged> = self.judged.iter().collect();
        let mut groups = vec![Group::of("all", &all)];
        if 1 < by_kind.len() {
            groups.extend(by_kind.iter().map(|(kind, judged)| Group::of(kind, judged)));
        }
        groups
    }

    fn times(&self) -> Times {
        self.judged.iter().map(|judged| judged.took).collect()
    }

    fn n_narrow(&self) -> usize {
        self.judged.iter().filter(|judged| judged.is_narrow).count()
    }

    fn document(&self) -> Value {
        let times = self.times();
        let groups: Vec<Value> = self.groups().iter().map(Group::document).collect();
        json!({
            "set": self.name,
            "haystacks": self.n_haystacks,
            "rows": self.n_rows,
            "sessions": self.n_sessions,
            "rows_without_words": self.n_silent_rows,
            "rows_with_names_in_text": self.n_named_rows,
            "questions_without_ranking": self.n_unanswered,
            "full_lists_with_under_10_sessions": self.n_narrow(),
            "recall_ms": {"p50": times.milliseconds(50), "p95": times.milliseconds(95)},
            "loading_seconds": self.took_loading.as_secs_f64(),
            "indexing_seconds": self.took_indexing.as_secs_f64(),
            "groups": groups,
        })
    }

    fn table(&self) -> String {
        let mut text = format!(
            "{}: {} haystacks, {} sessions, {} turns, {} questions\n",
            self.name,
            self.n_haystacks,
            self.n_sessions,
            self.n_rows,
            self.judged.len()
        );
        let groups = self.groups();
        let width = groups.iter().map(|group| group.kind.chars().count()).max().unwrap_or(0);
        let width = width.clamp("95 % from".len(), KIND_CHARS_MAX);
        let heads: Vec<String> = NAMES.iter().map(|name| head(name)).collect();
        line(&mut text, width, ("kind", "n"), &heads);
        for (place, group) in groups.iter().enumerate().filter(|(_, group)| 0 < group.n_scored) {
            let cells = |pick: fn(&Estimate) -> f64| -> Vec<String> {
                group.estimates.iter().map(|(_, estimate)| percent(pick(estimate))).collect()
            };
            let n_scored = group.n_scored.to_string();
            line(&mut text, width, (&group.kind, &n_scored), &cells(|estimate| estimate.mean));
            if place == 0 {
                line(&mut text, width, ("95 % from", ""), &cells(|estimate| estimate.low));
                line(&mut text, width, ("95 % to", ""), &cells(|estimate| estimate.high));
            }
        }
        for remark in self.remarks(&groups) {
            writeln!(text, "  {remark}").ok();
        }
        text
    }

    fn remarks(&self, groups: &[Group]) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(all) = groups.first() {
            if 0 < all.n_unanswerable {
                remarks.push(format!(
                    "abstention: {} of {} unanswerable questions were answered with nothing or \
                     with low confidence",
                    all.n_abstained, all.n_unanswerable
                ));
            }
            remarks.push(format!("lost to abstention (counted as misses): {}", all.n_lost));
        }
        let times = self.times();
        let time = |percent| times.percentile(percent).map_or("none".to_owned(), milliseconds);
        remarks.push(format!("recall, client side: p50 {}, p95 {}", time(50), time(95)));
        if !self.took_loading.is_zero() {
            let [loading, indexing] =
                [self.took_loading, self.took_indexing].map(|took| took.as_secs_f64());
            remarks.push(format!("storing {loading:.1} s, waiting for vectors {indexing:.1} s"));
        }
        for (n, what) in [
            (self.n_silent_rows, "turns without words were not stored"),
            (self.n_unanswered, "questions have no ranking in the file"),
            (self.n_narrow(), "full lists showed under 10 sessions"),
        ] {
            if 0 < n {
                remarks.push(format!("{n} {what}"));
            }
        }
        remarks
    }
}

/// The heads of columns are short; JSON has the whole names.
fn head(name: &str) -> String {
    name.replace("session_", "").replace("recall", "rec")
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn line(text: &mut String, width: usize, (kind, n): (&str, &str), cells: &[String]) {
    let kind: String = kind.chars().take(KIND_CHARS_MAX).collect();
    let cells: String = cells.iter().map(|cell| format!(" {cell:>7}")).collect();
    writeln!(text, "  {kind:width$} {n:>5}{cells}").ok();
}

impl Report {
    /// Returns everything as one JSON document.
    pub(crate) fn document(&self) -> Value {
        let sets: Vec<Value> = self.sets.iter().map(SetReport::document).collect();
        self.with_facts(json!({"sets": sets}))
    }

    /// Returns each set's name and its own document.
    pub(super) fn set_documents(&self) -> Vec<(String, Value)> {
        let one = |set: &SetReport| (set.name.clone(), self.with_facts(set.document()));
        self.sets.iter().map(one).collect()
    }

    /// Returns the tables for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n", machine::line(&self.described));
        self.notes().iter().for_each(|note| text.push_str(&format!("{note}\n")));
        for set in &self.sets {
            text.push('\n');
            text.push_str(&set.table());
        }
        text
    }

    fn notes(&self) -> Vec<&'static str> {
        let has_names = self.sets.iter().any(|set| 0 < set.n_named_rows);
        let notes = [Some(DISGUISE), has_names.then_some(NAMES_KEPT)];
        notes.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn with_facts(&self, told: Value) -> Value {
        let mut facts = self.described.clone();
        if let (Some(facts), Value::Object(told)) = (facts.as_object_mut(), told) {
            facts.insert("hits_asked_for".to_owned(), N_HITS.into());
            facts.insert("notes".to_owned(), self.notes().into());
            facts.extend(told);
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields as _;

    fn ranked(kind: &str, turns: &[&str], abstained: bool) -> Ranked {
        Ranked {
            set: "s".to_owned(),
            haystack: "h".to_owned(),
            id: "q".to_owned(),
            kind: kind.to_owned(),
            ranked: turns.iter().map(|turn| (*turn).to_owned()).collect(),
            ranked_sessions: vec!["t".to_owned()],
            scores: vec![1.0; turns.len()],
            abstained,
            took_us: 1500,
        }
    }

    fn report() -> Report {
        let right = Gold {
            turns: BTreeSet::from(["a".to_owned()]),
            sessions: BTreeSet::from(["t".to_owned()]),
        };
        let nothing = Gold::default();
        let judged = vec![
            Judged::new(&ranked("fact", &["a", "b"], false), &right),
            Judged::new(&ranked("fact", &["b"], false), &right),
            Judged::new(&ranked("time", &["a"], true), &right),
            Judged::new(&ranked("abstention", &[], true), &nothing),
            Judged::new(&ranked("abstention", &["b"], false), &nothing),
        ];
        let set = SetReport { name: "s".to_owned(), judged, ..SetReport::default() };
        Report { described: machine::describe(&Value::Null), sets: vec![set] }
    }

    #[test]
    fn held_back_answers_are_misses_and_silence_is_right_only_where_nothing_is() {
        let told = report().document();
        let groups = told.at("sets").get(0).unwrap().at("groups").as_array().unwrap().clone();
        let kinds: Vec<&str> =
            groups.iter().filter_map(|group| group.at("kind").as_str()).collect();
        assert_eq!(kinds, ["all", "abstention", "fact", "time"]);
        let all = &groups[0];
        assert_eq!(all.at("metrics").at("hit@1").at("mean"), 0.3333);
        assert_eq!((all.at("scored"), all.at("lost_to_abstention")), (&json!(3), &json!(1)));
        assert_eq!(all.at("abstention").at("share"), 0.5);
        assert_eq!(groups[1].at("metrics"), &Value::Null);
        assert_eq!(groups[2].at("metrics").at("hit@1").at("mean"), 0.5);
        assert_eq!(groups[3].at("metrics").at("hit@1").at("mean"), 0.0);
    }

    #[test]
    fn the_table_shows_every_kind_and_says_what_was_done() {
        let text = report().text();
        for words in ["opaque", "95 % from", "fact", "abstention: 1 of 2", "misses): 1", "1.50 ms"]
        {
            assert!(text.contains(words), "{words} in\n{text}");
        }
        assert!(!text.contains("kept as"), "no names, no remark");
    }
}
