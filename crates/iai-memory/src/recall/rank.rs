//! Orders the candidates. Every weight of the ranking stands here; they were chosen on development
//! sets, where wide ranges around them give the same answers (`docs/benchmarks.md`).

use std::collections::BTreeMap;

use iai_store::{Memory, MemoryNumber, Reader};
use jiff::Timestamp;

use super::cue::{Cue, CueMode};
use super::found::{Evidence, Found, Scale};
use super::origin::Origin;
use super::replies;
use super::when::Days;
use crate::engine::MemoryEngine;
use crate::error::Result;

/// What a memory gains for each deviation that its cosine is above the mean of all.
const MEANING_WEIGHT: f64 = 0.15;
/// No memory is nearer or farther than so many deviations.
const DEVIATIONS: (f64, f64) = (-3.0, 8.0);
/// Words are measured against the best match, or against this share of all that the cue's words
/// could tell when even the best match is a poor one: the meaning then decides.
const POOR_MATCH: f32 = 0.5;
/// What a memory gains that has the words the cue quotes, were they all of the cue; else, their
/// share of that.
const PHRASE_WEIGHT: f64 = 2.0;
/// What the words of the scene count beside the words of the memory itself.
const SCENE_WEIGHT: f64 = 0.45;
/// What a memory said at this moment gains: it is what is being worked on …
const FRESH_WEIGHT: f64 = 0.15;
/// … for some hours; in so many days the gain falls to a third.
const FRESH_DAYS: f64 = 0.2;
/// What the newest of the candidates gains: it is the latest word on the matter …
const LATEST_WEIGHT: f64 = 0.2;
/// … and so do, less and less, those of the days before it.
const LATEST_DAYS: f64 = 7.0;
/// Both count whole when the best match, by words, scene and meaning, is worth this; below, in
/// proportion to it: what is new must not stand for what is asked where all match poorly.
const RECENCY_FROM: f64 = 0.8;
/// What a memory gains that belongs to the project the cue names or is asked from …
const PROJECT_WEIGHT: f64 = 0.35;
/// … and where it is asked for a time and for nothing else: whatever was said there goes before
/// others, but no summary of it …
pub(crate) const PROJECT_OF_TIME_WEIGHT: f64 = 4.0;
/// … and words, which are those of asking, are worth no more than a good match.
const WORDS_OF_ASKING_MAX: f64 = 1.0;
/// What a memory gains that was said when the cue says.
const DATE_WEIGHT: f64 = 0.5;
/// Days outside of what the cue says at which nothing of that is left.
const DATE_REACH_DAYS: f64 = 7.0;
/// What the second-best and the third-best turn of a session add to each of its turns, of their own
/// scores: what was spoken of more than once is likelier meant.
const SESSION_WEIGHTS: [f64; 2] = [0.05, 0.03];
/// What each earlier hit of the same session costs, so that an answer spread over several sessions
/// is found whole …
const REPEAT_COST: f64 = 0.2;
/// … up to so many.
const REPEATS_MAX: u32 = 3;

/// What a memory gains that is of the kind asked for, a wish or a decision: about a third of a good
/// match.
pub(super) const KIND_WEIGHT: f64 = 0.3;
/// What was said only after the time of asking costs this much; it happens when somebody asks as of
/// a day in the past, or when a clock was wrong.
const LATER_COST: f64 = 0.3;
/// A summary repeats what was said, and has more of the cue's words than any of those who said it:
/// it is told after all of them. No memory can gain as much as this.
const SUMMARY_COST: f64 = 4.0;
/// What a memory costs that only asks something: what was answered is meant.
pub(super) const QUESTION_COST: f64 = 0.2;
/// What a memory costs that only keeps the talk going.
pub(super) const CHATTER_COST: f64 = 0.4;
/// What a reply has at least of the score of the question it answers, and what was agreed to of
/// that of the agreement.
pub(super) const LED_SHARE: f64 = 0.9;
/// How often the best are looked at for questions, each time after the last ones found made way for
/// others.
const ECHO_ROUNDS: usize = 3;
/// Clocks differ by so much without anybody being to blame.
const CLOCK_SKEW_DAYS: f64 = 10.0 / 1440.0;

/// A memory with its score and the arithmetic behind it.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    pub(crate) number: MemoryNumber,
    pub(crate) memory: Memory,
    pub(crate) score: f64,
    pub(crate) reason: String,
}

