//! Where a secret may begin: looks at every byte once, and passes over nearly all of them.

use super::tokens::{Letters, TOKENS};

/// A sign that a rule begins with.
const SIGN: u8 = 1;
/// A letter or digit that a token begins with, at the beginning of a word.
const FIRST: u8 = 2;
/// A byte inside a word.
const INSIDE: u8 = 4;
/// The blank, behind which the value of `password is` stands.
const BLANK: u8 = 8;
/// The last letter of a word that a value may follow: `is`, `bearer`, `basic`, `password`.
const LAST: u8 = 16;

/// What each byte may be.
static CLASSES: [u8; 256] = classes();
/// By the first letter, the letters that stand second in a token, as bits.
static SECONDS: [u128; 128] = seconds();

/// Returns the next place, from `at` on, where a rule may find something, and the byte there.
#[expect(clippy::indexing_slicing, reason = "a table has a place for every byte")]
pub(super) fn next(bytes: &[u8], at: usize) -> Option<(usize, u8)> {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let mut before = before.map_or(0, |byte| CLASSES[usize::from(*byte)]);
    for (n, byte) in bytes.get(at..)?.iter().enumerate() {
        let class = CLASSES[usize::from(*byte)];
        let is_start = class & SIGN != 0
            || (class & FIRST != 0
                && before & INSIDE == 0
                && goes_on(*byte, bytes.get(at + n + 1).copied()))
            || (class & BLANK != 0 && before & LAST != 0);
        if is_start {
            return Some((at + n, *byte));
        }
        before = class;
    }
    None
}

/// Tells whether a token that begins with this byte may have that one second.
fn goes_on(first: u8, second: Option<u8>) -> bool {
    let seconds = SECONDS.get(usize::from(first)).copied().unwrap_or_default();
    second.is_some_and(|second| second < 128 && seconds >> second & 1 == 1)
}

#[expect(clippy::indexing_slicing, reason = "a place beyond the end would not compile")]
#[expect(clippy::cast_possible_truncation, reason = "a place in the table is a byte")]
const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        let is_first = byte < 128 && seconds()[byte] != 0;
        classes[byte] = match letter {
            b'-' | b'_' => SIGN | INSIDE,
            b':' | b'=' | b'~' | b'>' | b'|' | b'\t' | super::COLOUR => SIGN,
            b' ' => BLANK,
            b's' | b'r' | b'R' | b'c' | b'C' | b't' | b'd' | b'n' | b'y' | b'D' | b'N' | b'Y' => {
                INSIDE | LAST
            }
            _ if Letters::Url.has(letter) => INSIDE,
            _ => 0,
        } | if is_first { FIRST } else { 0 };
        byte += 1;
    }
    classes
}

#[expect(clippy::indexing_slicing, reason = "a place beyond the end would not compile")]
const fn seconds() -> [u128; 128] {
    let mut seconds = [0; 128];
    let mut at = 0;
    while at < TOKENS.len() {
        let beginning = TOKENS[at].beginning.as_bytes();
        seconds[beginning[0] as usize] |= 1 << beginning[1];
        at += 1;
    }
    // A web token begins with `eyJ`, the name of a bot with at least eight digits.
    seconds[b'e' as usize] |= 1 << b'y';
    let mut digit = b'0';
    while digit <= b'9' {
        seconds[digit as usize] |= 0x3ff << b'0';
        digit += 1;
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<usize> {
        let mut all = Vec::new();
        let mut at = 0;
        while let Some((place, _)) = next(text.as_bytes(), at) {
            all.push(place);
            at = place + 1;
        }
        all
    }

    #[test]
    fn every_token_is_a_start_and_ordinary_words_are_none() {
        for token in TOKENS {
            assert_eq!(starts(&format!("go {}", token.beginning)).first(), Some(&3));
            assert_eq!(starts(token.beginning).first(), Some(&0));
        }
        assert_eq!(starts("eyJ 12345678"), [0, 4]);
        assert_eq!(
            starts("a=b c:d f-g password is x Bearer y h_i"),
            [1, 5, 7, 9, 20, 23, 32, 34, 36]
        );
        assert_eq!(starts("Some words, none of them; 3 of é."), [] as [usize; 0]);
    }
}
