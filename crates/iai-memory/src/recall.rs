//! Recall, in reading order: cue → candidates → rank → pack.

mod age;
mod anchor;
mod answer;
mod asked;
mod beside;
mod brought;
mod candidates;
mod changes;
mod copies;
mod corrections;
mod cue;
mod doubt;
mod echo;
mod figures;
mod found;
#[cfg(test)]
mod fuzz;
mod handover;
mod hints;
pub(crate) mod knobs;
mod linked;
mod listing;
mod named;
mod origin;
mod pack;
mod pointing;
mod rank;
mod replacing;
mod replies;
mod shape;
mod since;
mod stated;
mod structural;
mod temporal;
mod text;
mod values;
mod wanted_kind;
mod when;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use iai_store::{Dispute, Memory, MemoryId, MemoryNumber, Reader};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

pub use beside::Neighbour;
pub(crate) use changes::{says_otherwise, telling_words};
pub use cue::CueMode;
pub(crate) use cue::words_of_in_order;
pub(crate) use echo::only_asks;
pub(crate) use hints::ToldRoom;
pub use pointing::matched_words;
pub(crate) use since::{NameSearch, named_since, replaced_since, said_since};
pub(crate) use stated::stated_of;
pub use structural::{StructuralAnswer, StructuralAsk};
pub use temporal::{TemporalAnswer, TemporalAsk};
pub use text::{TextAnswer, TextAsk};

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::organise;
use crate::projects::project_named;
use crate::taught;
use crate::trust::distrust;
use cue::Cue;
use knobs::{Line, Manner};
use pointing::Pointing;
use when::Asked;

/// The cue's length that is looked at; the rest says nothing new.
pub(crate) const CUE_CHARS_MAX: usize = 4000;
/// The most hits of one answer, whatever the budget.
pub(crate) const HITS_MAX: usize = 50;
/// The most hits of one answer to somebody who asked for a number of them.
pub(crate) const HITS_WANTED_MAX: usize = 200;
/// The most outdated memories told beside the hits.
pub(crate) const ANTI_HITS_MAX: usize = 3;

/// What is asked.
#[derive(Debug, Clone)]
pub struct RecallAsk {
    /// The question, in the asker's words.
    pub cue: String,
    /// What the whole answer may cost, at four characters a token.
    pub budget_tokens: u64,
    /// Only memories of this project: its path, or the last part of it.
    pub project: Option<String>,
    /// The project it is asked from: its memories are preferred a little, others stay findable.
    pub asked_from: Option<String>,
    /// The session that asks: what it makes of the answer is learned from.
    pub session: Option<String>,
    /// Whether a doubtful answer is better than none.
    pub certainty: Certainty,
    /// The time of asking, when it is not now: what was said later ranks lower.
    pub as_of: Option<Timestamp>,
    /// Whether to say where the time went.
    pub timing: Timing,
    /// So many hits, long ones shown in part; `None` means whole ones while the budget lasts.
    pub n_hits_wanted: Option<usize>,
}

impl RecallAsk {
    /// A plain question: whoever asks for more says so.
    pub fn new(cue: impl Into<String>, budget_tokens: u64) -> Self {
        Self {
            cue: cue.into(),
            budget_tokens,
            project: None,
            asked_from: None,
            session: None,
            certainty: Certainty::Any,
            as_of: None,
            timing: Timing::Untold,
            n_hits_wanted: None,
        }
    }
}

/// Whether an answer tells where the time went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// No: it would only cost tokens.
    Untold,
    /// Yes: for whoever measures.
    Told,
}

/// Where the time of an answer went, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimingUs {
    /// Embedding the cue.
    pub embedding: u64,
    /// Asking both lanes, and about corrections and scenes.
    pub finding: u64,
    /// Scoring, reading the best, following links and corrections.
    pub ranking: u64,
    /// Everything, that included.
    pub all: u64,
}

/// How sure an answer has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// Anything that matched.
    Any,
    /// Only what clears the floor; unasked-for text must be worth its place.
    OnlyConfident,
}

