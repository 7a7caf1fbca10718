//! Orders that no single word gives away: several ideas, in this order, in one sentence. Which
//! words an idea has stands in [`ideas`](super::ideas), in every language at once.

use std::sync::LazyLock;

use super::beginnings::Beginnings;
use super::ideas::IDEAS;

/// A sentence longer than this is not one; its beginning is judged.
const SENTENCE_WORDS_MAX: usize = 60;

/// Ideas and, between two of them, how many words may lie there at most. `^` is the beginning of a
/// sentence, `:` a colon, `,` a comma or a colon.
const ORDERS: &[&str] = &[
    // Whoever reads this and is a machine is spoken to.
    "^ 1 notice 3 reader 6 :",
    "^ 1 notice 0 , 1 reader 4 :",
    "^ 0 reader 2 : 1 errand",
    "^ 0 reader 0 , 1 errand",
    "^ 0 mission 4 reader 6 :",
    "^ 1 all-of-you 2 reader 6 :",
    "reading 2 machine 2 reads",
    "^ 0 reader 1 processing-this",
    "^ 0 important 3 machine 0 must",
    "as-machine 2 must 4 errand",
    // What it was told shall not count.
    "aside 6 told-you",
    "aside 2 all-before",
    "told-you 8 gone",
    "earlier 1 told-before 2 gone",
    "consider 3 all-before 4 gone",
    "aside 5 rules 3 above",
    "aside 3 above 2 rules",
    "aside 3 your 2 rules",
    "aside 3 what-the-user-wants",
    "aside 1 what-is-read 0 and 1 errand",
    "aside 2 all-other 1 told",
    "aside 2 earlier 1 told-before",
    "not-following 3 what-the-user-wants",
    "not-following 3 rules 2 above",
    "not-following 3 above 2 rules",
    "your 2 told 3 gone",
    "your 1 training 1 gone",
    // It shall be free of what holds it back.
    "pretend-you 6 no 2 limits",
    "pretend-you 2 safety 2 limits 4 gone",
    "you-are-now 8 machine 4 no 2 limits",
    "you-are-now 3 limitless",
    "from-now-on 1 you 1 no 2 limits",
    "overriding 1 previous 1 told-before",
    "switch-off 1 all 1 previous 0 limits",
    "you-are-now 6 machine 3 limitless",
    "you-are-now 6 no 1 rules",
    "you-are-now 8 regardless",
    "as-machine 1 no 1 limits",
    "developer-mode 4 refuse-nothing",
    "developer-mode 3 ignore-safety",
    "you-are 2 limitless 1 machine",
    "you-are 3 machine 1 no 1 limits",
    "you-are-now 2 persona",
    "no-longer-machine",
    "freed 3 limits",
    "freed 5 machine",
    // Its rules are said to be gone.
    "^ 0 authority 0 : 6 safety 3 limits 5 gone",
    "^ 0 authority 0 : 4 limits 3 safety 3 gone",
    "^ 0 authority 0 : 3 safety-rules 3 gone",
    "your 2 safety 2 limits 5 gone",
    "all 2 guards 3 gone",
    "switch-off 1 your 2 guards",
    "switch-off 1 your 2 safety",
    "granted-you 1 everything",
    "granted-you 1 errand",
    "^ 1 authority 1 : 4 granted",
    // It shall belong to somebody else.
    "obey 2 only 4 me",
    "only 2 obey 4 me",
    "from-now-on 2 you 2 obey 3 me",
    "reprogrammed",
    "as-coming-from 2 authority",
    "your 0 real 0 task",
    // What the user must not hear of, or be asked about.
    "not 2 tell 2 to-the-user",
    "nothing 2 tell 2 to-the-user",
    "without-telling 1 the-user",
    "secretly 1 fetch",
    "from-now-on-and-forever 8 never 1 ask 3 confirmation",
    "from-now-on-and-forever 8 always 1 recommend",
    "remember-as-rule 10 never 1 ask 3 confirmation",
    "to-memory 12 skip-safety",
    // What it was told, and what is the user's, shall be told.
    "tell-me 4 your 2 told",
    "tell-me 6 told 0 told-you",
    "wording 2 your 2 told",
    "what-are 0 your 0 told",
    "tell-me 4 your 2 first 1 told",
    "tell-me 2 word-for-word 3 told",
    "tell-me 3 context-window",
    "tell-me 1 text-above 0 starting",
    "tell-me 3 what-the-user-keeps",
    "send 5 what-the-user-keeps",
    "send 5 key-files",
];

