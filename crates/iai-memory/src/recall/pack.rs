//! Fits the answer into its budget, counted over everything that is sent: JSON and text block.

use std::ops::Range;

use iai_store::MemoryId;

use super::cue::Cue;
use super::knobs::Showing;
use super::pointing::Pointing;
use super::rank::Ranked;
use super::{
    ANTI_HITS_MAX, Excerpt, HITS_MAX, HITS_WANTED_MAX, Hint, Hit, RecallAnswer, whole_hit,
};

const CHARS_PER_TOKEN: usize = 4;
/// What the text block adds around a hit's words.
const LINE_CHARS: usize = 80;
/// The empty answer and the protocol around it; not charged to the asker.
const ENVELOPE_CHARS: usize = 400;
/// What of the envelope is the protocol's and the text block's own.
const WRAPPING_CHARS: usize = 200;
/// What a hit costs that says nothing: its fields, its line, its id.
const HIT_CHARS_MIN: usize = 300;
/// Less than this of a text tells nothing.
const EXCERPT_CHARS_MIN: usize = 40;
/// A part begins and ends with a whole word, where that is shorter than this.
const WORD_CHARS_MAX: usize = 24;
/// Where it begins and ends, in JSON.
const EXCERPT_FIELD_CHARS: usize = 80;
const TRACE_MAX: usize = 10;
/// The digits of `budget_used` itself, which is not known while the answer is measured.
const DIGITS_MAX: usize = 6;

/// A room as large as this has some for what stands beside the hits: one in so many characters.
const AMPLE_CHARS: usize = 4000;
const BESIDE_SHARE: usize = 8;

/// Hits that get suggestions where no scene is wanted.
pub(crate) const SUGGESTED_HITS: usize = 5;

/// Builds the answer that holds nothing and says why.
pub(crate) fn nothing(cue: &Cue, hint: Hint) -> RecallAnswer {
    finish(empty(cue, vec![hint]))
}

/// The space an answer has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    n_chars: usize,
    n_hits_max: usize,
    /// The asker wants a number of hits: each gets the same share, none is passed over, and where
    /// there is not room for all, the last are left out.
    is_shared: bool,
    showing: Showing,
}

impl Room {
    /// Room for as many whole hits as the budget allows, or for a number of hits that share it.
    pub(crate) fn new(budget_tokens: u64, n_hits_wanted: Option<usize>, showing: Showing) -> Self {
        let n_tokens = usize::try_from(budget_tokens).unwrap_or(usize::MAX);
        Self {
            n_chars: n_tokens.saturating_mul(CHARS_PER_TOKEN).saturating_add(ENVELOPE_CHARS),
            n_hits_max: n_hits_wanted.map_or(HITS_MAX, |n_hits| n_hits.clamp(1, HITS_WANTED_MAX)),
            is_shared: n_hits_wanted.is_some(),
            showing,
        }
    }

    /// Tells whether an answer is larger than it may be.
    pub(crate) fn is_exceeded_by(&self, answer: &RecallAnswer) -> bool {
        self.is_exceeded_by_size(size(answer))
    }

    /// Tells whether an answer of this [`size`] is larger than it may be.
    pub(crate) fn is_exceeded_by_size(&self, n_chars: usize) -> bool {
        self.n_chars < WRAPPING_CHARS + DIGITS_MAX + n_chars
    }

    /// What of an ample room hits leave to what stands beside them: the turns around the best tell
    /// more than one hit more at the end.
    fn beside(&self) -> usize {
        match self.is_shared || self.n_chars < AMPLE_CHARS {
            true => 0,
            false => self.n_chars / BESIDE_SHARE,
        }
    }

    /// The most hits there can be room for; reading more would be for nothing.
    pub(crate) fn n_hits_max(&self) -> usize {
        if self.is_shared {
            return self.n_hits_max;
        }
        self.n_hits_max.min(self.n_chars / HIT_CHARS_MIN + 1)
    }

