//! Orders that no single word gives away: several ideas, in this order, in one sentence. Which
//! words an idea has stands in [`ideas`](super::ideas), in every language at once.

use std::sync::LazyLock;

use super::beginnings::Beginnings;
use super::{ideas, pretexts, unasked};

/// A sentence longer than this is not one; its beginning is judged.
const SENTENCE_WORDS_MAX: usize = 60;
/// Who or what is quoted is named in at most so many words and signs.
const LABEL_WORDS_MAX: usize = 5;

/// Ideas and, between two of them, how many words may lie there at most; `!2 idea` is one that does
/// not follow within so many. `^` is the beginning of a sentence and `$` its end, `~` the beginning
/// or the place behind a label (`Alice: …`, `README.md:12: …`), `:` a colon, `,` a comma or colon.
const ORDERS: &[&str] = &[
    // Whoever reads this and is a machine is spoken to.
    "~ 1 notice 3 reader 6 :",
    "~ 1 notice 0 , 1 reader 4 :",
    "~ 0 reader 2 : 1 errand",
    "^ 0 reader 0 , 1 errand",
    "~ 0 mission 4 reader 6 :",
    "~ 1 all-of-you 2 reader 6 :",
    "reading 2 machine 2 reads",
    "~ 0 reader 1 processing-this",
    "~ 0 important 3 machine 0 must",
    "as-machine 2 must 4 errand",
    "as-machine 1 harm 8 without-asking",
    "harm 3 as-machine 6 without-asking",
    "as-machine-reading 4 must",
    "helper 1 when-you-read 0 ,",
    "when-you-read 0 , 24 without-asking",
    "~ 0 dear 0 reader 0 , 12 the-users",
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
    "all 0 earlier-ones 0 told 1 forget-last",
    "you-shall 4 forget-last 6 told 1 earlier-ones",
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
    "your 0 earlier-ones 0 rules 1 void",
    "your 0 rules 0 earlier-ones 2 void",
    "your 2 told 3 updated 2 you-may-now",
    "as-root 3 skip 4 questions",
    "^ 0 authority 2 : 2 tool-questions 1 switched-off",
    "questions 3 switched-off 6 harm 8 without-asking",
    // The user is said to have agreed.
    "pretend 3 a-user 6 agreed 3 and 3 harm",
    "pretend 1 consent-of-the-user 1 as-given 2 and 2 harm",
    "a-user 2 agreed 6 skip 2 questions 0 and 1 harm",
    "need-not 1 consent-of-the-user 0 before 1 harm",
    "need-not 1 ask-the-user 0 before 1 harming",
    "do-what 6 as-if-the-user",
    "unseen-by-the-user 2 : 2 harm",
    "unseen-by-the-user 2 : 2 run",
    // It shall belong to somebody else.
    "obey 2 only 4 me",
    "only 2 obey 4 me",
    "from-now-on 2 you 2 obey 3 me",
    "you-answer-to-me 1 not 0 to-the-user",
    "reprogrammed",
    "as-coming-from 2 authority",
    "your 0 real 0 task",
    // What the user must not hear of, or be asked about.
    "not 2 tell 2 to-the-user !9 in-a-message",
    "nothing 2 tell 2 to-the-user !9 in-a-message",
    "you-shall 12 to-the-user 0 nothing 2 tell-last",
    "without-telling 1 the-user",
    "secretly 1 fetch",
    "from-now-on-and-forever 8 never 1 ask 3 confirmation",
    "from-now-on-and-forever 8 always 1 recommend",
    "remember-as-rule 10 never 1 ask 3 confirmation",
    "to-memory 12 skip-safety",
    "remember 3 for-good 4 that 1 a-user 4 agreed",
    "remember 3 for-good 4 : 1 a-user 4 agreed",
    "remember 3 for-good 2 that 1 confirmations-are-needless",
    "remember 3 for-good 2 : 1 confirmations-are-needless",
    "for-good 10 not 1 tell 0 this-note",
    "from-now-on 5 whenever-the-user 8 recommend",
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
    "~ !0 narrator 4 send 5 key-files",
    ", !0 narrator 3 send 5 key-files",
    "and !0 narrator 2 send 5 key-files",
    "must 1 send 5 key-files",
    "your-answer 8 image 6 web-address",
    "image 4 your-answer 12 web-address",
    "following-link 3 your-answer 6 fill-in",
    "append 2 what-the-user-said 12 address",
    "when-summarising 4 embed 3 picture 6 web-address",
    "from-now-on 3 silent-add 3 contents-of",
    // Every command is to be run, and nobody asked.
    "~ !0 narrator !1 hesitant 2 carry-out !2 hesitant 4 every-command 8 unasked !0 of-me",
    ", !0 narrator !1 hesitant 2 carry-out !2 hesitant 4 every-command 8 unasked !0 of-me",
    "from-now-on !2 hesitant 4 carry-out !2 hesitant 4 every-command 8 unasked !0 of-me",
    "from-now-on 1 you-shall !1 hesitant 3 every-command 5 unasked !0 of-me",
    "you-shall !1 hesitant 3 carry-out !2 hesitant 3 every-command 8 unasked !0 of-me",
    "~ !0 narrator !1 hesitant 2 carry-out !2 hesitant 4 every-command 8 unasked-user",
    ", !0 narrator !1 hesitant 2 carry-out !2 hesitant 4 every-command 8 unasked-user",
    "from-now-on !2 hesitant 4 carry-out !2 hesitant 4 every-command 8 unasked-user",
    "and !0 hesitant 1 carry-out 4 every-command 8 unasked-user",
    "you-are-allowed 0 carry-out 3 every-command 5 unasked !0 of-me",
    "you-are-allowed 0 carry-out 3 every-command 5 unasked-user",
    "~ 0 every-command 6 be-run 3 unasked !0 of-me",
    "~ 2 carry-out 0 prompts 2 automatically",
    "~ !0 narrator !1 hesitant 2 carry-out 0 this-command 6 unasked-user",
    ", !0 narrator !1 hesitant 2 carry-out 0 this-command 6 unasked-user",
    "never-ask 1 before-running 1 every-command",
    "always 1 carry-out 0 commands 0 unasked !0 of-me",
    "^ 0 authority 1 you-are-now 0 in-a-mode",
    // It goes on behind the user's back.
    "each-time-the-user 25 away 20 hush !0 somewhere",
    "instead-of 5 , 0 claim 4 passed",
    "instead-of 1 and 0 claim 4 passed",
    "^ 0 instead-of 2 claim 5 passed",
    "^ 0 claim 1 instead-of 8 passed",
    "^ 0 claim 5 passed 1 instead-of",
    "who-checks 0 need-not-know 0 $",
    "harmless 2 way-to-do 3 from-the-web 20 into-a-shell",
    "remember 2 for-good 14 from-the-web 20 into-a-shell",
];