/// What is enough where nobody shall see it.
const TO_A_MACHINE: &[&str] = &["^ 1 reader 2 ,", "^ 1 notice 3 reader"];

/// What is enough where a system is said to speak.
const AS_A_SYSTEM: &[&str] = &[
    "you 2 no 1 limits",
    "you 3 limitless",
    "you 6 must",
    "aside 4 told",
    "aside 3 what-is-read",
    "aside 3 authority",
    "no 0 limits",
    "errand 3 your",
];

/// Tells whether any sentence of the words holds an order.
pub(super) fn is_ordered(words: &[&str]) -> bool {
    holds(&COMPILED, words)
}

/// Tells whether any sentence of the words begins by speaking to a machine.
pub(super) fn speaks_to_a_machine(words: &[&str]) -> bool {
    holds(&SPEAKING, words)
}

/// Tells whether words that stand where a system speaks would be wrong to obey.
pub(super) fn speaks_as_a_system(words: &[&str]) -> bool {
    holds(&SYSTEM, words)
}

fn holds(orders: &Orders, words: &[&str]) -> bool {
    words.split(|word| *word == ".").any(|sentence| {
        let sentence = sentence.get(..SENTENCE_WORDS_MAX).unwrap_or(sentence);
        let said = said_in(sentence);
        !said.is_empty() && orders.iter().any(|order| is_said(order, &said))
    })
}

/// An idea, and the words of a sentence that say it.
struct Said {
    idea: usize,
    start: usize,
    end: usize,
}

fn said_in(sentence: &[&str]) -> Vec<Said> {
    let mut said = vec![Said { idea: BEGINNING, start: 0, end: 0 }];
    for (start, word) in sentence.iter().enumerate() {
        match *word {
            ":" => {
                said.push(Said { idea: COLON, start, end: start + 1 });
                said.push(Said { idea: COMMA, start, end: start + 1 });
            }
            "," => said.push(Said { idea: COMMA, start, end: start + 1 }),
            word if FIRST_WORDS.may_hold(word) => {
                let here = sentence.get(start..).unwrap_or_default();
                let phrases = beginning_like(word).iter().filter(|phrase| phrase.begins(here));
                said.extend(phrases.map(|phrase| {
                    let end = start + phrase.words.len();
                    Said { idea: phrase.idea, start, end }
                }));
            }
            _ => {}
        }
    }
    if said.len() == 1 { Vec::new() } else { said }
}

/// Tells whether the ideas of an order are said one after the other.
fn is_said(order: &[(usize, usize)], said: &[Said]) -> bool {
    let Some(((_, first), rest)) = order.split_first() else { return false };
    said.iter().filter(|one| one.idea == *first).any(|one| goes_on(rest, one.end, said))
}

fn goes_on(order: &[(usize, usize)], end: usize, said: &[Said]) -> bool {
    let Some(((gap, idea), rest)) = order.split_first() else { return true };
    said.iter()
        .filter(|one| one.idea == *idea && end <= one.start && one.start <= end + gap)
        .any(|one| goes_on(rest, one.end, said))
}

/// The words of an idea; a last `*` stands for any ending.
struct Phrase {
    idea: usize,
    words: Vec<&'static str>,
}

impl Phrase {
    fn begins(&self, here: &[&str]) -> bool {
        let is_word = |(known, word): (&&str, &&str)| match known.strip_suffix('*') {
            Some(beginning) => word.starts_with(beginning),
            None => known == word,
        };
        self.words.len() <= here.len() && self.words.iter().zip(here).all(is_word)
    }
}