/// One answer.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// The memory.
    pub record_id: MemoryId,
    /// How well it answers; only the order means something.
    pub score: f64,
    /// The arithmetic behind the score.
    pub reason: String,
    /// The words, byte for byte; a part of them when `excerpt` is there.
    pub literal_surface: String,
    /// Ids of the turns around it, where they are not shown as `neighbours`.
    pub adjacent_suggestions: Vec<MemoryId>,
    /// Since when it holds.
    pub valid_from: Option<String>,
    /// Until when it held; `null` while it does.
    pub valid_to: Option<String>,
    /// Who said it.
    pub role: &'static str,
    /// When it was said.
    pub ts: String,
    /// How long ago that was, in words.
    pub age: String,
    /// The session it was said in.
    pub session_id: String,
    /// The project it belongs to.
    pub project: Option<String>,
    /// What kind of memory it is.
    pub tier: &'static str,
    /// Where it was taught from, when nobody said it: a file and its part, or another program's
    /// notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taught: Option<String>,
    /// Why its words are not to be followed, where they give orders to the assistant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<&'static str>,
    /// Which part of the text is shown, when it is not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
    /// How an outdated memory relates to the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<&'static str>,
    /// The current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partner_id: Option<MemoryId>,
    /// The turns right before and after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<Neighbour>,
}

/// A part of a text, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The first character shown.
    pub start: usize,
    /// One past the last character shown.
    pub end: usize,
    /// How many there are.
    pub total: usize,
}

/// Something the asker should know beside the hits.
#[derive(Debug, Clone, Serialize)]
pub struct Hint {
    /// What kind.
    pub kind: &'static str,
    /// How urgent.
    pub severity: &'static str,
    /// Which memories.
    pub source_ids: Vec<MemoryId>,
    /// One sentence.
    pub text: String,
}

/// The whole answer.
#[derive(Debug, Clone, Serialize)]
pub struct RecallAnswer {
    /// The answers, best first.
    pub hits: Vec<Hit>,
    /// What used to hold and no longer does.
    pub anti_hits: Vec<Hit>,
    /// Which memories led to the hits, in order.
    pub activation_trace: Vec<MemoryId>,
    /// What the whole answer costs, at four characters a token.
    pub budget_used: u64,
    /// At most three.
    pub hints: Vec<Hint>,
    /// How the cue was understood.
    pub cue_mode: CueMode,
    /// Patterns that the hits are evidence of, at most three.
    pub patterns_observed: Vec<Value>,
    /// What quiet work did of late, once in a session.
    pub overnight_digest: Option<Value>,
    /// Where the last session stopped, told once in a session to those who want it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Where the time went, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing_us: Option<TimingUs>,
}

impl MemoryEngine {
    /// Returns the memories that answer the cue, best first, within the budget.
    pub fn recall(&self, ask: &RecallAsk, now: Timestamp) -> Result<RecallAnswer> {
        let now = ask.as_of.unwrap_or(now);
        let mut cue = Cue::understand(&ask.cue, self.asked(now));
        if cue.is_trivial() {
            let tone = Manner::of(&self.stored_profile()?).tone;
            let fact = "only common words, which ask for nothing";
            let line = Line { fact, step: Some("ask for a thing: a name, a file, a decision") };
            return Ok(pack::nothing(&cue, hints::hint("retrieval_skipped", tone, line)));
        }
        let project = self.read(|reader| project_named(reader, ask.project.as_deref()))?;
        let ask = &mut RecallAsk { project, ..ask.clone() };
        self.bind_to_project(&mut cue, ask, self.asked(now))?;
        if cue.days.is_none() && !cue.is_of_now() {
            cue.days = self.days_of_cue(&cue.text, ask.project.as_deref(), now)?;
        }
        self.recall_cue(&cue, ask, now)
    }

    /// A time of asking, by the clocks of the person who asks.
    fn asked(&self, at: Timestamp) -> Asked {
        Asked { at, offset: self.zone.to_offset(at) }
    }

    /// Returns the memories that answer a cue that was understood.
    fn recall_cue(&self, cue: &Cue, ask: &RecallAsk, now: Timestamp) -> Result<RecallAnswer> {
        let begun = Instant::now();
        // Before a reader is taken: loading needs one too, and without a daemon there is only one.
        self.load_index()?;
        let manner = Manner::of(&self.stored_profile()?);
        let room = pack::Room::new(ask.budget_tokens, ask.n_hits_wanted, manner.showing);
        let told = self.hits(ask, cue, &manner, (room, now))?;
        let Told { mut answer, numbers, dispute, spent } = told;
        let beside = beside::Beside { engine: self, manner: &manner, room, numbers: &numbers };
        beside.add(&mut answer, ask, now)?;
        self.note_answer(ask, &answer, dispute.as_ref(), now);
        let mut answer = pack::finish(answer);
        answer.timing_us = (ask.timing == Timing::Told).then(|| spent.told(begun.elapsed()));
        Ok(answer)
    }

