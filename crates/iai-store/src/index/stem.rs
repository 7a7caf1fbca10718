//! Reduces an English word to the stem its forms share, after Porter's second algorithm.
//!
//! Written here, because the crates that do it bring two dozen other languages along.

/// Whole words that the rules would get wrong, and their stems.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("skis", "ski"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("idly", "idl"),
    ("gently", "gentl"),
    ("ugly", "ugli"),
    ("early", "earli"),
    ("only", "onli"),
    ("singly", "singl"),
    ("sky", "sky"),
    ("news", "news"),
    ("https", "https"),
    ("howe", "howe"),
    ("atlas", "atlas"),
    ("cosmos", "cosmos"),
    ("bias", "bias"),
    ("andes", "andes"),
];
/// Words that stay as they are once their plural is gone.
const FINISHED: &[&str] =
    &["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"];
/// Beginnings after which the first region starts, whatever their vowels.
const BEGINNINGS: &[&str] = &["gener", "commun", "arsen"];

/// Endings replaced when they stand in the first region, longest first.
const SECOND: &[(&str, &str)] = &[
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
];
const THIRD: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];
/// Endings dropped when they stand in the second region, longest first.
const FOURTH: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic",
];

/// Reduces a word of lower-case ASCII letters to its stem; other words must not come here.
pub(crate) fn stem(word: &mut String) {
    if word.len() < 3 {
        return;
    }
    if let Some((_, known)) = EXCEPTIONS.iter().find(|(whole, _)| whole == word) {
        word.clear();
        word.push_str(known);
        return;
    }
    mark_consonants(word);
    let regions = Regions::of(word);
    drop_plural(word);
    if !FINISHED.contains(&word.as_str()) {
        drop_tense(word, regions);
        soften_y(word);
        replace_in_first(word, regions);
        drop_in_both(word, regions);
        drop_last_letter(word, regions);
    }
    word.make_ascii_lowercase();
}

/// Where the two regions begin, in bytes: behind the first consonant that follows a vowel, and the
/// same once more.
#[derive(Clone, Copy)]
struct Regions {
    first: usize,
    second: usize,
}

impl Regions {
    fn of(word: &str) -> Self {
        let first = BEGINNINGS
            .iter()
            .find(|start| word.starts_with(**start))
            .map_or_else(|| region_after(word, 0), |start| start.len());
        Self { first, second: region_after(word, first) }
    }
}

fn region_after(word: &str, start: usize) -> usize {
    let letters = word.as_bytes().get(start..).unwrap_or_default();
    letters
        .iter()
        .zip(letters.iter().skip(1))
        .position(|(one, next)| is_vowel(*one) && !is_vowel(*next))
        .map_or(word.len(), |place| start.saturating_add(place).saturating_add(2))
}

/// A `y` at the beginning or after a vowel is a consonant, written `Y` until the end.
fn mark_consonants(word: &mut String) {
    if !word.contains('y') {
        return;
    }
    let mut marked = String::with_capacity(word.len());
    for letter in word.chars() {
        let after = marked.bytes().next_back();
        let is_consonant = letter == 'y' && after.is_none_or(is_vowel);
        marked.push(if is_consonant { 'Y' } else { letter });
    }
    *word = marked;
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

fn has_vowel(text: &str) -> bool {
    text.bytes().any(is_vowel)
}

fn begin_of<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    word.strip_suffix(ending)
}

fn replace_ending(word: &mut String, ending: &str, with: &str) {
    word.truncate(word.len().saturating_sub(ending.len()));
    word.push_str(with);
}

fn drop_plural(word: &mut String) {
    if word.ends_with("sses") {
        replace_ending(word, "sses", "ss");
    } else if word.ends_with("ied") || word.ends_with("ies") {
        let with = if word.len() > 4 { "i" } else { "ie" };
        replace_ending(word, "ies", with);
    } else if word.ends_with('s') && !word.ends_with("us") && !word.ends_with("ss") {
        let before = word.get(..word.len().saturating_sub(2)).unwrap_or_default();
        // Letters without a vowel are short for something, of which there may be several.
        let is_short_form = 2 < word.len() && !has_vowel(word);
        if has_vowel(before) || is_short_form {
            word.pop();
        }
    }
}

fn drop_tense(word: &mut String, regions: Regions) {
    for ending in ["eedly", "eed"] {
        if let Some(begin) = begin_of(word, ending) {
            if begin.len() >= regions.first {
                replace_ending(word, ending, "ee");
            }
            return;
        }
    }
    for ending in ["ingly", "edly", "ing", "ed"] {
        let Some(begin) = begin_of(word, ending) else { continue };
        if has_vowel(begin) {
            word.truncate(begin.len());
            mend(word, regions);
        }
        return;
    }
}

/// Gives back the `e`, or takes the doubled letter, that a dropped ending had changed.
fn mend(word: &mut String, regions: Regions) {
    let needs_e = ["at", "bl", "iz"].iter().any(|end| word.ends_with(end));
    if needs_e {
        word.push('e');
    } else if ends_doubled(word) {
        word.pop();
    } else if word.len() <= regions.first && ends_short(word) {
        word.push('e');
    }
}