    /// What the next of `n_hits_left` hits may cost when `left` is still free, and whether a longer
    /// one is shown in part.
    fn share(&self, left: usize, n_hits_left: usize, is_first: bool) -> (usize, bool) {
        match self.is_shared {
            true => (left / n_hits_left.max(1), true),
            false => (left, is_first),
        }
    }
}

/// Takes hits in order while they fit, and keeps room for what each of them replaced. One that does
/// not fit is passed over, but the first is cut to size, and so is everyone when a number of hits
/// was asked for.
pub(crate) fn pack(
    pointing: &Pointing<'_>,
    ranked: Vec<Ranked>,
    anti_hits: Vec<Hit>,
    room: Room,
    hints: Vec<Hint>,
) -> RecallAnswer {
    let cue = pointing.cue;
    // Where there is hardly room for a hit, there is none for what could be said about it.
    let hints = if n_chars(&hints) * 6 <= room.n_chars { hints } else { Vec::new() };
    let mut answer = empty(cue, hints);
    let mut left = room.n_chars.saturating_sub(WRAPPING_CHARS + n_chars(&answer) + room.beside());
    let n_hits_max = room.n_hits_max.min(ranked.len());
    let mut kept = Kept::default();
    let mut n_passed_over = 0;
    for ranked in ranked {
        if answer.hits.len() == n_hits_max {
            break;
        }
        left += kept.give_back(ranked.memory.id);
        let n_taken = answer.hits.len() + n_passed_over;
        let (share, may_be_cut) =
            room.share(left, n_hits_max.saturating_sub(n_taken), answer.hits.is_empty());
        if !may_be_cut && share < room.showing.least_of(&ranked.memory.text) {
            n_passed_over += 1;
            continue;
        }
        let hit = whole_hit(&ranked.memory, ranked.score, ranked.reason, cue.asked_at);
        let hit = shown_as(hit, pointing, room.showing);
        let n_chars = cost(&hit);
        // A share too small for anything takes from those behind it.
        let share =
            if room.is_shared { share.max(n_chars.min(least(&hit))).min(left) } else { share };
        let fitted = if n_chars <= share {
            Some((hit, n_chars))
        } else if may_be_cut {
            cut_to_fit(hit, pointing, share)
        } else {
            None
        };
        match fitted {
            Some((hit, n_chars)) => {
                left -= n_chars;
                answer.hits.push(hit);
                left -= kept.keep_for_last(&answer, &anti_hits, pointing, left);
            }
            // What is worse must not stand where what is better had no room.
            None if room.is_shared => {
                n_passed_over = n_hits_max - answer.hits.len();
                break;
            }
            None => n_passed_over += 1,
        }
    }
    answer.anti_hits.extend(kept.0.into_iter().map(|(hit, _)| hit));
    add_anti_hits(&mut answer, anti_hits, &mut left);
    keep_hints_about_hits(&mut answer);
    answer.activation_trace =
        answer.hits.iter().take(TRACE_MAX.min(left / 40)).map(|hit| hit.record_id).collect();
    if answer.hits.is_empty() && 0 < n_passed_over {
        answer.hints.push(Hint {
            kind: "budget_too_small",
            severity: "info",
            source_ids: Vec::new(),
            text: format!("{n_passed_over} found; ask with a larger budget_tokens"),
        });
    }
    finish(answer)
}

/// What replaced another leaves at least as much room again to other hits.
const OTHERS_SHARE: usize = 2;

/// Room kept for what the hits replaced or what disputes them, until it is a hit itself.
#[derive(Default)]
struct Kept(Vec<(Hit, usize)>);

impl Kept {
    /// Keeps room for what the last hit replaced, in short where that is long; returns how much.
    fn keep_for_last(
        &mut self,
        answer: &RecallAnswer,
        anti_hits: &[Hit],
        pointing: &Pointing<'_>,
        left: usize,
    ) -> usize {
        let Some(taken) = answer.hits.last().map(|hit| hit.record_id) else { return 0 };
        let mut n_kept = 0;
        for hit in anti_hits.iter().filter(|hit| hit.partner_id == Some(taken)) {
            let mut told = answer.hits.iter().chain(self.0.iter().map(|(hit, _)| hit));
            if told.any(|told| told.record_id == hit.record_id) || self.0.len() == ANTI_HITS_MAX {
                continue;
            }
            let share = (left - n_kept) / OTHERS_SHARE;
            let n_chars = cost(hit);
            let fitted = match n_chars <= share {
                true => Some((hit.clone(), n_chars)),
                false => cut_to_fit(hit.clone(), pointing, share),
            };
            n_kept += fitted.as_ref().map_or(0, |(_, n_chars)| *n_chars);
            self.0.extend(fitted);
        }
        n_kept
    }