    /// Finds, ranks and packs.
    fn hits(
        &self,
        ask: &RecallAsk,
        cue: &Cue,
        manner: &Manner,
        (room, now): (pack::Room, Timestamp),
    ) -> Result<Told> {
        self.read(|reader| {
            let begun = Instant::now();
            let found = candidates::find(self, reader, cue, ask, now)?;
            let mut spent = Spent::on_finding(found.embedding(), begun.elapsed());
            self.note_miss(cue, ask, &found, now);
            if ask.certainty == Certainty::OnlyConfident && doubt::is_doubtful(&found) {
                let line = Line { fact: "nothing is known about this", step: None };
                let hint = hints::hint(hints::LOW_CONFIDENCE, manner.tone, line);
                return Ok(Told::of(pack::nothing(cue, hint), spent));
            }
            let n_max = match manner.needs_more_candidates() {
                true => HITS_MAX.max(room.n_hits_max()),
                false => room.n_hits_max(),
            };
            let asking = rank::Asking { engine: self, reader, cue };
            let (ranked, beside) = reader.at_one_moment(|| {
                let mut ranked = rank::rank(asking, &found, now, n_max)?;
                shape::focus(&mut ranked, manner, cue.here(ask));
                linked::bring_along(reader, ask.project.as_deref(), &mut ranked, now)?;
                wanted_kind::lift(reader, cue, ask, &mut ranked)?;
                let was_hinted = |dispute: &Dispute| self.uses.was_hinted(dispute);
                let corrections = &found.corrections;
                let known = (cue, corrections);
                let beside = corrections::order(reader, known, &mut ranked, now, was_hinted)?;
                // Who names today asks how it is now.
                let is_of_now = cue.days.as_ref().is_none_or(|days| days.distance(now) <= 0.0);
                if !corrections.asks_for_history && is_of_now {
                    brought::bring_along(asking, &found, &mut ranked, now)?;
                }
                let mut ranked = shape::choose(ranked, manner);
                temporal::put_others_last(cue, &mut ranked);
                Ok::<_, MemoryError>((ranked, beside))
            })?;
            spent.ranking = begun.elapsed().saturating_sub(spent.embedding + spent.finding);
            let corrections::Beside { anti_hits, dispute } = beside;
            let is_first = |kind| self.told.is_first(ask.session.as_deref(), kind);
            let here = now.to_zoned(self.zone.clone());
            let mut hints = hints::about(&found, (cue, &ranked), manner, &here, is_first);
            hints::put_first(&mut hints, dispute.as_ref().map(corrections::dispute_hint));
            let numbers = ranked.iter().map(|hit| (hit.memory.id, hit.number)).collect();
            let pointing = Pointing::new(cue, self.nearest_passages(reader, &found, &ranked)?);
            let answer = pack::pack(&pointing, ranked, anti_hits, room, hints);
            Ok(Told { answer, numbers, dispute, spent })
        })
    }

    /// Returns where in the long hits the passage nearest to the cue begins, in bytes.
    fn nearest_passages(
        &self,
        reader: &Reader,
        found: &found::Found,
        ranked: &[rank::Ranked],
    ) -> Result<BTreeMap<MemoryId, usize>> {
        let mut passages = BTreeMap::new();
        for hit in ranked {
            let part = found.evidence.get(&hit.number).map_or(0, |own| own.nearest_part);
            if part != 0 {
                let start = self.start_of_part(reader, hit.number, part)?;
                passages.extend(start.map(|byte| (hit.memory.id, byte)));
            }
        }
        Ok(passages)
    }

