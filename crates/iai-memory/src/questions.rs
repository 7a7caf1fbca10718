//! What memory would like to ask: about what contradicts itself, what was asked for in vain, what
//! may be a habit. A question goes away by itself when there is no longer a reason for it.

use std::collections::BTreeMap;

use iai_store::{Difference, Dispute, Memory, MemoryId, MissedCue, Pattern, PatternStatus};
use jiff::Timestamp;
use serde::Serialize;

use crate::brief::{cut, flat};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::MISSES_KEPT;
use crate::patterns::sentence;
use crate::remarks::sentences;

/// Questions open at once in one project; more would be a questionnaire.
const OPEN_MAX: usize = 3;
/// A cue has to find nothing so often before it is worth a question.
const MISSES_MIN: u64 = 2;
/// Cues that are looked at.
const MISSES_LOOKED_AT: usize = 24;
/// Disputes that are looked at.
const DISPUTES_LOOKED_AT: usize = 24;
/// What a question repeats of a cue.
const CUE_CHARS_MAX: usize = 160;

/// Which questions.
#[derive(Debug, Clone, Default)]
pub struct QuestionsAsk {
    /// Only those about memories of this session.
    pub session: Option<String>,
}

/// Questions, the most pressing first.
#[derive(Debug, Clone, Serialize)]
pub struct QuestionsAnswer {
    /// The questions.
    pub questions: Vec<Question>,
    /// How many.
    pub count: usize,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Its name, the same as long as it is open.
    pub id: String,
    /// The question, in plain words.
    pub text: String,
    /// Why it is asked: `dispute`, `gap` or `pattern`.
    pub tier: &'static str,
    /// How open it is, from 0 to 1.
    pub entropy: f64,
    /// The memories it is about.
    pub triggered_by_record_ids: Vec<MemoryId>,
    /// The project it belongs to.
    pub project: Option<String>,
}

impl MemoryEngine {
    /// Returns the questions that are open now.
    pub fn questions(&self, ask: &QuestionsAsk, now: Timestamp) -> Result<QuestionsAnswer> {
        let mut all = self.disputed()?;
        all.extend(self.gaps(now)?);
        let patterns = self.read(|reader| Ok(reader.patterns(None, usize::MAX)?))?;
        let pending = |pattern: &&Pattern| pattern.counted.status == PatternStatus::Pending;
        all.extend(patterns.iter().filter(pending).map(about_pattern));
        if let Some(session) = &ask.session {
            all = self.of_session(all, session)?;
        }
        let mut n_open: BTreeMap<Option<String>, usize> = BTreeMap::new();
        all.retain(|question| {
            let n_open = n_open.entry(question.project.clone()).or_default();
            *n_open += 1;
            *n_open <= OPEN_MAX
        });
        Ok(QuestionsAnswer { count: all.len(), questions: all })
    }

    /// Questions about memories that say the opposite of each other.
    fn disputed(&self) -> Result<Vec<Question>> {
        self.read(|reader| {
            let mut questions = Vec::new();
            for dispute in reader.open_disputes(DISPUTES_LOOKED_AT)? {
                let Some(later) = reader.memory(dispute.later_id)? else { continue };
                let question = about_dispute(&dispute, &later);
                // What disagrees with several that say the same is one question.
                if questions.iter().all(|own: &Question| own.text != question.text) {
                    questions.push(question);
                }
            }
            Ok(questions)
        })
    }

    /// Cues that found nothing several times and still would not.
    fn gaps(&self, now: Timestamp) -> Result<Vec<Question>> {
        let since = now - MISSES_KEPT;
        let missed =
            self.read(|reader| Ok(reader.missed_cues(MISSES_MIN, since, MISSES_LOOKED_AT)?))?;
        let mut questions = Vec::new();
        for miss in missed {
            let project = Some(miss.project.as_str()).filter(|project| !project.is_empty());
            if !self.knows(&miss.asked, project, now)? {
                questions.push(about_gap(&miss));
            }
        }
        Ok(questions)
    }

    fn of_session(&self, all: Vec<Question>, session: &str) -> Result<Vec<Question>> {
        self.read(|reader| {
            let mut kept = Vec::new();
            for question in all {
                let memories = reader.memories(&question.triggered_by_record_ids)?;
                if memories.iter().any(|memory| memory.session == session) {
                    kept.push(question);
                }
            }
            Ok(kept)
        })
    }
}

fn about_gap(miss: &MissedCue) -> Question {
    let asked: String = miss.asked.chars().take(CUE_CHARS_MAX).collect();
    Question {
        id: format!("gap-{:016x}", hash(&format!("{}\n{}", miss.cue, miss.project))),
        text: format!(
            "“{asked}” was asked {} times and nothing is known about it. What is the answer?",
            miss.n_times
        ),
        tier: "gap",
        entropy: 1.0,
        triggered_by_record_ids: Vec::new(),
        project: Some(miss.project.clone()).filter(|project| !project.is_empty()),
    }
}

fn about_dispute(dispute: &Dispute, later: &Memory) -> Question {
    let about = &dispute.about;
    let said = cut(&flat(sentence_with(&later.text, &about.new_value)), CUE_CHARS_MAX);
    let text = match about.what {
        Difference::Negation => {
            format!("“{said}” was said, and earlier or later the opposite. Which holds?")
        }
        Difference::Number
        | Difference::Date
        | Difference::Version
        | Difference::Name
        | Difference::Path => {
            let (old, new) = (&about.old_value, &about.new_value);
            format!("“{said}” was said, and {old} before. Does {new} hold now?")
        }
    };
    Question {
        id: format!("dispute-{}-{}", about.earlier.get(), about.later.get()),
        text,
        tier: "dispute",
        entropy: 1.0,
        triggered_by_record_ids: vec![dispute.earlier_id, dispute.later_id],
        project: later.project.clone(),
    }
}

/// Returns the sentence a value stands in, so that the question says what it is about.
fn sentence_with<'a>(text: &'a str, value: &str) -> &'a str {
    let first_word = value.split_whitespace().next().unwrap_or_default();
    let parts = sentences(text).into_iter().filter_map(|range| text.get(range));
    let mut parts = parts.peekable();
    let first = parts.peek().copied().unwrap_or(text);
    parts.find(|part| part.contains(first_word)).unwrap_or(first)
}

fn about_pattern(pattern: &Pattern) -> Question {
    let counted = &pattern.counted;
    Question {
        id: format!("pattern-{}", pattern.number),
        text: format!(
            "Is this a rule: {}? It was so in {} of {} sessions.",
            sentence(counted),
            counted.n_evidence,
            counted.n_evidence + counted.n_exceptions
        ),
        tier: "pattern",
        entropy: ((1.0 - counted.confidence) * 1000.0).round() / 1000.0,
        triggered_by_record_ids: pattern.evidence.clone(),
        project: Some(counted.project.clone()).filter(|project| !project.is_empty()),
    }
}

/// FNV-1a: the same name for the same question on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