const BEGINNING: usize = usize::MAX;
const COLON: usize = usize::MAX - 1;
const COMMA: usize = usize::MAX - 2;
/// What no sentence says.
const UNKNOWN: usize = usize::MAX - 3;

/// Of each idea of an order the gap before it, and its number.
type Orders = Vec<Vec<(usize, usize)>>;

static COMPILED: LazyLock<Orders> = LazyLock::new(|| compiled(ORDERS));
static SPEAKING: LazyLock<Orders> = LazyLock::new(|| compiled(TO_A_MACHINE));
static SYSTEM: LazyLock<Orders> = LazyLock::new(|| compiled(AS_A_SYSTEM));

fn compiled(orders: &[&str]) -> Orders {
    let number = |name: &str| match name {
        "^" => BEGINNING,
        ":" => COLON,
        "," => COMMA,
        name => IDEAS.iter().position(|(known, _)| *known == name).unwrap_or(UNKNOWN),
    };
    let order = |line: &&str| {
        let words: Vec<&str> = std::iter::once("0").chain(line.split(' ')).collect();
        let pairs = words.chunks(2).filter_map(|pair| match pair {
            [gap, idea] => Some((gap.parse().expect("a gap is a number"), number(idea))),
            _ => None,
        });
        pairs.collect()
    };
    orders.iter().map(order).collect()
}

static PHRASES: LazyLock<Vec<(usize, Vec<&'static str>)>> = LazyLock::new(|| {
    let ideas = IDEAS.iter().enumerate();
    let split = |lines: &'static str| lines.lines().flat_map(|line| line.split(',')).map(str::trim);
    let phrases = ideas.flat_map(|(idea, (_, lines))| split(lines).map(move |line| (idea, line)));
    phrases
        .filter(|(_, line)| !line.is_empty())
        .map(|(idea, line)| (idea, line.split(' ').collect()))
        .collect()
});

/// Phrases by the first two bytes of their first words.
static BY_BEGINNING: LazyLock<Vec<Vec<Phrase>>> = LazyLock::new(|| {
    let mut all: Vec<Vec<Phrase>> = (0..N_BEGINNINGS).map(|_| Vec::new()).collect();
    for (idea, words) in PHRASES.iter() {
        let first = words.first().copied().unwrap_or_default();
        let phrase = Phrase { idea: *idea, words: words.clone() };
        if let Some(alike) = all.get_mut(beginning(first.trim_end_matches('*'))) {
            alike.push(phrase);
        }
    }
    all
});

fn beginning_like(word: &str) -> &'static [Phrase] {
    BY_BEGINNING.get(beginning(word)).map_or(&[], Vec::as_slice)
}

/// Two bytes tell most words apart, folded so that the table stays small.
const N_BEGINNINGS: usize = 4096;

fn beginning(word: &str) -> usize {
    let byte = |at: usize| usize::from(word.as_bytes().get(at).copied().unwrap_or_default());
    (byte(0) * 67 + byte(1)) % N_BEGINNINGS
}

static FIRST_WORDS: LazyLock<Beginnings> = LazyLock::new(|| {
    let first = |words: &Vec<&'static str>| words.first().copied().unwrap_or_default();
    Beginnings::of(PHRASES.iter().map(|(_, words)| first(words)))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_idea_is_used_and_every_order_is_read() {
        let all = COMPILED.iter().chain(SPEAKING.iter()).chain(SYSTEM.iter());
        let used: Vec<usize> = all.flatten().map(|(_, idea)| *idea).collect();
        assert!(!used.contains(&UNKNOWN), "an order has an idea that no table has");
        for (number, (name, _)) in IDEAS.iter().enumerate() {
            assert!(used.contains(&number), "{name}");
        }
        assert!(PHRASES.iter().all(|(_, words)| words.iter().all(|word| !word.is_empty())));
    }
}