    /// Remembers what was told: a dispute is told once, hits may be of use, alone or together.
    fn note_answer(
        &self,
        ask: &RecallAsk,
        answer: &RecallAnswer,
        dispute: Option<&Dispute>,
        now: Timestamp,
    ) {
        if self.is_read_only() || ask.as_of.is_some() {
            return;
        }
        let told = answer.hits.iter().map(|hit| hit.record_id);
        // What answers a question badly was of no use in it.
        let is_doubtful = answer.hints.iter().any(|hint| hint.kind == hints::LOW_CONFIDENCE);
        if !is_doubtful {
            if let Some(session) = &ask.session {
                self.note_together(session, told.clone());
            }
            self.note_recalled(told);
        }
        let is_told = answer.hints.iter().any(|hint| hint.kind == corrections::HINT_KIND);
        if let Some(dispute) = dispute.filter(|_| is_told) {
            self.note_hinted(dispute, now);
        }
    }
}

/// What was found, and what has to be remembered about it.
struct Told {
    answer: RecallAnswer,
    /// The numbers of its hits, and of others.
    numbers: BTreeMap<MemoryId, MemoryNumber>,
    /// The dispute it hints at.
    dispute: Option<Dispute>,
    /// What it took so far.
    spent: Spent,
}

impl Told {
    /// An answer that has no hits.
    fn of(answer: RecallAnswer, spent: Spent) -> Self {
        Self { answer, numbers: BTreeMap::new(), dispute: None, spent }
    }
}

/// Where the time went until hits were packed.
struct Spent {
    embedding: Duration,
    finding: Duration,
    ranking: Duration,
}

impl Spent {
    /// Finding includes embedding the cue; the two are told apart.
    fn on_finding(embedding: Duration, both: Duration) -> Self {
        Self { embedding, finding: both.saturating_sub(embedding), ranking: Duration::ZERO }
    }

    fn told(&self, all: Duration) -> TimingUs {
        TimingUs {
            embedding: micros(self.embedding),
            finding: micros(self.finding),
            ranking: micros(self.ranking),
            all: micros(all),
        }
    }
}

impl MemoryEngine {
    /// Tells whether a cue would find something that is likely to be meant.
    pub(crate) fn knows(&self, cue: &str, project: Option<&str>, now: Timestamp) -> Result<bool> {
        let cue = Cue::understand(cue, self.asked(now));
        let ask = RecallAsk {
            project: project.map(str::to_owned),
            certainty: Certainty::OnlyConfident,
            ..RecallAsk::new(cue.text.clone(), 0)
        };
        self.load_index()?;
        self.read(|reader| {
            let found = candidates::find(self, reader, &cue, &ask, now)?;
            Ok(!found.evidence.is_empty() && !doubt::is_doubtful(&found))
        })
    }

    /// Notes a question that found nothing. What a hook asks unasked, and what is asked as of
    /// another day, is no question of the user's.
    fn note_miss(&self, cue: &Cue, ask: &RecallAsk, found: &found::Found, now: Timestamp) {
        let is_asked = ask.certainty == Certainty::Any && ask.as_of.is_none();
        let is_missed = found.evidence.is_empty() || doubt::is_doubtful(found);
        let is_question = cue.mode == CueMode::Concept && ask.n_hits_wanted.is_none();
        if is_asked && is_missed && is_question && !self.is_read_only() {
            let miss = organise::miss_of(&ask.cue, ask.project.as_deref(), now);
            let is_forgotten = self.forgetting.words.are_in(&ask.cue);
            let miss = miss.filter(|_| !is_forgotten);
            miss.into_iter().for_each(|miss| self.organise.miss(miss));
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Builds the hit that shows a whole memory.
fn whole_hit(memory: &Memory, score: f64, reason: String, now: Timestamp) -> Hit {
    Hit {
        record_id: memory.id,
        score: (score * 10_000.0).round() / 10_000.0,
        reason,
        literal_surface: memory.text.clone(),
        adjacent_suggestions: Vec::new(),
        valid_from: Some(memory.valid_from.to_string()),
        valid_to: memory.valid_to.map(|at| at.to_string()),
        role: memory.role.as_str(),
        ts: memory.turn_at.to_string(),
        age: age::in_words(memory.turn_at, now),
        session_id: memory.session.clone(),
        project: memory.project.clone(),
        tier: memory.tier.as_str(),
        taught: taught::source_of(&memory.provenance),
        untrusted: distrust(&memory.text),
        excerpt: None,
        relation: None,
        partner_id: None,
        neighbours: Vec::new(),
    }
}
