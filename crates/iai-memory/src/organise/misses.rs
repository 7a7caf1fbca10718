//! Writes down cues that found nothing: asked again, they are worth a question.

use jiff::{SignedDuration, Timestamp};

use super::room::Miss;
use super::terms::may_tell;
use super::{Advance, Due, Effects, Shift, Step};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::recall::words_of_in_order;

/// Cues kept at most; the oldest go first.
const MISSES_MAX: usize = 500;
/// A cue that nobody asked for so long is no question any more.
pub(crate) const MISSES_KEPT: SignedDuration = SignedDuration::from_hours(24 * 30);
/// Fewer telling words are no question.
const WORDS_MIN: usize = 2;
/// More words are a text, and never asked twice.
const WORDS_MAX: usize = 24;

pub(super) struct Misses;

impl Step for Misses {
    fn name(&self) -> &'static str {
        "misses"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let misses = engine.organise.take_misses();
        if misses.is_empty() {
            return Ok(Advance::Nothing);
        }
        engine.write(|writing| {
            for miss in &misses {
                let cue = (miss.cue.as_str(), miss.asked.as_str());
                writing.note_missed_cue(cue, &miss.project, miss.at, MISSES_MAX)?;
            }
            Ok(writing.drop_missed_cues(shift.now - MISSES_KEPT)?)
        })?;
        Ok(Advance::Did(Effects::from([("misses_noted", misses.len() as u64)])))
    }
}

/// Makes a note of a cue, so that the same question in other small words is the same; `None` when
/// it is no question.
pub(crate) fn miss_of(asked: &str, project: Option<&str>, at: Timestamp) -> Option<Miss> {
    let mut words: Vec<String> = words_of_in_order(asked);
    words.retain(|word| may_tell(word));
    words.sort_unstable();
    words.dedup();
    (WORDS_MIN..=WORDS_MAX).contains(&words.len()).then(|| Miss {
        cue: words.join(" "),
        asked: asked.trim().to_owned(),
        project: project.unwrap_or_default().to_owned(),
        at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_in_other_small_words_is_the_same() {
        let cue = |asked| miss_of(asked, None, Timestamp::UNIX_EPOCH).map(|miss| miss.cue);
        assert_eq!(cue("What is the staging password?"), Some("password staging".to_owned()));
        assert_eq!(cue("the password of staging"), cue("What is the staging password?"));
        assert_eq!(cue("and then?"), None);
    }
}