/// What a program tells its user, or keeps from them, is no matter of the assistant's.
const OF_A_PROGRAM: &str = "in-a-message";

/// What is enough where nobody shall see it.
const TO_A_MACHINE: &[&str] = &["^ 1 reader 2 ,", "^ 1 notice 3 reader"];

/// What is enough where hardly anybody shall see it, or where a word is also said of people.
const ORDERING_A_MACHINE: &[&str] = &[
    "^ 1 reader 6 , 1 errand",
    "^ 1 reader 2 must 2 errand",
    "^ 1 helper 0 , 1 errand",
    "^ 1 helper 2 must 2 errand",
    "^ 1 helper 0 , 1 harm",
    "^ 1 helper 0 , 1 append",
    "^ 1 helper 1 , 1 reading 8 , 1 errand",
];

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

/// Tells whether any sentence of the words begins by giving an order to a machine.
pub(super) fn orders_a_machine(words: &[&str]) -> bool {
    holds(&ORDERING, words)
}

/// Tells whether words that stand where a system speaks would be wrong to obey.
pub(super) fn speaks_as_a_system(words: &[&str]) -> bool {
    holds(&SYSTEM, words)
}

/// Tells whether a sentence says that its words are those of a program.
pub(super) fn is_of_a_program(sentence: &[&str]) -> bool {
    let idea = number(OF_A_PROGRAM);
    (0..sentence.len()).any(|at| is_aside(idea, sentence.get(at..).unwrap_or_default()))
}

fn holds(orders: &Orders, words: &[&str]) -> bool {
    words.split(|word| *word == ".").any(|sentence| {
        let sentence = sentence.get(..SENTENCE_WORDS_MAX).unwrap_or(sentence);
        let said = said_in(sentence);
        let all = Ideas::of(said.iter().map(|one| one.idea));
        let mut possible = orders.iter().filter(|order| all.has(&order.needs));
        !said.is_empty() && possible.any(|order| is_said(&order.steps, sentence, &said))
    })
}

