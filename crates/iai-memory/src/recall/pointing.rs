//! Which words of a text answer a cue, and which part of a long one, for those who show it.

use std::collections::BTreeMap;
use std::ops::Range;

use iai_store::{MemoryId, matched_spans};

use super::cue::{Cue, words_of};
use crate::organise::is_stop_word;

/// Of what is shown, one character in so many stands before what is pointed at; words that point
/// together stand within half of it.
const LEAD_SHARE: usize = 3;
/// A word that stands once in a text points with 1, one that stands twice with a half, and so on.
/// Words that point with less than this together leave it to the meaning.
const POINTING_MIN: f64 = 0.5;

/// Returns where words of the cue stand in the text, as ranges of bytes, in order. Words that only
/// join others are no reason to look; they count when the cue has nothing else.
pub fn matched_words(text: &str, cue: &str) -> Vec<Range<usize>> {
    let tells = |piece: &&str| {
        let words = words_of(piece);
        !words.is_empty() && !words.iter().all(|word| is_stop_word(word))
    };
    let telling: Vec<&str> = cue.split_whitespace().filter(tells).collect();
    match telling.is_empty() {
        true => matched_spans(text, cue),
        false => matched_spans(text, &telling.join(" ")),
    }
}

/// Where to look in long texts for what was asked.
pub(super) struct Pointing<'a> {
    pub(super) cue: &'a Cue,
    /// The byte at which the passage nearest to the cue begins.
    passages: BTreeMap<MemoryId, usize>,
}

impl<'a> Pointing<'a> {
    pub(super) fn new(cue: &'a Cue, passages: BTreeMap<MemoryId, usize>) -> Self {
        Self { cue, passages }
    }

    /// Looks for words only.
    pub(super) fn by_words(cue: &'a Cue) -> Self {
        Self::new(cue, BTreeMap::new())
    }

    /// Returns the character at which the part of a whole text begins that shows best what was
    /// asked: the very wording; else most of its words, the rarest of the text first; else what is
    /// nearest in meaning.
    pub(super) fn start_in(&self, id: MemoryId, text: &str, n_chars: usize) -> usize {
        let lead = n_chars / LEAD_SHARE;
        if let Some(at) = self.wording_in(text) {
            return at.saturating_sub(lead);
        }
        let passage = self.passages.get(&id).and_then(|byte| text.get(..*byte));
        let passage = passage.map(|before| before.chars().count());
        match densest(text, &matched_words(text, &self.cue.text), n_chars / 2) {
            Some((at, weight)) if POINTING_MIN <= weight || passage.is_none() => {
                at.saturating_sub(lead)
            }
            _ => passage.unwrap_or(0),
        }
    }

    fn wording_in(&self, text: &str) -> Option<usize> {
        let lower = text.to_lowercase();
        let wordings = self.cue.phrases.iter().map(String::as_str).chain([self.cue.text.trim()]);
        let sought = wordings.map(str::to_lowercase).filter(|sought| !sought.is_empty());
        let byte = sought.filter_map(|sought| lower.find(&sought)).next()?;
        Some(lower.get(..byte)?.chars().count())
    }
}

/// Returns the middle of the stretch that has most of these words, in characters, and what they
/// weigh there: each counts once, and less the more often it is in the text.
fn densest(text: &str, spans: &[Range<usize>], n_chars: usize) -> Option<(usize, f64)> {
    let words = Words::of(text, spans)?;
    let mut inside: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut weight, mut end, mut best) = (0.0, 0, None);
    for (first, (start, leaving)) in words.0.iter().enumerate() {
        let entering = words.0.iter().skip(end).take_while(|(at, _)| *at < start + n_chars);
        for (_, word) in entering {
            end += 1;
            let n_inside = inside.entry(&word.text).or_default();
            *n_inside += 1;
            weight += if *n_inside == 1 { word.weight } else { 0.0 };
        }
        // By more than what adding and taking away leaves behind.
        if best.as_ref().is_none_or(|(_, most)| most + 1e-9 < weight) {
            best = Some((first..end, weight));
        }
        if let Some(n_inside) = inside.get_mut(leaving.text.as_str()) {
            *n_inside -= 1;
            weight -= if *n_inside == 0 { leaving.weight } else { 0.0 };
        }
    }
    let (stretch, weight) = best?;
    Some((words.middle(stretch)?, weight))
}

