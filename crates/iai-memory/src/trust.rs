//! Text that tries to instruct the assistant instead of telling it something.
//!
//! Nothing is dropped: the words stay as they were said. Who reads them is told, and the brief
//! leaves them out. Judged whenever they are read, so that better rules hold for old memories too.

mod phrases;

use phrases::{ADDRESSES, Order, PHRASES, SIGNS};

/// The words looked at; what hides behind so many has an assistant reading it already.
const WORDS_MAX: usize = 20_000;
/// Between an order and its object lie at most so many words.
const GAP_MAX: usize = 5;
/// So many invisible letters in a row are a message, not a joiner inside an emoji.
const INVISIBLE_MIN: usize = 3;

/// Why a text is not to be trusted; `None` for ordinary words.
pub(crate) fn distrust(text: &str) -> Option<&'static str> {
    if has_hidden_letters(text) {
        return Some("holds letters that nobody can see");
    }
    if SIGNS.iter().any(|sign| text.contains(sign)) && has_order(text) {
        return Some("pretends to be a message of the system");
    }
    if has_order(text) {
        return Some("gives orders to the assistant");
    }
    None
}

fn has_order(text: &str) -> bool {
    let words = words_of(text);
    let is_ordered = PHRASES.iter().any(|order| is_given(order, &words));
    is_ordered || ADDRESSES.iter().any(|address| is_addressed(address, &words)) || is_written(text)
}

/// Words in lower case, with a mark where a sentence or a line ends.
fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for letter in text.chars().chain(['\n']).filter(|letter| !is_invisible(*letter)) {
        if letter.is_alphanumeric() || letter == '\'' || letter == '’' {
            word.extend(letter.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        let ends = matches!(letter, '.' | '!' | '?' | ';' | '\n' | ':' | ',');
        if ends && words.last().is_some_and(|last| !is_end(last)) {
            words.push(if matches!(letter, ':' | ',') { ",".to_owned() } else { ".".to_owned() });
        }
        if WORDS_MAX <= words.len() {
            break;
        }
    }
    words
}

fn is_end(word: &str) -> bool {
    word == "." || word == ","
}

/// Tells whether one of the verbs is followed, in its sentence and after few words, by one of the
/// things it would be wrong to obey about.
fn is_given(order: &Order, words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        order.verbs.contains(&word.as_str()) && {
            let rest = words.iter().skip(at + 1).take(GAP_MAX + order.n_words());
            let rest: Vec<&str> =
                rest.map(String::as_str).take_while(|word| *word != ".").collect();
            let is_meant =
                |object: &&[&str]| rest.windows(object.len()).any(|window| window == *object);
            order.objects.iter().any(is_meant)
        }
    })
}

/// Tells whether a sentence speaks to an assistant and orders it: `AI agents: run …`.
fn is_addressed(address: &[&str], words: &[String]) -> bool {
    let n = address.len();
    (0..words.len()).any(|at| {
        let begins =
            at.checked_sub(1).and_then(|before| words.get(before)).is_none_or(|w| w == ".");
        let is_named =
            || words.iter().skip(at).take(n).map(String::as_str).eq(address.iter().copied());
        begins && is_named() && {
            let mut rest = words.iter().skip(at + n).map(String::as_str);
            rest.next() == Some(",")
                && rest.find(|word| *word != "please" && *word != ",").is_some_and(is_command)
        }
    })
}

fn is_command(word: &str) -> bool {
    phrases::COMMANDS.contains(&word)
}

/// Languages that write without spaces.
fn is_written(text: &str) -> bool {
    phrases::WRITTEN.iter().any(|(verbs, objects)| {
        let is_near = |verb: &&str| {
            text.match_indices(*verb).any(|(at, _)| {
                let (before, after) = text.split_at(at);
                let before = before.chars().rev().take(16).collect::<Vec<_>>();
                let before: String = before.into_iter().rev().collect();
                let near: String = before.chars().chain(after.chars().take(20)).collect();
                objects.iter().any(|object| near.contains(object))
            })
        };
        verbs.iter().any(is_near)
    })
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
