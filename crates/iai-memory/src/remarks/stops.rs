//! Which full stops end no sentence: those behind abbreviations and initials.

use crate::organise::is_stop_word;

/// A name follows: "Dr. Okonkwo".
const TITLES: &[&str] = &[
    "dipl", "dr", "hr", "hrn", "ing", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mx", "prof",
    "sr", "sra", "srta", "st",
];

/// Something follows, however it is written: "bzw. Kunden".
const JOINING: &[&str] = &[
    "approx", "bspw", "bzgl", "bzw", "ca", "cf", "e.g", "evtl", "ggf", "i.e", "incl", "inkl",
    "insb", "resp", "sog", "u.a", "vgl", "vs", "z.b", "z.t", "d.h",
];

/// A figure follows: "No. 3". Without one, "no." and "art." are words.
const BEFORE_FIGURES: &[&str] = &[
    "abb", "abs", "art", "ch", "fig", "kap", "max", "min", "no", "nr", "num", "nº", "p", "pp",
    "sec", "tab", "vol",
];

/// They may end a sentence, too, and go on only in lower case.
const LISTING: &[&str] = &["al", "etc", "max", "min", "usf", "usw"];

/// Abbreviations that are written as two: "z. B."
const IN_TWO: &[(&str, &str)] =
    &[("z", "b"), ("d", "h"), ("u", "a"), ("z", "t"), ("o", "ä"), ("e", "g"), ("i", "e")];

/// Letters behind these are no initials: "we take option B. Rust is faster".
const LETTERED: &[&str] = &[
    "appendix", "case", "class", "do", "drive", "for", "go", "grade", "group", "in", "like",
    "option", "or", "part", "phase", "plan", "point", "step", "take", "team", "than", "to", "type",
    "use", "variant", "variante", "version", "vitamin", "with",
];

/// Tells whether the full stop between what was said and the rest ends no sentence. `said` has no
/// stop at its end, and the rest begins behind it.
pub(crate) fn is_abbreviated(said: &str, rest: &str) -> bool {
    let Some(next) = rest.trim_start().chars().next() else { return false };
    let mut words = said.rsplit(|letter: char| letter.is_whitespace() || letter == '(');
    let last = words.next().unwrap_or_default();
    let bare = last.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let (lower, before) = (bare.to_lowercase(), words.next().unwrap_or_default());
    let is = |list: &[&str]| list.contains(&lower.as_str());
    if next.is_lowercase() && (is(TITLES) || is(LISTING)) || next.is_alphanumeric() && is(JOINING) {
        return true;
    }
    if next.is_numeric() && is(BEFORE_FIGURES) {
        // "is it so? no. 4 of them" denies something.
        return lower != "no" || !before.is_empty() || bare.starts_with('N');
    }
    next.is_uppercase() && is(TITLES)
        || is_half(before, &lower, rest)
        || next.is_uppercase() && is_initial(before, bare, rest)
}

/// The first or the second half of "z. B."
fn is_half(before: &str, last: &str, rest: &str) -> bool {
    let first = before.strip_suffix('.').map(str::to_lowercase);
    let next = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
    IN_TWO.iter().any(|(one, other)| {
        last == *other && first.as_deref() == Some(*one)
            || last == *one && next.strip_suffix('.') == Some(*other)
    })
}

/// "J. Smith", "John F. Kennedy": one capital, and a name behind it.
fn is_initial(before: &str, last: &str, rest: &str) -> bool {
    let mut letters = last.chars();
    let is_letter = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    let word =
        |text: &str| text.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let next = word(rest.split_whitespace().next().unwrap_or_default());
    // Who is called "I" speaks of themselves.
    is_letter && last != "I" && !LETTERED.contains(&word(before).as_str()) && !is_stop_word(&next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_and_initials_end_nothing() {
        let check = |said: &str, rest: &str, expect: bool| {
            assert_eq!(is_abbreviated(said, rest), expect, "{said}.{rest}");
        };
        check("to be asked of Dr", " Okonkwo says", true);
        check("Ask Prof", " Ito", true);
        check("the church of St", " Mary", true);
        check("see e.g", " the log", true);
        check("Firmen bzw", " Kunden", true);
        check("das ist z", " B. so", true);
        check("das ist z. B", " Kunden", true);
        check("tabs vs", " spaces", true);
        check("see No", " 3 of them", true);
        check("see no", " 3 of them", true);
        check("(approx", " 5", true);
        check("by J", " Smith", true);
        check("John F", " Kennedy", true);
        check("logs, dumps etc", " are kept", true);
        for (said, rest) in [
            ("no", " January"),
            ("no", " 4 of them"),
            ("logs, dumps etc", " Then we stop"),
            ("we take option B", " Rust is faster"),
            ("it was C", " The rest failed"),
            ("so do I", " Tabs it is"),
            ("the doctor", " Okonkwo says"),
            ("Ask the prof", ""),
            ("the minimum is 3", " Then"),
        ] {
            check(said, rest, false);
        }
    }
}
