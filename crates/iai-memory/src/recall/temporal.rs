//! Recall within a time: what was said then, the best for a cue, or the newest.

use iai_store::{Column, Memory, MemoryNumber, Reader};
use jiff::Timestamp;
use serde::Serialize;

use super::cue::Cue;
use super::listing::{self, Spending};
use super::rank::Ranked;
use super::when::Days;
use super::{HITS_MAX, Hint, Hit, RecallAsk, whole_hit};
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::organise::UNSAID_HOSTS;
use crate::projects::{places_of, project_named};

/// Memories that are read to list what somebody said: summaries stand between them.
const READ_MAX: usize = 2 * HITS_MAX;

/// What is asked.
#[derive(Debug, Clone)]
pub struct TemporalAsk {
    /// What it should be about; without one, the newest come first.
    pub cue: Option<String>,
    /// Not earlier than this.
    pub from: Option<Timestamp>,
    /// Not later than this.
    pub to: Option<Timestamp>,
    /// The time in words: `last week`, `2026-05-01..2026-05-31`, `before the release`.
    pub phrase: Option<String>,
    /// What the whole answer may cost, at four characters a token.
    pub budget_tokens: u64,
    /// Only memories of this project.
    pub project: Option<String>,
}

/// What was said then.
#[derive(Debug, Serialize)]
pub struct TemporalAnswer {
    /// The answers.
    pub hits: Vec<Hit>,
    /// The time that was meant, first moment.
    pub from: String,
    /// The time that was meant, last moment.
    pub to: String,
    /// What the hits cost.
    pub budget_used: u64,
    /// What the asker should know beside them.
    pub hints: Vec<Hint>,
}

impl MemoryEngine {
    /// Returns what was said within a time.
    pub fn recall_temporal(&self, ask: &TemporalAsk, now: Timestamp) -> Result<TemporalAnswer> {
        self.load_index()?;
        let (from, to) = self.time_meant(ask, now)?;
        let time = |ms: i64| Timestamp::from_millisecond(ms).map_or(now, |time| time).to_string();
        let mut answer = TemporalAnswer {
            hits: Vec::new(),
            from: time(from),
            to: time(to),
            budget_used: 0,
            hints: Vec::new(),
        };
        let mut cue = Cue::understand(ask.cue.as_deref().unwrap_or_default(), self.asked(now));
        if cue.is_trivial() {
            let newest = self.read(|reader| newest(reader, ask, (from, to), now))?;
            let listed = listing::list(&cue, newest, ask.budget_tokens, Spending::Whole);
            answer.hits = listed.hits;
            answer.budget_used = listed.budget_used;
            return Ok(answer);
        }
        let mut asked = RecallAsk {
            project: self.read(|reader| project_named(reader, ask.project.as_deref()))?,
            ..RecallAsk::new(cue.text.clone(), ask.budget_tokens)
        };
        self.bind_to_project(&mut cue, &mut asked, self.asked(now))?;
        if cue.asks_for_anything {
            cue.is_only_time = true;
            asked.project = asked.project.or_else(|| cue.project.clone());
        }
        (cue.said_ms, cue.days) = (Some((from, to)), None);
        let found = self.recall_cue(&cue, &asked, now)?;
        answer.hits = found.hits;
        // What took the place of something said then may have been said later.
        answer.hits.retain(|hit| {
            let at = hit.ts.parse::<Timestamp>().map_or(from, Timestamp::as_millisecond);
            (from..=to).contains(&at)
        });
        answer.budget_used = found.budget_used;
        answer.hints = found.hints;
        Ok(answer)
    }

    /// The first and the last millisecond that is meant: what the fields say, narrowed by the
    /// phrase; without either, what the cue says.
    fn time_meant(&self, ask: &TemporalAsk, now: Timestamp) -> Result<(i64, i64)> {
        let has_fields = ask.from.is_some() || ask.to.is_some();
        let said = match (&ask.phrase, &ask.cue) {
            (Some(phrase), _) => {
                let days = self.days_meant(phrase, ask.project.as_deref(), now)?;
                Some(days.ok_or_else(|| no_time("phrase", phrase))?)
            }
            (None, Some(cue)) if !has_fields => {
                let beside = || self.days_beside_what_happened(cue, ask.project.as_deref(), now);
                let days = Days::named_in(cue, self.asked(now))
                    .map_or_else(beside, |days| Ok(Some(days)))?;
                Some(days.ok_or_else(|| no_time("cue", cue))?)
            }
            (None, _) if has_fields => None,
            (None, _) => {
                let why = "is missing; give from, to or a phrase such as `last week`";
                return Err(MemoryError::bad("phrase", why));
            }
        };
        let (first, last) = said.map_or((i64::MIN, i64::MAX), |days| days.millis());
        let from = ask.from.map_or(first.max(0), |from| from.as_millisecond().max(first));
        let to = ask.to.map_or(last, |to| to.as_millisecond().min(last));
        let to = to.min(Timestamp::MAX.as_millisecond());
        if to < from {
            return Err(MemoryError::bad("to", "lies before the beginning of the time"));
        }
        Ok((from, to))
    }
}

/// Puts what was said at another time behind the rest, where a cue asks for a time and for nothing
/// else: it only took the place of something said then, or was of use together with it.
pub(super) fn put_others_last(cue: &Cue, ranked: &mut [Ranked]) {
    let Some((from, to)) = cue.said_ms.filter(|_| cue.is_only_time) else { return };
    let is_other = |hit: &Ranked| !(from..=to).contains(&hit.memory.turn_at.as_millisecond());
    ranked.sort_by_key(is_other);
    let then = ranked.iter().filter(|hit| !is_other(hit)).map(|hit| hit.score);
    let lowest = then.reduce(f64::min).unwrap_or(f64::MAX);
    for hit in ranked.iter_mut().filter(|hit| is_other(hit) && lowest < hit.score) {
        hit.score = lowest;
        hit.reason.push_str(&format!(" → {lowest:.3}, said at another time"));
    }
}

fn no_time(name: &'static str, text: &str) -> MemoryError {
    let shown: String = text.chars().take(60).collect();
    let why = format!(
        "names no time in `{shown}`; give `last week`, `in May`, `2026-05-01..2026-05-31`, or \
         from and to"
    );
    MemoryError::bad(name, why)
}

fn newest(
    reader: &Reader,
    ask: &TemporalAsk,
    (from, to): (i64, i64),
    now: Timestamp,
) -> Result<Vec<Hit>> {
    let mut columns = vec![Column::Said(from, to)];
    if let Some(project) = &ask.project {
        let places = places_of(reader, project)?;
        columns.push(Column::Places(places.into_iter().map(|(place, _)| place).collect()));
    }
    let numbers: Vec<MemoryNumber> = reader.chosen(&columns, READ_MAX)?;
    let memories = reader.numbered(&numbers)?.into_iter().map(|(_, memory)| memory);
    // A summary has the time of its latest sentence, and the others are of any.
    let said = memories.filter(|memory| !UNSAID_HOSTS.contains(&memory.host.as_str()));
    let said_then = |memory: Memory| whole_hit(&memory, 1.0, "said then".to_owned(), now);
    Ok(said.take(HITS_MAX).map(said_then).collect())
}