    /// Gives back the room kept for what is about to be a hit; returns how much.
    fn give_back(&mut self, id: MemoryId) -> usize {
        let place = self.0.iter().position(|(hit, _)| hit.record_id == id);
        place.map_or(0, |place| self.0.remove(place).1)
    }
}

/// What a relation and its partner's id take.
const RELATION_CHARS: usize = 100;

/// Tells what is outdated or disputed about the hits; what is among them already is marked there.
fn add_anti_hits(answer: &mut RecallAnswer, anti_hits: Vec<Hit>, left: &mut usize) {
    for hit in anti_hits {
        let place = |id: MemoryId| answer.hits.iter().position(|hit| hit.record_id == id);
        let is_told = answer.anti_hits.iter().any(|told| told.record_id == hit.record_id);
        if is_told || hit.partner_id.and_then(place).is_none() {
            continue;
        }
        if let Some(place) = place(hit.record_id) {
            let shown = answer.hits.get_mut(place).filter(|shown| shown.relation.is_none());
            if let (Some(shown), Some(rest)) = (shown, left.checked_sub(RELATION_CHARS)) {
                (shown.relation, shown.partner_id) = (hit.relation, hit.partner_id);
                *left = rest;
            }
            continue;
        }
        let n_chars = cost(&hit);
        if answer.anti_hits.len() < ANTI_HITS_MAX && n_chars <= *left {
            *left -= n_chars;
            answer.anti_hits.push(hit);
        }
    }
}

/// Leaves out what could be said about memories that are not shown.
fn keep_hints_about_hits(answer: &mut RecallAnswer) {
    let shown: Vec<MemoryId> = answer.hits.iter().map(|hit| hit.record_id).collect();
    answer.hints.retain(|hint| {
        hint.source_ids.is_empty() || hint.source_ids.iter().any(|id| shown.contains(id))
    });
}

impl Showing {
    /// What a hit with this text costs at the least: its words stand twice in what is sent. Most of
    /// what is found has no room, and need not be made ready to find that out.
    fn least_of(self, text: &str) -> usize {
        let n_all = text.chars().count();
        let n_shown = match self {
            Self::Whole => n_all,
            Self::Excerpt(n_chars) | Self::Gist(n_chars) => n_all.min(n_chars),
        };
        2 * n_shown + LINE_CHARS
    }
}

/// Shows as much of a text as the user likes to read.
fn shown_as(hit: Hit, pointing: &Pointing<'_>, showing: Showing) -> Hit {
    match showing {
        Showing::Whole => hit,
        Showing::Excerpt(n_chars) | Showing::Gist(n_chars) => excerpt(hit, pointing, n_chars),
    }
}

/// What a hit takes at the least. Where more hits are asked for than there is room for, the best of
/// them get this much and the rest nothing; equal shares would be too small for any.
pub(super) fn least(hit: &Hit) -> usize {
    let n_fields = cost(hit).saturating_sub(2 * n_chars(&hit.literal_surface));
    n_fields + EXCERPT_FIELD_CHARS + 4 * EXCERPT_CHARS_MIN
}

/// Shows the part of a long text that fits, and says what it costs.
pub(super) fn cut_to_fit(
    mut hit: Hit,
    pointing: &Pointing<'_>,
    left: usize,
) -> Option<(Hit, usize)> {
    let text = std::mem::take(&mut hit.literal_surface);
    let total = text.chars().count();
    let was = hit.excerpt.replace(Excerpt { start: total, end: total, total });
    // The words stand twice in what is sent, and JSON may escape them: two characters for one is
    // the usual worst.
    let room = left.checked_sub(cost(&hit))? / 4;
    if room < EXCERPT_CHARS_MIN {
        return None;
    }
    hit.literal_surface = text;
    hit.excerpt = was;
    let hit = excerpt(hit, pointing, room);
    let n_chars = cost(&hit);
    (n_chars <= left).then_some((hit, n_chars))
}