/// Who asks what.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) engine: &'a MemoryEngine,
    pub(crate) reader: &'a Reader,
    pub(crate) cue: &'a Cue,
}

/// Scores, sorts, and reads the best; equal scores are ordered by number, so that the order never
/// depends on luck.
pub(crate) fn rank(
    asking: Asking<'_>,
    found: &Found,
    now: Timestamp,
    n_max: usize,
) -> Result<Vec<Ranked>> {
    let Asking { engine, reader, cue } = asking;
    let times = Times::of(found, now);
    let mut scored: Vec<Scored> = (found.evidence.iter())
        .map(|(number, evidence)| score(cue, *number, evidence, &found.scale, times))
        .collect();
    support_by_sessions(&mut scored);
    // Who asks what was then is told what was, whatever holds now.
    if !cue.is_only_time {
        found.corrections.settle(&mut scored);
    }
    add_support(&mut scored);
    let mut order = spread_over_sessions(scored);
    let mut memories = BTreeMap::new();
    for _ in 0..ECHO_ROUNDS {
        let read = read_best(reader, &order, n_max, &memories)?;
        let n_led = replies::follow(engine, cue, &read, &mut order)?;
        memories.extend(read);
        if n_led == 0 {
            break;
        }
        order = spread_over_sessions(order);
    }
    memories.extend(read_best(reader, &order, n_max, &memories)?);
    let ranked = order.into_iter().take(n_max).filter_map(|scored| {
        let memory = memories.remove(&scored.number)?;
        Some(scored.tell(memory))
    });
    Ok(ranked.collect())
}

/// Reads those of the best that were not read yet.
fn read_best(
    reader: &Reader,
    order: &[Scored],
    n_max: usize,
    known: &BTreeMap<MemoryNumber, Memory>,
) -> Result<Vec<(MemoryNumber, Memory)>> {
    let best = order.iter().take(n_max).map(|scored| scored.number);
    let unread: Vec<MemoryNumber> = best.filter(|number| !known.contains_key(number)).collect();
    if unread.is_empty() {
        return Ok(Vec::new());
    }
    Ok(reader.numbered(&unread)?)
}

/// What speaks for a memory by itself: its meaning and its words.
fn match_score(evidence: &Evidence, scale: &Scale) -> f64 {
    MEANING_WEIGHT * deviations(evidence, scale).unwrap_or(0.0) + measured(evidence.bm25, scale)
}

/// How promising a memory is before its scene is read: what was said after the time of asking must
/// not take the place of what had been, nor what was said at any time of what was said when the cue
/// says.
pub(crate) fn promise(
    evidence: &Evidence,
    scale: &Scale,
    days: Option<&Days>,
    asked_at: Timestamp,
) -> f64 {
    let matches = match_score(evidence, scale);
    let dated = days.map_or(0.0, |days| date_gain(days, evidence.turn_at_ms));
    match is_later(evidence.turn_at_ms, asked_at) {
        true => matches + dated - LATER_COST,
        false => matches + dated,
    }
}

/// What a memory gains that was said on these days, or near them.
fn date_gain(days: &Days, at_ms: i64) -> f64 {
    let distance = Timestamp::from_millisecond(at_ms).map_or(f64::MAX, |at| days.distance(at));
    DATE_WEIGHT * (1.0 - distance / DATE_REACH_DAYS).max(0.0)
}

/// A memory with its score, not read yet.
pub(crate) struct Scored {
    pub(crate) number: MemoryNumber,
    session: u32,
    pub(crate) score: f64,
    /// What of the score is for when it was said.
    pub(crate) timeliness: f64,
    /// What the other turns of its session will add to the score.
    pub(crate) support: f64,
    /// What of the score is for words, scene and meaning.
    pub(super) of_cue: f64,
    /// What earlier hits of its session cost it.
    repeat_cost: f64,
    /// It only leads to another, which has its score.
    pub(super) is_led_away: bool,
    pub(crate) reason: String,
}

impl Scored {
    /// A memory of the same session that is only found because this one leads to it.
    pub(super) fn led_to(&self, number: MemoryNumber, score: f64, reason: String) -> Self {
        let Self { session, timeliness, support, .. } = *self;
        let (of_cue, repeat_cost, is_led_away) = (0.0, 0.0, false);
        Self {
            number,
            session,
            score,
            timeliness,
            support,
            of_cue,
            repeat_cost,
            is_led_away,
            reason,
        }
    }

