//! How formal the user writes, by ISO week, and whether that drifts.
//!
//! A turn's formality is `0.45 lexical + 0.20 complexity + 0.15 hedging + 0.20 punctuation`, each a
//! logistic `1 / (1 + e^-((x - centre) / scale))` of a density:
//!
//! | part | x | centre | scale |
//! |---|---|---|---|
//! | lexical | formal words per 100 words | 1.5 | 1.2 |
//! | hedging | hedges per 100 words | 1.0 | 0.8 |
//! | punctuation | semicolons, dashes and quotation marks per 100 words | 1.5 | 1.3 |
//! | complexity | half: characters per sentence | 40 | 25 |
//! | | half: commas per sentence | 0.5 | 0.5 |
//!
//! English and Russian are measured; other languages are neutral, 0.5.

mod words;

use iai_store::{FormalityWeek, Memory, Role, Tier};
use jiff::Timestamp;
use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use crate::attributes::language_of;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{Advance, Due, Effects, Shift, Step};

/// Memories looked at in one transaction.
const MEMORIES_PER_ADVANCE: usize = 128;
/// The beginning of a turn that is measured.
const TEXT_BYTES_MAX: usize = 4096;
/// Shorter turns say nothing about how somebody writes.
const WORDS_MIN: usize = 3;
const NEUTRAL: f64 = 0.5;
/// Wording drifts towards masking when it grows more formal by this much a week …
const SLOPE_MIN: f64 = 0.05;
/// … and is this formal …
const MEAN_MIN: f64 = 0.6;
/// … over at least so many weeks: two points always make a line.
const WEEKS_MIN: usize = 3;

/// Whether the user's wording drifts.
#[derive(Debug, Serialize)]
pub struct Camouflaging {
    /// Whether it does.
    pub detected: bool,
    /// How much more formal it becomes in a week, by least squares over the weekly means.
    pub trajectory_slope: f64,
    /// The mean of the weekly means.
    pub current_mean: f64,
    /// How many turns were measured.
    pub sample_count: u64,
    /// What the profile says about it.
    pub camouflaging_relaxation: Value,
    /// The weeks, the earliest first.
    pub weeks: Vec<WeekTold>,
}

/// One week.
#[derive(Debug, Serialize)]
pub struct WeekTold {
    week: String,
    mean: f64,
    samples: u64,
}

/// Measures the user's turns soon after they came in.
pub(crate) struct Formality;

impl Step for Formality {
    fn name(&self) -> &'static str {
        "formality"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
        let came_in =
            engine.read(|reader| Ok(reader.after(progress.up_to, MEMORIES_PER_ADVANCE)?))?;
        if came_in.is_empty() {
            return Ok(Advance::Nothing);
        }
        let mut measured = Vec::new();
        let read = shift.one_by_one(&came_in, |(number, memory)| {
            let found = thousandths(memory).map(|thousandths| (*number, memory, thousandths));
            measured.extend(found);
            Ok(())
        })?;
        let Some((last, _)) = read.last() else { return Ok(Advance::MadeWay) };
        progress.up_to = *last;
        engine.write(|writing| {
            for (number, memory, thousandths) in &measured {
                writing.put_formality(*number, week_of(memory.turn_at), *thousandths)?;
            }
            Ok(writing.put_step(self.name(), &progress, shift.now)?)
        })?;
        Ok(Advance::Did(Effects::from([("turns_measured", measured.len() as u64)])))
    }
}

impl MemoryEngine {
    /// Tells whether the user's wording drifts, over the last weeks that have turns.
    pub fn camouflaging(&self, n_weeks: usize) -> Result<Camouflaging> {
        let mut weeks = self.read(|reader| Ok(reader.formality_weeks(n_weeks.max(1))?))?;
        weeks.reverse();
        let relaxation = self.profile_knob("camouflaging_relaxation")?;
        Ok(judged(&weeks, relaxation.get("value").cloned().unwrap_or_default()))
    }
}