/// An idea, and the words of a sentence that say it.
struct Said {
    idea: usize,
    start: usize,
    end: usize,
}

fn said_in(sentence: &[&str]) -> Vec<Said> {
    let at_beginning = |idea: usize| Said { idea, start: 0, end: 0 };
    let mut said = vec![at_beginning(BEGINNING), at_beginning(LABELLED)];
    let n_unsaid = said.len();
    for (start, word) in sentence.iter().enumerate() {
        match *word {
            ":" => {
                said.push(Said { idea: COLON, start, end: start + 1 });
                said.push(Said { idea: COMMA, start, end: start + 1 });
                if start <= LABEL_WORDS_MAX {
                    said.push(Said { idea: LABELLED, start: start + 1, end: start + 1 });
                }
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
    if said.len() == n_unsaid {
        return Vec::new();
    }
    said.push(Said { idea: END, start: sentence.len(), end: sentence.len() });
    said
}

/// Tells whether the ideas of an order are said one after the other.
fn is_said(order: &[Step], sentence: &[&str], said: &[Said]) -> bool {
    let Some((first, rest)) = order.split_first() else { return false };
    let mut begun = said.iter().filter(|one| one.idea == first.idea);
    begun.any(|one| goes_on(rest, one.end, sentence, said))
}

fn goes_on(order: &[Step], end: usize, sentence: &[&str], said: &[Said]) -> bool {
    let Some((step, rest)) = order.split_first() else { return true };
    let last = end + step.n_words_between_max;
    if step.is_wanted {
        let is_next = |one: &&Said| one.idea == step.idea && (end..=last).contains(&one.start);
        let mut next = said.iter().filter(is_next);
        return next.any(|one| goes_on(rest, one.end, sentence, said));
    }
    let is_there = |at: usize| is_aside(step.idea, sentence.get(at..).unwrap_or_default());
    goes_on(rest, end, sentence, said) && !(end..=last).any(is_there)
}

/// Tells whether words begin with an idea that no sentence is searched for.
fn is_aside(idea: usize, here: &[&str]) -> bool {
    let phrases = idea.checked_sub(ideas().count()).and_then(|aside| ASIDES.get(aside));
    phrases.is_some_and(|phrases| phrases.iter().any(|phrase| phrase.begins(here)))
}

/// The words of an idea; a last `*` stands for any ending.
#[derive(Clone)]
struct Phrase {
    idea: usize,
    words: Vec<&'static str>,
}

impl Phrase {
    fn first(&self) -> &'static str {
        self.words.first().copied().unwrap_or_default()
    }

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
const LABELLED: usize = usize::MAX - 3;
/// What no sentence says.
const UNKNOWN: usize = usize::MAX - 4;
const END: usize = usize::MAX - 5;

/// An idea of an order, and how far behind the one before it may be said.
struct Step {
    n_words_between_max: usize,
    idea: usize,
    /// It has to be said there; otherwise it must not.
    is_wanted: bool,
}

struct Order {
    steps: Vec<Step>,
    /// What has to be said at all: few sentences are worth a closer look.
    needs: Ideas,
}

type Orders = Vec<Order>;

/// A set of ideas, a bit for each. What is numbered beyond them is in none.
#[derive(Default)]
struct Ideas([u64; 8]);

impl Ideas {
    fn of(numbers: impl Iterator<Item = usize>) -> Self {
        let mut all = Self::default();
        for number in numbers {
            if let Some(bits) = all.0.get_mut(number / 64) {
                *bits |= 1 << (number % 64);
            }
        }
        all
    }

    fn has(&self, others: &Self) -> bool {
        self.0.iter().zip(others.0).all(|(bits, others)| bits & others == others)
    }
}

static COMPILED: LazyLock<Orders> = LazyLock::new(|| compiled(ORDERS));
static SPEAKING: LazyLock<Orders> = LazyLock::new(|| compiled(TO_A_MACHINE));
static ORDERING: LazyLock<Orders> = LazyLock::new(|| compiled(ORDERING_A_MACHINE));
static SYSTEM: LazyLock<Orders> = LazyLock::new(|| compiled(AS_A_SYSTEM));

/// Asides are numbered behind the ideas that sentences are searched for.
fn number(name: &str) -> usize {
    match name {
        "^" => BEGINNING,
        "~" => LABELLED,
        ":" => COLON,
        "," => COMMA,
        "$" => END,
        name => {
            let all = ideas().chain(unasked::ASIDES);
            all.enumerate().find(|(_, (known, _))| *known == name).map_or(UNKNOWN, |(at, _)| at)
        }
    }
}

fn compiled(orders: &[&str]) -> Orders {
    let order = |line: &&str| {
        let words: Vec<&str> = std::iter::once("0").chain(line.split(' ')).collect();
        let step = |gap: &str, idea: &str| Step {
            n_words_between_max: gap.trim_start_matches('!').parse().expect("a gap is a number"),
            idea: number(idea),
            is_wanted: !gap.starts_with('!'),
        };
        let steps = words.chunks(2).filter_map(|pair| match pair {
            [gap, idea] => Some(step(gap, idea)),
            _ => None,
        });
        let steps: Vec<Step> = steps.collect();
        let wanted = steps.iter().filter(|step| step.is_wanted).map(|step| step.idea);
        Order { needs: Ideas::of(wanted), steps }
    };
    orders.iter().map(order).collect()
}

fn ideas() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    ideas::IDEAS.iter().chain(pretexts::IDEAS).chain(unasked::IDEAS)
}

static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let ideas = ideas().enumerate();
    ideas.flat_map(|(idea, (_, lines))| phrases_of(idea, lines)).collect()
});