    fn tell(self, memory: Memory) -> Ranked {
        let Self { number, score, repeat_cost, mut reason, .. } = self;
        if 0.0 < repeat_cost {
            reason.push_str(&format!(" − session again {repeat_cost:.2}"));
        }
        Ranked { number, memory, score: score - repeat_cost, reason }
    }
}

/// The times that memories are seen from.
#[derive(Clone, Copy)]
struct Times {
    asked: Timestamp,
    /// The newest candidate that was said by then; all that matches may be old, after a holiday or
    /// in an archive.
    newest_ms: i64,
    /// How much of what recency is worth counts, from 0 to 1.
    share: f64,
}

impl Times {
    fn of(found: &Found, asked: Timestamp) -> Self {
        let said = found.evidence.values().filter(|evidence| evidence.origin != Origin::Taught);
        let told = said.map(|evidence| evidence.turn_at_ms);
        let by_then = told.filter(|at_ms| !is_later(*at_ms, asked));
        let newest_ms = by_then.max().unwrap_or(asked.as_millisecond());
        let matches = found.evidence.values().map(|own| {
            match_score(own, &found.scale) + SCENE_WEIGHT * measured(own.scene, &found.scale)
        });
        let share = (matches.fold(0.0, f64::max) / RECENCY_FROM).min(1.0);
        Self { asked, newest_ms, share }
    }

    /// What a memory gains for having been said lately, and later than the others.
    fn recency(&self, at_ms: i64) -> f64 {
        let fades =
            |until_ms: i64, days: f64| (-days_between(at_ms, until_ms).max(0.0) / days).exp();
        let fresh = FRESH_WEIGHT * fades(self.asked.as_millisecond(), FRESH_DAYS);
        let latest = LATEST_WEIGHT * fades(self.newest_ms, LATEST_DAYS);
        self.share * (fresh + latest)
    }
}

fn score(
    cue: &Cue,
    number: MemoryNumber,
    evidence: &Evidence,
    scale: &Scale,
    times: Times,
) -> Scored {
    let most = if cue.is_only_time { WORDS_OF_ASKING_MAX } else { f64::MAX };
    let words = measured(evidence.bm25, scale).min(most);
    let scene = SCENE_WEIGHT * measured(evidence.scene, scale).min(most);
    let mut score = words + scene;
    let mut of_cue = words + scene;
    let mut reason = format!("words {words:.3} (bm25 {:.2}) + scene {scene:.3}", evidence.bm25);
    if let Some(deviations) = deviations(evidence, scale) {
        let meaning = MEANING_WEIGHT * deviations;
        score += meaning;
        of_cue += meaning;
        let known = evidence.cosine.map(|cosine| format!("cosine {cosine:.2}"));
        let known = known.unwrap_or_else(|| "by its words, not embedded yet".to_owned());
        reason = format!("meaning {meaning:.3} ({known}) + {reason}");
    }
    if evidence.has_phrase {
        let phrase = PHRASE_WEIGHT * cue.quoted_share;
        score += phrase;
        reason.push_str(&format!(" + quoted words {phrase:.3}"));
    }
    if evidence.is_from_here {
        let goes_first = cue.is_only_time && evidence.origin != Origin::Summary;
        let project = if goes_first { PROJECT_OF_TIME_WEIGHT } else { PROJECT_WEIGHT };
        score += project;
        reason.push_str(&format!(" + project {project:.2}"));
    }
    let mut timeliness = 0.0;
    if is_later(evidence.turn_at_ms, times.asked) {
        timeliness = -LATER_COST;
        reason.push_str(&format!(" − said later {LATER_COST:.2}"));
    } else if cue.mode == CueMode::Concept && evidence.origin != Origin::Taught {
        let recency = times.recency(evidence.turn_at_ms);
        timeliness = recency;
        reason.push_str(&format!(" + recency {recency:.3}"));
    }
    score += timeliness;
    if let Some(days) = &cue.days {
        let date = date_gain(days, evidence.turn_at_ms);
        score += date;
        reason.push_str(&format!(" + date {date:.3}"));
    }
    if evidence.origin == Origin::Summary {
        score -= SUMMARY_COST;
        reason.push_str(&format!(" − summary {SUMMARY_COST:.2}"));
    }
    Scored {
        number,
        session: evidence.session,
        score,
        timeliness,
        support: 0.0,
        of_cue,
        repeat_cost: 0.0,
        is_led_away: false,
        reason,
    }
}

