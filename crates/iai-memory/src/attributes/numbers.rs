//! Small numbers that are written as words, in a few languages.

/// By language, from one on. A word that is an article too is none: what it counts, if anything, is
/// for the reader to say.
const NUMBERS: [&str; 6] = [
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen",
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn",
    "- deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze",
    "- dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince",
    "один два три четыре пять шесть семь восемь девять десять",
    "одна две",
];

/// Returns the number that a word in lower case stands for.
pub(crate) fn number_of(word: &str) -> Option<usize> {
    let find = |names: &&str| names.split(' ').position(|name| name == word && name != "-");
    Some(NUMBERS.iter().find_map(find)? + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_known_in_every_language_and_articles_are_none() {
        for (word, expect) in [
            ("one", Some(1)),
            ("eins", Some(1)),
            ("fourteen", Some(14)),
            ("zwölf", Some(12)),
            ("quinze", Some(15)),
            ("doce", Some(12)),
            ("одна", Some(1)),
            ("две", Some(2)),
            ("ein", None),
            ("un", None),
            ("-", None),
            ("twenty", None),
        ] {
            assert_eq!(number_of(word), expect, "{word}");
        }
    }
}
