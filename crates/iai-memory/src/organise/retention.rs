//! Lets go of what only told how the daemon fared: old events, and receipts of spool files long
//! gone.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{Advance, Due, Effects, Shift, Step};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Events are kept so long …
const EVENTS_KEPT: SignedDuration = SignedDuration::from_hours(24 * 90);
/// … but not more of them than this.
const EVENTS_MAX: usize = 100_000;
/// Receipts of spool files that were stored whole are kept so long: a copy of the file may turn up.
const RECEIPTS_KEPT: SignedDuration = SignedDuration::from_hours(24 * 90);
/// Rows let go in one transaction.
const ROWS_PER_ADVANCE: usize = 2000;
/// How often it is worth looking.
const EVERY: SignedDuration = SignedDuration::from_hours(24);

pub(super) struct Retention;

impl Step for Retention {
    fn name(&self) -> &'static str {
        "retention"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
        let done_at = progress.state.get("done_at").and_then(|at| at.as_str()?.parse().ok());
        if done_at.is_some_and(|at: Timestamp| shift.now.duration_since(at).abs() < EVERY) {
            return Ok(Advance::Nothing);
        }
        if shift.must_make_way() {
            return Ok(Advance::MadeWay);
        }
        progress.state = json!({"done_at": shift.now.to_string()});
        let (events_before, receipts_before) = (shift.now - EVENTS_KEPT, shift.now - RECEIPTS_KEPT);
        let (n_events, n_receipts) = engine.write(|writing| {
            let n_events = writing.drop_events(events_before, EVENTS_MAX, ROWS_PER_ADVANCE)?;
            let n_receipts = writing.drop_receipts(receipts_before, ROWS_PER_ADVANCE)?;
            if n_events.max(n_receipts) < ROWS_PER_ADVANCE {
                writing.put_step(self.name(), &progress, shift.now)?;
            }
            Ok((n_events, n_receipts))
        })?;
        Ok(Advance::Did(Effects::from([
            ("events_dropped", n_events as u64),
            ("receipts_dropped", n_receipts as u64),
        ])))
    }
}