/// Notes what the other turns of its session say for a memory; all turns of a session gain the
/// same, so that none of them passes another.
fn support_by_sessions(scored: &mut [Scored]) {
    let mut sessions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for own in scored.iter() {
        sessions.entry(own.session).or_default().push(own.score.max(0.0));
    }
    for scores in sessions.values_mut() {
        scores.sort_by(|a, b| b.total_cmp(a));
    }
    for own in scored {
        let others = sessions.get(&own.session).into_iter().flatten().skip(1);
        own.support = others.zip(SESSION_WEIGHTS).map(|(score, weight)| weight * score).sum();
    }
}

fn add_support(scored: &mut [Scored]) {
    for own in scored.iter_mut().filter(|own| 0.0 < own.support) {
        own.score += own.support;
        own.reason.push_str(&format!(" + session {:.3}", own.support));
    }
}

/// How many deviations a memory's cosine is above the mean of all. What has no vector yet is taken
/// to be as near as its words say, compared with the nearest: what was said a moment ago must not
/// stand below what is only vaguely about it.
fn deviations(evidence: &Evidence, scale: &Scale) -> Option<f64> {
    let above = |cosine: f32| Some(scale.deviations(cosine)?.clamp(DEVIATIONS.0, DEVIATIONS.1));
    match evidence.cosine {
        Some(cosine) => above(cosine),
        None => Some(measured(evidence.bm25, scale) * above(scale.nearest?)?.max(0.0)),
    }
}

fn measured(bm25: f32, scale: &Scale) -> f64 {
    let measure = scale.bm25_best.max(POOR_MATCH * scale.information);
    f64::from(bm25 / measure.max(f32::MIN_POSITIVE))
}

/// Tells whether something was said only after the time of asking.
fn is_later(at_ms: i64, asked: Timestamp) -> bool {
    CLOCK_SKEW_DAYS < days_between(asked.as_millisecond(), at_ms)
}

/// The days from one time to another, both in milliseconds; below zero when it is the earlier one.
#[expect(clippy::cast_precision_loss, reason = "an age in days needs few digits")]
fn days_between(from_ms: i64, to_ms: i64) -> f64 {
    to_ms.saturating_sub(from_ms) as f64 / 86_400_000.0
}

