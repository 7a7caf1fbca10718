//! Tidies up once a day: facts nobody shows, topics nobody belongs to, and the write-ahead log.

use iai_store::StepProgress;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{Advance, Due, Effects, Shift, Step};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// How often it is worth looking.
const EVERY: SignedDuration = SignedDuration::from_hours(24);
/// Rows dropped in one transaction.
const ROWS_PER_ADVANCE: usize = 1000;

const NAME: &str = "compact";

pub(super) struct Compact;

impl Step for Compact {
    fn name(&self) -> &'static str {
        NAME
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let before = engine.read(|reader| Ok(reader.step(NAME)?))?;
        let done_at = before.state.get("done_at").and_then(|at| at.as_str()?.parse().ok());
        if done_at.is_some_and(|at: Timestamp| shift.now.duration_since(at).abs() < EVERY) {
            return Ok(Advance::Nothing);
        }
        if shift.must_make_way() {
            return Ok(Advance::MadeWay);
        }
        let (n_facts, n_topics) = engine.write(|writing| {
            let n_facts = writing.drop_orphan_facts(ROWS_PER_ADVANCE)?;
            let n_topics = writing.drop_empty_topics(ROWS_PER_ADVANCE)?;
            if n_facts.max(n_topics) < ROWS_PER_ADVANCE {
                let state = json!({"done_at": shift.now.to_string()});
                let progress = StepProgress { state, ..StepProgress::default() };
                writing.put_step(NAME, &progress, shift.now)?;
            }
            Ok((n_facts, n_topics))
        })?;
        engine.with_writer(|store| Ok(store.checkpoint_gently()?))?;
        Ok(Advance::Did(Effects::from([
            ("facts_dropped", n_facts as u64),
            ("topics_dropped", n_topics as u64),
        ])))
    }
}