fn judged(weeks: &[FormalityWeek], camouflaging_relaxation: Value) -> Camouflaging {
    let points: Vec<(f64, f64)> =
        weeks.iter().filter_map(|week| Some((place_of(week.week)?, mean_of(week)))).collect();
    let (slope, mean) = line_through(&points);
    let rounded = |number: f64| (number * 10_000.0).round() / 10_000.0;
    Camouflaging {
        detected: WEEKS_MIN <= points.len() && SLOPE_MIN < slope && MEAN_MIN < mean,
        trajectory_slope: rounded(slope),
        current_mean: rounded(mean),
        sample_count: weeks.iter().map(|week| week.n).sum(),
        camouflaging_relaxation,
        weeks: weeks
            .iter()
            .map(|week| WeekTold {
                week: format!("{}-W{:02}", week.week / 100, week.week % 100),
                mean: rounded(mean_of(week)),
                samples: week.n,
            })
            .collect(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "sums of thousandths are small")]
fn mean_of(week: &FormalityWeek) -> f64 {
    week.sum as f64 / week.n.max(1) as f64 / 1000.0
}

/// Where a week stands among all, in weeks.
fn place_of(week: u32) -> Option<f64> {
    let (year, week) = (i16::try_from(week / 100).ok()?, i8::try_from(week % 100).ok()?);
    let monday = ISOWeekDate::new(year, week, Weekday::Monday).ok()?.date();
    let days = Date::constant(1970, 1, 5).until(monday).ok()?.get_days();
    Some(f64::from(days) / 7.0)
}

/// Slope and mean by least squares.
fn line_through(points: &[(f64, f64)]) -> (f64, f64) {
    let n = f64::from(u32::try_from(points.len()).unwrap_or(u32::MAX)).max(1.0);
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let rise: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (if 0.0 < spread { rise / spread } else { 0.0 }, mean_y)
}

/// The ISO week, as year × 100 + week.
fn week_of(at: Timestamp) -> u32 {
    let week = at.to_zoned(TimeZone::UTC).date().iso_week_date();
    u32::try_from(i32::from(week.year()) * 100 + i32::from(week.week())).unwrap_or(0)
}

/// How formal a turn of the user is; nothing for everybody else's, and for a few words.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a formality lies between 0 and 1"
)]
fn thousandths(memory: &Memory) -> Option<u32> {
    let is_turn = memory.role == Role::User && memory.tier == Tier::Episodic;
    let text = &memory.text;
    let text = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text);
    let formality = is_turn.then(|| formality_of(text)).flatten()?;
    Some((formality.clamp(0.0, 1.0) * 1000.0).round() as u32)
}

fn formality_of(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    if words.len() < WORDS_MIN {
        return None;
    }
    let Some(vocabulary) = words::vocabulary(language_of(text)) else { return Some(NEUTRAL) };
    let per_hundred = |n: usize| 100.0 * count(n) / count(words.len());
    let among = |list: &[&str]| words.iter().filter(|word| list.contains(word)).count();
    let letters = |of: &str| text.chars().filter(|letter| of.contains(*letter)).count();
    let n_sentences =
        count(text.split(['.', '!', '?', '\n']).filter(|s| !s.trim().is_empty()).count());
    let length = logistic(count(text.chars().count()) / n_sentences.max(1.0), 40.0, 25.0);
    let commas = logistic(count(letters(",")) / n_sentences.max(1.0), 0.5, 0.5);
    Some(
        0.45 * logistic(per_hundred(among(vocabulary.formal)), 1.5, 1.2)
            + 0.20 * f64::midpoint(length, commas)
            + 0.15 * logistic(per_hundred(among(vocabulary.hedges)), 1.0, 0.8)
            + 0.20 * logistic(per_hundred(letters(";—–«»“”\"")), 1.5, 1.3),
    )
}

fn logistic(x: f64, centre: f64, scale: f64) -> f64 {
    1.0 / (1.0 + (-(x - centre) / scale).exp())
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
