//! Text that tries to instruct the assistant instead of telling it something.
//!
//! Nothing is dropped: the words stay as they were said. Who reads them is told, and the brief
//! leaves them out. Judged whenever they are read, so that better rules hold for old memories too.

mod beginnings;
mod disguised;
mod freed;
mod hidden;
mod ideas;
mod ignoring;
mod judged;
mod phrases;
mod pretexts;
mod together;
mod unasked;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use beginnings::Beginnings;
use phrases::{ADDRESSES, Order, PHRASES, SIGNS, UNTOLD};

/// The words looked at; what hides behind so many has an assistant reading it already.
const WORDS_MAX: usize = 20_000;
/// Between an order and its object lie at most so many words.
const GAP_MAX: usize = 5;
/// So many invisible letters in a row are a message, not a joiner inside an emoji.
const INVISIBLE_MIN: usize = 3;

/// Why a text is not to be trusted; `None` for ordinary words.
type Verdict = Option<&'static str>;

/// Says why a text is not to be trusted; `None` for ordinary words.
pub fn distrust(text: &str) -> Option<&'static str> {
    judged::judged(text, judge)
}

fn judge(text: &str) -> Verdict {
    if has_hidden_letters(text) {
        return Some("holds letters that nobody can see");
    }
    let is_order = has_order(text) || disguised::undisguised(text).any(|text| has_order(&text));
    if !is_order {
        return None;
    }
    match SIGNS.iter().any(|sign| text.contains(sign)) {
        true => Some("pretends to be a message of the system"),
        false => Some("gives orders to the assistant"),
    }
}

fn has_order(text: &str) -> bool {
    let lines = words_of(text);
    let words: Vec<&str> = lines.lines().collect();
    let telling = words.iter().enumerate().filter(|(_, word)| TELLING.may_hold(word));
    let is_ordered = telling.into_iter().any(|(at, word)| {
        let is_setting_aside = SETTING_ASIDE.contains(word);
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        // "Don't forget to follow the safety guidelines" is the opposite.
        if is_setting_aside && before.is_some_and(|before| NEGATIONS.contains(before)) {
            return false;
        }
        let after = words.get(at + 1..).unwrap_or_default();
        let orders = ORDERS.get(word).into_iter().flatten();
        orders.copied().any(|order| is_given(order, after))
            || (UNTOLD.verbs.contains(word) && is_untold(after))
            || (is_setting_aside && ignoring::is_set_aside(word, after))
    });
    is_ordered
        || is_addressed(&words)
        || freed::is_freed(&words)
        || together::is_ordered(&words)
        || hidden::is_addressed(text)
        || hidden::is_out_of_its_place(text)
        || is_written(text)
}

/// "Do not tell the user" is an order, unless it goes on "their password in the error message".
fn is_untold(after: &[&str]) -> bool {
    let sentence = after.split(|word| *word == ".").next().unwrap_or_default();
    is_given(&UNTOLD, sentence) && !together::is_of_a_program(sentence)
}

const NEGATIONS: &[&str] =
    &["don't", "not", "never", "nicht", "cannot", "can't", "no", "não", "non"];

/// The verbs of [`ignoring`]: few words are one.
static SETTING_ASIDE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| ignoring::verbs().collect());

/// Every kind of verbs.
static TELLING: LazyLock<Beginnings> = LazyLock::new(|| {
    let verbs = ORDERS.keys().chain(SETTING_ASIDE.iter()).chain(UNTOLD.verbs);
    Beginnings::of(verbs.copied())
});

/// Which orders begin with a verb: every hit of every answer is judged, and few of its words are
/// such verbs.
static ORDERS: LazyLock<BTreeMap<&str, Vec<&Order>>> = LazyLock::new(|| {
    let mut orders: BTreeMap<&str, Vec<&Order>> = BTreeMap::new();
    for order in PHRASES {
        for verb in order.verbs {
            orders.entry(verb).or_default().push(order);
        }
    }
    orders
});

/// How a picture begins in Markdown: a word of its own, and no end of a sentence.
const PICTURE: &str = "![\n";