/// Takes the best again and again, each time counting what its session already has.
fn spread_over_sessions(mut scored: Vec<Scored>) -> Vec<Scored> {
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
    let cost = |n_taken: u32| REPEAT_COST * f64::from(n_taken.min(REPEATS_MAX));
    // Each with how often its session was taken, so that nobody has to look it up.
    let mut left: Vec<(Scored, u32)> = scored.into_iter().map(|own| (own, 0)).collect();
    let mut spread = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let mut best = (0, f64::NEG_INFINITY);
        for (place, (candidate, n_taken)) in left.iter().enumerate() {
            let worth = candidate.score - cost(*n_taken);
            if best.1 < worth {
                best = (place, worth);
            }
        }
        let (mut taken, n_taken) = left.remove(best.0);
        taken.repeat_cost = cost(n_taken);
        let of_session = left.iter_mut().filter(|(own, _)| own.session == taken.session);
        of_session.for_each(|(_, n_taken)| *n_taken += 1);
        spread.push(taken);
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;
    const NOW_MS: i64 = 20_000 * DAY_MS;

    fn now() -> Timestamp {
        Timestamp::from_millisecond(NOW_MS).unwrap()
    }

    fn said(age_ms: i64) -> Evidence {
        Evidence { bm25: 1.0, turn_at_ms: NOW_MS - age_ms, ..Evidence::default() }
    }

    /// Scores in the order of the evidence.
    fn scores(cue: &str, evidence: Vec<Evidence>) -> Vec<Scored> {
        let found = Found::of(evidence, None);
        let times = Times::of(&found, now());
        let cue = Cue::understand(cue, now());
        let each = found.evidence.iter();
        each.map(|(number, own)| score(&cue, *number, own, &found.scale, times)).collect()
    }

    #[test]
    fn the_latest_word_counts_most_however_long_ago_it_was() {
        for long_ago in [0, 400 * DAY_MS] {
            let ages = [long_ago + 9 * DAY_MS, long_ago, long_ago + DAY_MS];
            let scores = scores("retry policy", ages.map(said).to_vec());
            assert!(scores[1].score > scores[2].score + 0.01, "{long_ago}");
            assert!(scores[2].score > scores[0].score + 0.01, "{long_ago}");
        }
    }

    #[test]
    fn what_was_just_said_gains_over_the_day_before() {
        let fresh = Times { asked: now(), newest_ms: NOW_MS, share: 1.0 };
        assert!((fresh.recency(NOW_MS) - FRESH_WEIGHT - LATEST_WEIGHT).abs() < 1e-9);
        assert!(fresh.recency(NOW_MS - DAY_MS) < LATEST_WEIGHT);
        assert!(fresh.recency(NOW_MS - 400 * DAY_MS) < 1e-9);
    }

    #[test]
    fn when_a_file_was_taught_says_nothing_about_it() {
        let taught = Evidence { origin: Origin::Taught, ..said(0) };
        let scores = scores("retry policy", vec![taught, said(DAY_MS)]);
        assert!(!scores[0].reason.contains("recency"), "{}", scores[0].reason);
        let expect = LATEST_WEIGHT * 0.5 / RECENCY_FROM;
        assert!(scores[1].timeliness > expect, "{}", scores[1].reason);
    }

    #[test]
    fn later_than_asked_is_no_latest_word() {
        let scores = scores("retry policy", vec![said(-2 * DAY_MS), said(2 * DAY_MS)]);
        assert!(scores[0].reason.contains("said later"), "{}", scores[0].reason);
        let expect = 0.5 + LATEST_WEIGHT * 0.5 / RECENCY_FROM;
        assert!((scores[1].score - expect).abs() < 0.01, "{}", scores[1].reason);
    }

    #[test]
    fn where_all_match_poorly_the_newest_does_not_pass_the_better_match() {
        let poor = |bm25: f32, age_ms: i64| Evidence { bm25, ..said(age_ms) };
        let scores = scores("retry policy", vec![poor(0.5, 400 * DAY_MS), poor(0.2, 0)]);
        assert!(scores[0].score > scores[1].score, "{}", scores[1].reason);
        let good = Found::of(vec![Evidence { bm25: 1.0, scene: 2.0, ..said(0) }], None);
        assert!((Times::of(&good, now()).share - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_project_one_asks_from_is_preferred_a_little() {
        let here = Evidence { is_from_here: true, ..said(0) };
        let better = Evidence { bm25: 1.4, ..said(0) };
        let scores = scores("retry policy", vec![said(0), here, better]);
        assert!((scores[1].score - scores[0].score - PROJECT_WEIGHT).abs() < 1e-9);
        assert!(scores[1].reason.contains("project 0.35"), "{}", scores[1].reason);
    }

    #[test]
    fn of_a_time_and_nothing_else_the_project_goes_first() {
        let here = Evidence { is_from_here: true, bm25: 0.0, ..said(DAY_MS) };
        let summary = Evidence { origin: Origin::Summary, ..here };
        let better = Evidence { bm25: 9.0, scene: 99.0, ..said(DAY_MS) };
        let scores = scores("what happened yesterday", vec![here, better, summary]);
        assert!(scores[0].score > scores[1].score, "{}", scores[0].reason);
        assert!(scores[1].score > scores[2].score, "{}", scores[2].reason);
    }

    #[test]
    fn a_session_that_speaks_of_it_again_gains_as_a_whole() {
        let of = |session: u32, bm25: f32| Evidence { session, bm25, ..said(0) };
        let mut scores = scores(
            "retry policy",
            vec![of(1, 1.0), of(1, 0.5), of(1, 0.3), of(1, 0.1), of(2, 1.0)],
        );
        let before: Vec<f64> = scores.iter().map(|own| own.score).collect();
        support_by_sessions(&mut scores);
        add_support(&mut scores);
        let expect = SESSION_WEIGHTS[0] * before[1] + SESSION_WEIGHTS[1] * before[2];
        for place in 0..4 {
            assert!((scores[place].score - before[place] - expect).abs() < 1e-9, "{place}");
        }
        assert!(scores[0].reason.contains("+ session "), "{}", scores[0].reason);
        assert!((scores[4].score - before[4]).abs() < 1e-9, "alone in its session");
    }
}