fn ends_doubled(word: &str) -> bool {
    let mut back = word.bytes().rev();
    let last = back.next();
    last == back.next()
        && matches!(last, Some(b'b' | b'd' | b'f' | b'g' | b'm' | b'n' | b'p' | b'r' | b't'))
}

/// Tells whether a word ends in a short syllable.
fn ends_short(word: &str) -> bool {
    let mut back = word.bytes().rev();
    match (back.next(), back.next(), back.next()) {
        (Some(last), Some(middle), None) => is_vowel(middle) && !is_vowel(last),
        (Some(last), Some(middle), Some(before)) => {
            is_vowel(middle)
                && !is_vowel(last)
                && !matches!(last, b'w' | b'x' | b'Y')
                && !is_vowel(before)
        }
        _ => false,
    }
}

fn soften_y(word: &mut String) {
    let mut back = word.bytes().rev();
    let (last, before) = (back.next(), back.next());
    let is_inside = back.next().is_some();
    if matches!(last, Some(b'y' | b'Y')) && is_inside && before.is_some_and(|b| !is_vowel(b)) {
        replace_ending(word, "y", "i");
    }
}

fn replace_in_first(word: &mut String, regions: Regions) {
    let is_inside = |begin: &str| begin.len() >= regions.first;
    if let Some((ending, with)) = SECOND.iter().find(|(ending, _)| word.ends_with(ending)) {
        if begin_of(word, ending).is_some_and(is_inside) {
            replace_ending(word, ending, with);
        }
    } else if let Some(begin) = begin_of(word, "ogi") {
        if is_inside(begin) && begin.ends_with('l') {
            replace_ending(word, "ogi", "og");
        }
    } else if let Some(begin) = begin_of(word, "li") {
        let is_valid = begin.ends_with(['c', 'd', 'e', 'g', 'h', 'k', 'm', 'n', 'r', 't']);
        if is_inside(begin) && is_valid {
            replace_ending(word, "li", "");
        }
    }
    if let Some((ending, with)) = THIRD.iter().find(|(ending, _)| word.ends_with(ending)) {
        if begin_of(word, ending).is_some_and(|begin| begin.len() >= regions.first) {
            replace_ending(word, ending, with);
        }
    } else if begin_of(word, "ative").is_some_and(|begin| begin.len() >= regions.second) {
        replace_ending(word, "ative", "");
    }
}

fn drop_in_both(word: &mut String, regions: Regions) {
    let is_inside = |begin: &str| begin.len() >= regions.second;
    if let Some(ending) = FOURTH.iter().find(|ending| word.ends_with(**ending)) {
        if begin_of(word, ending).is_some_and(is_inside) {
            replace_ending(word, ending, "");
        }
    } else if let Some(begin) = begin_of(word, "ion")
        && is_inside(begin)
        && begin.ends_with(['s', 't'])
    {
        replace_ending(word, "ion", "");
    }
}

fn drop_last_letter(word: &mut String, regions: Regions) {
    if let Some(begin) = begin_of(word, "e") {
        let in_second = begin.len() >= regions.second;
        if in_second || (begin.len() >= regions.first && !ends_short(begin)) {
            word.pop();
        }
    } else if begin_of(word, "l").is_some_and(|b| b.len() >= regions.second && b.ends_with('l')) {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_word_share_a_stem() {
        for (word, expect) in [
            ("cats", "cat"),
            ("running", "run"),
            ("runs", "run"),
            ("hopping", "hop"),
            ("hoping", "hope"),
            ("hoped", "hope"),
            ("caresses", "caress"),
            ("ties", "tie"),
            ("cries", "cri"),
            ("cry", "cri"),
            ("by", "by"),
            ("say", "say"),
            ("gas", "gas"),
            ("gaps", "gap"),
            ("kiwis", "kiwi"),
            ("agreed", "agre"),
            ("feed", "feed"),
            ("luxuriating", "luxuri"),
            ("fixed", "fix"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("generalization", "general"),
            ("generally", "general"),
            ("generous", "generous"),
            ("communication", "communic"),
            ("hopefulness", "hope"),
            ("rationally", "ration"),
            ("analogy", "analog"),
            ("knightly", "knight"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("effective", "effect"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("controlling", "control"),
            ("controlled", "control"),
            ("roll", "roll"),
            ("youth", "youth"),
            ("boyish", "boyish"),
            ("dying", "die"),
            ("news", "news"),
            ("https", "https"),
            ("exceeding", "exceed"),
            ("retries", "retri"),
            ("retry", "retri"),
            ("policies", "polici"),
            ("policy", "polici"),
            ("connection", "connect"),
            ("connected", "connect"),
            ("connecting", "connect"),
            ("stores", "store"),
            ("stored", "store"),
            ("storing", "store"),
            ("indexes", "index"),
            ("indexing", "index"),
            ("is", "is"),
            ("a", "a"),
        ] {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, expect, "{word}");
        }
    }
}