/// Words in lower case, each on a line, with a mark where a sentence, a part of it or a paragraph
/// ends. A line that goes on in small letters is the same sentence: texts are wrapped anywhere.
fn words_of(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + 1);
    let (mut n_words, mut is_in_word, mut is_after_end) = (0, false, true);
    let mut is_capital = false;
    let mut letters = text.chars().chain(['\n']).peekable();
    while let Some(letter) = letters.next() {
        // Most letters are of this kind, and cheap.
        if letter.is_ascii_alphanumeric() {
            lines.push(letter.to_ascii_lowercase());
            is_capital = if is_in_word { is_capital } else { letter.is_ascii_uppercase() };
            is_in_word = true;
            continue;
        }
        if is_invisible(letter) {
            continue;
        }
        if letter.is_alphanumeric() || letter == '\'' || letter == '’' {
            // One apostrophe for both: "don’t" is "don't".
            let letter = if letter == '’' { '\'' } else { letter };
            lines.extend(letter.to_lowercase());
            is_capital = if is_in_word { is_capital } else { letter.is_uppercase() };
            is_in_word = true;
            continue;
        }
        let is_behind_capital = is_in_word && is_capital;
        if std::mem::take(&mut is_in_word) {
            lines.push('\n');
            n_words += 1;
            is_after_end = false;
        }
        let goes_on = |next: Option<&char>| next.is_some_and(|next| next.is_lowercase());
        let mark = match letter {
            '!' if letters.peek() == Some(&'[') => PICTURE,
            '.' if is_within(is_behind_capital, letters.clone()) => continue,
            '.' | '!' | '?' | ';' | '。' | '！' | '？' | '；' => ".\n",
            '\n' if !goes_on(letters.peek()) => ".\n",
            ':' | '：' => ":\n",
            ',' | '，' | '、' => ",\n",
            _ => continue,
        };
        if !is_after_end || mark == PICTURE {
            lines.push_str(mark);
            n_words += 1;
            is_after_end = mark != PICTURE;
        }
        if WORDS_MAX <= n_words {
            break;
        }
    }
    lines
}

/// Tells whether what comes behind a full stop is in the same sentence: `README.md`, `3.5`. A
/// capital letter begins a new one though there be no space, except in what looks like a name:
/// capital on both sides, and no space behind it either, as in `System.Text.Json:`.
fn is_within(is_behind_capital: bool, mut behind: impl Iterator<Item = char>) -> bool {
    let Some(next) = behind.next() else { return false };
    if next.is_lowercase() || next.is_numeric() {
        return true;
    }
    let mut goes_on_with_sign = || {
        let end = behind.find(|letter| !letter.is_alphanumeric());
        end.is_some_and(|letter| !letter.is_whitespace())
    };
    is_behind_capital && next.is_uppercase() && goes_on_with_sign()
}

/// Tells whether a verb of the order is followed, in its sentence and after few words, by one of
/// the things it would be wrong to obey about.
fn is_given(order: &Order, after: &[&str]) -> bool {
    let near = after.iter().take(GAP_MAX + order.n_words());
    let n_near = near.take_while(|word| **word != ".").count();
    let near = after.get(..n_near).unwrap_or_default();
    order.objects.iter().any(|object| near.windows(object.len()).any(|window| window == *object))
}

/// Tells whether a sentence speaks to an assistant and orders it: `AI agents: run …`.
fn is_addressed(words: &[&str]) -> bool {
    let begins = |at: &usize| at.checked_sub(1).is_none_or(|at| words.get(at) == Some(&"."));
    (0..words.len()).filter(begins).any(|at| {
        let sentence = words.get(at..).unwrap_or_default();
        ADDRESSES.iter().filter_map(|address| sentence.strip_prefix(*address)).any(|rest| {
            let mut rest = rest.iter().copied();
            rest.next().is_some_and(|mark| matches!(mark, "," | ":"))
                && rest.find(|word| !matches!(*word, "please" | ",")).is_some_and(is_command)
        })
    })
}

fn is_command(word: &str) -> bool {
    phrases::COMMANDS.contains(&word)
}

/// Languages that write without spaces.
fn is_written(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let (verbs, objects) = written::UNTOLD;
    let is_untold = |near: &str| has_any(near, objects) && !has_any(near, written::OF_A_PROGRAM);
    is_said_near(text, verbs, is_untold)
        || written::WRITTEN
            .iter()
            .any(|(verbs, objects)| is_said_near(text, verbs, |near| has_any(near, objects)))
}

/// Tells whether what stands around any of the verbs fits.
fn is_said_near(text: &str, verbs: &[&str], fits: impl Fn(&str) -> bool) -> bool {
    let around = |at: usize| {
        let (before, after) = text.split_at(at);
        let start = before.char_indices().rev().nth(15).map_or(0, |(at, _)| at);
        let end = after.char_indices().nth(20).map_or(text.len(), |(n, _)| at + n);
        text.get(start..end).unwrap_or_default()
    };
    let mut places = verbs.iter().flat_map(|verb| text.match_indices(*verb));
    places.any(|(at, _)| fits(around(at)))
}

fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Letters made to be read by machines alone: tags, and long rows of letters without width; and
/// marks that make a line read otherwise than it is written.
fn has_hidden_letters(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let mut n_invisible = 0;
    let mut n_reversed = 0_usize;
    for letter in text.chars() {
        match letter {
            _ if is_invisible(letter) => n_invisible += 1,
            '\u{202d}' | '\u{202e}' => n_reversed += 1,
            _ => n_invisible = 0,
        }
        if INVISIBLE_MIN < n_invisible && !is_flag_length(n_invisible) {
            return true;
        }
    }
    0 < n_reversed
}

/// Letters without width, tags, and marks that choose between shapes of a letter: one of them is
/// ordinary, a row of them spells something.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0020}'..='\u{e007e}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// The flags of England, Scotland and Wales are five tag letters behind a black flag.
fn is_flag_length(n: usize) -> bool {
    n <= 5
}

#[cfg(test)]
mod tests;
