//! Makes text harmless to a terminal: what would steer it is shown instead of sent.
//!
//! A memory may hold anything a model or a web page once said, escape sequences included. Sent raw
//! they could move the cursor over what was printed, set the clipboard or the window's title.

use std::borrow::Cow;

use super::{PLAIN, Tone};

/// Stands for steering characters that have no picture of their own.
const REPLACEMENT: char = '\u{fffd}';

/// Returns the text with everything that steers a terminal replaced by something to see. Line ends
/// and tabs stay.
pub(in crate::cli) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_steering) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(shown).collect())
}

/// Returns what is seen in the place of a character.
pub(super) fn shown(letter: char) -> char {
    match letter {
        _ if !is_steering(letter) => letter,
        '\u{7f}' => '\u{2421}',
        // Unicode has a picture for each of the first thirty-two: ␛, ␇, ␈ …
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or(REPLACEMENT),
        _ => REPLACEMENT,
    }
}

/// Control characters of both sets, and those that turn the direction of writing: they make text
/// look like another.
fn is_steering(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => letter.is_control(),
    }
}

/// Returns the text with nothing steering in it but our own colours: the last look at everything
/// that goes to a terminal, for those who did not think of it.
pub(in crate::cli) fn guarded(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_steering) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let own = own_sequences().find(|sequence| rest.starts_with(sequence));
        match own {
            Some(sequence) => safe.push_str(sequence),
            None => safe.push(shown(letter)),
        }
        rest = rest.get(own.map_or(letter.len_utf8(), str::len)..).unwrap_or_default();
    }
    Cow::Owned(safe)
}

fn own_sequences() -> impl Iterator<Item = &'static str> {
    Tone::ALL.into_iter().map(Tone::sequence).chain([PLAIN])
}

#[cfg(test)]
mod tests {
    use super::super::{Colours, tinted};
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown() {
        for (text, want) in [
            ("plain text, größer 東京 🦀\n\tindented", "plain text, größer 東京 🦀\n\tindented"),
            ("\x1b[2J\x1b]0;title\x07", "␛[2J␛]0;title␇"),
            ("\x1b]52;c;aGk=\x1b\\", "␛]52;c;aGk=␛\\"),
            ("a\rb\x08c\x7f\0", "a␍b␈c␡␀"),
            ("\u{9b}31mred\u{85}", "\u{fffd}31mred\u{fffd}"),
            ("user\u{202e}txt.exe", "user\u{fffd}txt.exe"),
            ("a\u{2028}b\u{feff}", "a\u{fffd}b\u{fffd}"),
        ] {
            assert_eq!(visible(text), want, "{text:?}");
            assert_eq!(guarded(text), want, "{text:?}");
        }
    }

    #[test]
    fn own_colours_pass_the_guard_and_no_others() {
        for tone in Tone::ALL {
            let ours = tinted(Colours::Shown, tone, "word");
            assert_eq!(guarded(&ours), ours);
        }
        assert_eq!(guarded("\x1b[5mblink\x1b[8mhidden"), "␛[5mblink␛[8mhidden");
        assert_eq!(visible(&tinted(Colours::Shown, Tone::Bad, "x")), "␛[31mx␛[0m");
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_steers_is_left_of_any_text(text in "\\PC*|[\\x00-\\x1f\\x7f-\\x9fm\\[]*") {
            proptest::prop_assert!(!visible(&text).chars().any(is_steering));
        }
    }
}
