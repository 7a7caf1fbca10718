//! A key as words that people can say, write down and type.
//!
//! Sixteen bits are a word of five letters, consonants and vowels in turn (the proquints of
//! D. Wilkerson, arXiv:0901.4016): sixteen words of a key, and two that check them.

use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::keys::SyncKey;

const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
const VOWELS: &[u8; 4] = b"aiou";
const WORD_LETTERS: usize = 5;
const KEY_WORDS: usize = 16;
const CHECK_WORDS: usize = 2;
const CHECK_DOMAIN: &[u8] = b"iai-mcp sync key words 1";

/// What is wrong with words that should be a key.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WordsError {
    /// A letter that no word has.
    #[error("word {0} is none of a key's: compare it with what was written down")]
    NoWord(usize),
    /// Words are missing or too many.
    #[error("a key has {KEY_WORDS} words and {CHECK_WORDS} that check them; here are {0} letters")]
    Length(usize),
    /// All could be words of a key, but not of one and the same.
    #[error("a word is another or in another place than in the key: compare them one by one")]
    Mistyped,
}

/// Returns a key as words, to be shown once.
pub fn to_words(key: &SyncKey) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new(key.as_bytes().to_vec());
    bytes.extend_from_slice(&check(key));
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() / 2 * (WORD_LETTERS + 1)));
    for pair in bytes.chunks_exact(2) {
        if !text.is_empty() {
            text.push(' ');
        }
        let bits = pair.iter().fold(0, |bits, byte| bits << 8 | u16::from(*byte));
        text.extend(letters(bits));
    }
    text
}

/// Reads a key from words, however they are spaced, hyphenated or capitalised.
pub fn from_words(text: &str) -> Result<SyncKey, WordsError> {
    let is_between = |letter: &char| letter.is_whitespace() || "-,.".contains(*letter);
    let letters: Zeroizing<Vec<char>> =
        Zeroizing::new(text.chars().filter(|letter| !is_between(letter)).collect());
    if letters.len() != (KEY_WORDS + CHECK_WORDS) * WORD_LETTERS {
        return Err(WordsError::Length(letters.len()));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity((KEY_WORDS + CHECK_WORDS) * 2));
    for (index, word) in letters.chunks_exact(WORD_LETTERS).enumerate() {
        let bits = bits(word).ok_or(WordsError::NoWord(index + 1))?;
        bytes.extend_from_slice(&[(bits >> 8) as u8, (bits & 0xff) as u8]);
    }
    let (key, found) = bytes.split_first_chunk().ok_or(WordsError::Mistyped)?;
    let key = SyncKey::from_bytes(*key);
    if found == check(&key) { Ok(key) } else { Err(WordsError::Mistyped) }
}

/// Returns the letters of sixteen bits: four, two, four, two, four of them.
fn letters(bits: u16) -> impl Iterator<Item = char> {
    let places = [(12, true), (10, false), (6, true), (4, false), (0, true)];
    places.into_iter().filter_map(move |(shift, is_consonant)| {
        let index = usize::from(bits >> shift);
        let letter = if is_consonant { CONSONANTS.get(index & 15) } else { VOWELS.get(index & 3) };
        letter.copied().map(char::from)
    })
}

fn bits(word: &[char]) -> Option<u16> {
    let mut bits = 0;
    for (index, letter) in word.iter().enumerate() {
        let letter = u8::try_from(letter.to_ascii_lowercase()).ok()?;
        let (alphabet, width): (&[u8], _) =
            if index % 2 == 0 { (CONSONANTS, 4) } else { (VOWELS, 2) };
        let value = alphabet.iter().position(|known| *known == letter)?;
        bits = bits << width | u16::try_from(value).ok()?;
    }
    Some(bits)
}

fn check(key: &SyncKey) -> [u8; CHECK_WORDS * 2] {
    let mut hash = Sha256::new();
    hash.update(CHECK_DOMAIN);
    hash.update(key.as_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    *digest.first_chunk().expect("a digest has more than four bytes")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_have_not_changed() {
        let words = to_words(&SyncKey::from_bytes([0; 32]));
        assert!(words.starts_with("babab babab "), "{}", *words);
        let published = letters(0x7f00).chain(letters(0x0001)).collect::<String>();
        assert_eq!(published, "lusabbabad", "127.0.0.1 as the paper has it");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let words = to_words(&SyncKey::from_bytes([7; 32]));
        let second = format!("babab x{}", &words[7..]);
        assert_eq!(from_words(&second).unwrap_err(), WordsError::NoWord(2));
        assert_eq!(from_words("lusab babad").unwrap_err(), WordsError::Length(10));
        assert_eq!(from_words("").unwrap_err(), WordsError::Length(0));
        let umlaut = words.replacen('b', "ü", 1);
        assert!(from_words(&umlaut).is_err());
    }

    proptest! {
        #[test]
        fn words_come_back_however_they_are_typed(bytes: [u8; 32], upper: bool, hyphens: bool) {
            let key = SyncKey::from_bytes(bytes);
            let mut text = to_words(&key).to_string();
            prop_assert_eq!(text.split(' ').count(), KEY_WORDS + CHECK_WORDS);
            if upper {
                text = text.to_uppercase();
            }
            if hyphens {
                text = format!("  {}\n", text.replace(' ', "-\n"));
            }
            prop_assert_eq!(from_words(&text).unwrap(), key);
        }

        #[test]
        fn a_wrong_letter_and_two_words_exchanged_are_noticed(
            bytes: [u8; 32], place in 0..18_usize, letter in 0..5_usize, other in 0..18_usize,
        ) {
            let words = to_words(&SyncKey::from_bytes(bytes)).to_string();
            let mut typed: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let was = typed[place].chars().nth(letter).unwrap();
            let wrong = if letter % 2 == 0 { if was == 'b' { "d" } else { "b" } }
                else if was == 'a' { "i" } else { "a" };
            typed[place].replace_range(letter..=letter, wrong);
            prop_assert_eq!(from_words(&typed.join(" ")).unwrap_err(), WordsError::Mistyped);
            let mut exchanged: Vec<&str> = words.split(' ').collect();
            exchanged.swap(place, other);
            let is_same = exchanged.join(" ") == words;
            prop_assert_eq!(from_words(&exchanged.join(" ")).is_ok(), is_same);
        }
    }
}
