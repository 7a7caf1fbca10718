//! A made-up history of any size, the same every time: words as rare as in real text, sessions with
//! a topic each.

use iai_wire::SpoolEvent;

use super::chance::Chance;

const SEED: u64 = 4711;
/// Words there are. The rank of a drawn word falls like one over itself, as in any language.
const N_WORDS: f64 = 50_000.0;
const N_TOPICS: usize = 64;
const WORDS_PER_TOPIC: usize = 12;
const TURNS_PER_SESSION: usize = 20;
/// Words of a turn, on average: half of this at least, one and a half times it at most.
const WORDS_PER_TURN: usize = 60;
/// One word in so many is about the session's topic.
const TOPIC_EVERY: usize = 8;
/// When the first turn was said, and how much later each next one.
const FIRST_SECOND: i64 = 1_700_000_000;
const SECONDS_PER_TURN: i64 = 30;
const SYLLABLES: [&str; 16] = [
    "ba", "ne", "ki", "lo", "mu", "ra", "te", "vi", "so", "du", "fa", "ge", "hi", "jo", "pu", "za",
];

/// The commonest words, commonest first: those that real questions are full of.
const COMMONEST: [&str; 40] = [
    "the", "to", "and", "a", "of", "in", "we", "it", "is", "that", "for", "you", "what", "on",
    "with", "did", "this", "not", "be", "are", "about", "have", "was", "how", "from", "or", "can",
    "do", "if", "say", "so", "when", "which", "there", "should", "would", "then", "why", "use",
    "new",
];
/// Words of a question that tells nothing.
const WORDS_PER_COMMON_CUE: usize = 8;

/// One made-up turn.
pub(super) struct MadeUp {
    pub(super) session: String,
    pub(super) event: SpoolEvent,
}

/// Returns turn number `n`; every turn can be made without the others.
pub(super) fn turn(n: usize) -> MadeUp {
    let session = n / TURNS_PER_SESSION;
    let mut chance = Chance::new(SEED ^ ((n as u64) << 20));
    let n_words = WORDS_PER_TURN / 2 + chance.below(WORDS_PER_TURN + 1);
    let words: Vec<String> = (0..n_words).map(|_| word(&mut chance, session)).collect();
    let n_seconds = i64::try_from(n).unwrap_or(0).saturating_mul(SECONDS_PER_TURN);
    let at = jiff::Timestamp::from_second(FIRST_SECOND.saturating_add(n_seconds)).ok();
    let at = at.map(|at| at.to_string());
    let event = SpoolEvent {
        text: words.join(" "),
        tier: "episodic".to_owned(),
        role: if n.is_multiple_of(2) { "user" } else { "assistant" }.to_owned(),
        ts: at.clone().unwrap_or_default(),
        turn_ts: at,
        source: Some("bench".to_owned()),
        uuid: Some(format!("made-up-{n}")),
        ..SpoolEvent::default()
    };
    MadeUp { session: format!("made-up-{session}"), event }
}

/// Returns question number `n` about the first `n_turns`: six words of one of them in a sentence,
/// as somebody asks who remembers what it was about.
pub(super) fn cue(n: usize, n_turns: usize) -> String {
    let mut chance = Chance::new(!SEED ^ n as u64);
    let about = turn(chance.below(n_turns)).event.text;
    let words: Vec<&str> = about.split(' ').collect();
    let picked = (0..6).filter_map(|_| words.get(chance.below(words.len())).copied());
    format!("what did we say about {}", picked.collect::<Vec<_>>().join(" "))
}

/// Returns question number `n` of those made of nothing but the commonest words.
pub(super) fn common_cue(n: usize) -> String {
    let mut chance = Chance::new(!SEED ^ ((n as u64) << 32));
    let picked = (0..WORDS_PER_COMMON_CUE).map(|_| chance.below(COMMONEST.len()));
    picked.filter_map(|rank| COMMONEST.get(rank).copied()).collect::<Vec<_>>().join(" ")
}

/// Returns the number of a session's first turn.
pub(super) fn first_of_session(session: usize) -> usize {
    session * TURNS_PER_SESSION
}

fn word(chance: &mut Chance, session: usize) -> String {
    if chance.below(TOPIC_EVERY) == 0 {
        let topic = session % N_TOPICS;
        return format!("topic{}", spell(topic * WORDS_PER_TOPIC + chance.below(WORDS_PER_TOPIC)));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of words"
    )]
    let rank = N_WORDS.powf(chance.unit()) as usize - 1;
    COMMONEST.get(rank).map_or_else(|| spell(rank), |word| (*word).to_owned())
}

/// Writes a number in syllables; two numbers never look alike.
fn spell(mut number: usize) -> String {
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES.get(number % SYLLABLES.len()).copied().unwrap_or_default());
        number /= SYLLABLES.len();
        if number == 0 {
            return word;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_turn_is_the_same_every_time_and_unlike_its_neighbours() {
        assert_eq!(turn(7).event, turn(7).event);
        assert_ne!(turn(7).event.text, turn(8).event.text);
        assert_eq!(turn(19).session, turn(0).session);
        assert_ne!(turn(20).session, turn(19).session);
    }

    #[test]
    fn words_are_as_rare_as_in_real_text() {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut n_words = 0;
        for n in 0..500 {
            for word in turn(n).event.text.split(' ') {
                *counts.entry(word.to_owned()).or_default() += 1;
                n_words += 1;
            }
        }
        assert!((55..65).contains(&(n_words / 500)), "{n_words}");
        let commonest = counts.values().max().copied().unwrap_or_default();
        let n_once = counts.values().filter(|n| **n == 1).count();
        assert!(n_words / 30 < commonest && commonest < n_words / 10, "{commonest} of {n_words}");
        assert!(counts.len() / 4 < n_once, "{n_once} of {}", counts.len());
    }

    #[test]
    fn a_cue_has_words_of_a_turn() {
        assert_eq!(cue(3, 100), cue(3, 100));
        assert!(cue(3, 100).split(' ').count() == 11, "{}", cue(3, 100));
        assert_eq!(common_cue(3), common_cue(3));
        assert_ne!(common_cue(3), common_cue(4));
        assert_eq!(turn(first_of_session(1)).session, turn(20).session);
    }
}