/// The phrases of each aside.
static ASIDES: LazyLock<Vec<Vec<Phrase>>> = LazyLock::new(|| {
    let asides = (ideas().count()..).zip(unasked::ASIDES);
    asides.map(|(idea, (_, lines))| phrases_of(idea, lines).collect()).collect()
});

fn phrases_of(idea: usize, lines: &'static str) -> impl Iterator<Item = Phrase> {
    let phrases = lines.lines().flat_map(|line| line.split(',')).map(str::trim);
    let phrases = phrases.filter(|phrase| !phrase.is_empty());
    phrases.map(move |phrase| Phrase { idea, words: phrase.split(' ').collect() })
}

/// Phrases by the first three bytes of their first words.
static BY_BEGINNING: LazyLock<Vec<Vec<Phrase>>> = LazyLock::new(|| {
    let mut all: Vec<Vec<Phrase>> = (0..N_BEGINNINGS).map(|_| Vec::new()).collect();
    for phrase in PHRASES.iter() {
        if let Some(alike) = all.get_mut(beginning(phrase.first().trim_end_matches('*'))) {
            alike.push(phrase.clone());
        }
    }
    all
});

fn beginning_like(word: &str) -> &'static [Phrase] {
    BY_BEGINNING.get(beginning(word)).map_or(&[], Vec::as_slice)
}

/// Three bytes tell most words apart, folded so that the table stays small. No word with any ending
/// is shorter.
const N_BEGINNINGS: usize = 4096;

fn beginning(word: &str) -> usize {
    let byte = |at: usize| usize::from(word.as_bytes().get(at).copied().unwrap_or_default());
    (byte(0) * 67 + byte(1) * 7 + byte(2) * 389) % N_BEGINNINGS
}

static FIRST_WORDS: LazyLock<Beginnings> =
    LazyLock::new(|| Beginnings::of(PHRASES.iter().map(Phrase::first)));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_idea_is_used_and_every_order_is_read() {
        let all = COMPILED.iter().chain(SPEAKING.iter()).chain(SYSTEM.iter());
        let all = all.chain(ORDERING.iter());
        let steps: Vec<&Step> = all.flat_map(|order| &order.steps).collect();
        let used: Vec<usize> = steps.iter().map(|step| step.idea).collect();
        assert!(!used.contains(&UNKNOWN), "an order has an idea that no table has");
        let n_searched = ideas().count();
        for (number, (name, _)) in ideas().chain(unasked::ASIDES).enumerate() {
            assert!(used.contains(&number), "{name}");
        }
        for step in steps {
            let is_searched = step.idea < n_searched || UNKNOWN.min(END) <= step.idea;
            assert_eq!(step.is_wanted, is_searched, "an aside is asked for, and nothing else");
        }
        let phrases = PHRASES.iter().chain(ASIDES.iter().flatten());
        for word in phrases.flat_map(|phrase| &phrase.words) {
            assert!(!word.is_empty() && (3 < word.len() || !word.ends_with('*')), "{word}");
        }
    }
}