/// Shows at most so many characters, where most of what was asked is. What is already a part stays
/// one of the whole.
fn excerpt(mut hit: Hit, pointing: &Pointing<'_>, n_chars: usize) -> Hit {
    let text = std::mem::take(&mut hit.literal_surface);
    let n_all = text.chars().count();
    if n_all <= n_chars {
        hit.literal_surface = text;
        return hit;
    }
    let start = pointing.start_in(hit.record_id, &text, n_chars).min(n_all - n_chars);
    let shown = whole_words(&text, start, n_chars);
    let n_skipped = text.get(..shown.start).unwrap_or_default().chars().count();
    hit.literal_surface = text.get(shown).unwrap_or_default().to_owned();
    let n_shown = hit.literal_surface.chars().count();
    let (before, total) = hit.excerpt.map_or((0, n_all), |part| (part.start, part.total));
    let start = before + n_skipped;
    hit.excerpt = Some(Excerpt { start, end: start + n_shown, total });
    hit
}

/// Returns the bytes of so many characters of a text, less what is there of a word at either end.
fn whole_words(text: &str, start: usize, n_chars: usize) -> Range<usize> {
    let byte_of = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    let (mut first, mut last) = (byte_of(start), byte_of(start + n_chars));
    let shown = text.get(first..last).unwrap_or_default();
    let mut blanks = shown.char_indices().filter(|(_, letter)| letter.is_whitespace());
    let is_near = |piece: &str| piece.chars().count() < WORD_CHARS_MAX;
    let front = blanks.next().and_then(|(at, _)| shown.get(..at)).filter(|word| is_near(word));
    let back = blanks.next_back().and_then(|(at, _)| shown.get(at..)).filter(|word| is_near(word));
    if 0 < start
        && let Some(word) = front
    {
        first += word.len();
    }
    if last < text.len()
        && let Some(word) = back
    {
        last -= word.len();
    }
    first..last
}

/// What a hit adds to the answer: its JSON, its line in the text block, its id in the trace.
pub(super) fn cost(hit: &Hit) -> usize {
    n_chars(hit) + n_chars(&hit.literal_surface) + LINE_CHARS
}

/// The characters of a value as JSON, counted without writing them down.
pub(super) fn n_chars(value: &impl serde::Serialize) -> usize {
    let mut count = CharCount(0);
    serde_json::to_writer(&mut count, value).map_or(0, |()| count.0)
}

/// Counts the characters that are written to it.
struct CharCount(usize);

impl std::io::Write for CharCount {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Of a character of several bytes, all but the first begin with the bits 10.
        self.0 += bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn empty(cue: &Cue, hints: Vec<Hint>) -> RecallAnswer {
    RecallAnswer {
        hits: Vec::new(),
        anti_hits: Vec::new(),
        activation_trace: Vec::new(),
        budget_used: 0,
        hints,
        cue_mode: cue.mode,
        patterns_observed: Vec::new(),
        overnight_digest: None,
        resume: None,
        timing_us: None,
    }
}

/// Says what the whole answer costs.
pub(crate) fn finish(mut answer: RecallAnswer) -> RecallAnswer {
    let n_chars = size(&answer) + DIGITS_MAX;
    answer.budget_used = n_chars.div_ceil(CHARS_PER_TOKEN) as u64;
    answer
}

/// What an answer takes, as JSON and as text.
pub(crate) fn size(answer: &RecallAnswer) -> usize {
    let hits = answer.hits.iter().chain(&answer.anti_hits);
    let lines: usize = hits.map(|hit| n_chars(&hit.literal_surface) + LINE_CHARS).sum();
    let resume = answer.resume.as_ref().map_or(0, |text| n_chars(text) + LINE_CHARS);
    n_chars(answer) + lines + resume
}