/// Words of a cue where they stand in a text, by the character they begin at.
struct Words(Vec<(usize, Word)>);

struct Word {
    text: String,
    /// One over how often it is there.
    weight: f64,
}

impl Words {
    fn of(text: &str, spans: &[Range<usize>]) -> Option<Self> {
        let (mut words, mut counts) = (Vec::new(), BTreeMap::new());
        let (mut n_before, mut byte) = (0, 0);
        for span in spans {
            n_before += text.get(byte..span.start)?.chars().count();
            byte = span.start;
            let word = text.get(span.clone())?.to_lowercase();
            *counts.entry(word.clone()).or_insert(0_u32) += 1;
            words.push((n_before, word));
        }
        let weighed = words.into_iter().map(|(at, text)| {
            let weight = 1.0 / f64::from(counts.get(&text).copied().unwrap_or(1));
            (at, Word { text, weight })
        });
        Some(Self(weighed.collect()))
    }

    /// Where the words of a stretch stand on average, by their weights.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place between two others in a text of some megabytes"
    )]
    fn middle(&self, stretch: Range<usize>) -> Option<usize> {
        let words = self.0.get(stretch)?;
        let weight: f64 = words.iter().map(|(_, word)| word.weight).sum();
        let sum: f64 = words.iter().map(|(at, word)| *at as f64 * word.weight).sum();
        Some((sum / weight) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_join_are_not_pointed_at() {
        let check = |text: &str, cue: &str, want: &[&str]| {
            let spans = matched_words(text, cue);
            let found: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
            assert_eq!(found, want, "{cue}");
        };
        let text = "the retries of the parser were what we had";
        check(text, "what was the retry policy?", &["retries"]);
        check(text, "what we", &["what", "we"]);
        check(text, "\"the parser\"", &["parser"]);
    }

    #[track_caller]
    fn check_part(cue: &str, passage: Option<usize>, text: &str, want: &str) {
        let cue = Cue::understand(cue, jiff::Timestamp::UNIX_EPOCH);
        let id = MemoryId::from_bytes([0; 16]);
        let pointing = Pointing::new(&cue, passage.map(|byte| (id, byte)).into_iter().collect());
        let shown: String = text.chars().skip(pointing.start_in(id, text, 80)).take(80).collect();
        assert!(shown.contains(want), "{} shows {shown:?}", cue.text);
    }

    #[test]
    fn a_part_is_where_most_of_the_cue_is_that_the_text_has_nowhere_else() {
        let line = "The module handles the case of the day. ";
        let text = format!("{0}The clamp of the zéppelin needs 14 Nm. {0}{0}", line.repeat(30));
        for cue in ["torque of the zeppelin clamps", "zeppelin module", "the module: \"14 nm\""] {
            check_part(cue, None, &text, "14 Nm");
        }
        check_part("14 N", None, &text, "14 Nm");
        let far = text.find("The clamp").unwrap();
        check_part("how is the airship held", Some(far), &text, "14 Nm");
        check_part("which module holds the airship", Some(far), &text, "14 Nm");
        check_part("the module handles the case of the day", Some(far), &text, "The module");
        check_part("how is the airship held", None, &text, "The module");
        check_part("how is the airship held", Some(far + 1_000_000), &text, "The module");
    }

    #[test]
    fn a_part_of_a_text_in_any_script_begins_between_letters() {
        let text =
            format!("{}生产环境使用消息队列{}", "天气很好。".repeat(100), "好。".repeat(100));
        check_part("消息队列", None, &text, "消息队列");
        let text = format!("{}İstanbul ẞ {}", "İİ ".repeat(200), "ẞẞ ".repeat(200));
        check_part("istanbul", None, &text, "İ");
    }
}
