//! Names a topic by phrases its memories share and others do not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use iai_store::Memory;

use crate::organise::terms::{Direction, is_alike, may_tell};

/// Phrases of one topic.
const PHRASES_MAX: usize = 3;
/// A phrase stands in at least so many of the memories …
const MEMORIES_MIN: usize = 2;
/// … and in at least this share of them.
const MEMORIES_SHARE: usize = 8;
/// Two words that belong together say more than one.
const PAIR_GAIN: f32 = 1.2;

/// Words of the work itself: they are said about everything, and name nothing.
const WORK_WORDS: &str = "
    add added adding adds agreed asked bug bugs build builds built call called calls change changed
    changes changing check checked checks close closed code come comes diff diffs done empty error
    errors explain explained fail failed failing fails feature file files find fine finished fix
    fixed fixes folder found function functions gone great green happen happened hard help issue
    issues keep keeps kept last left line lines list long merged message messages missing move moved
    moves name named names next noted open opened part passed perfect place problem problems
    question read reads ready red remove removed rename renamed review reviewed run running runs
    save saved send sends sent set sets short show shown shows small somebody something start
    started starts step steps stop stopped takes test tested testing tests time times top took
    understood update updated updates verify warning warnings work worked working works write
    writes written wrong wrote
    datei dateien fehler geändert test tests zeile zeilen файл файлы ошибка тест тесты
    fichier fichiers erreur archivo archivos prueba pruebas";

fn is_work_word(word: &str) -> bool {
    static KNOWN: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| WORK_WORDS.split_whitespace().collect());
    KNOWN.contains(word)
}

/// Returns one to three phrases, the most telling first; none when the memories share no word.
pub(super) fn phrases_of<'a>(
    centre: &Direction,
    memories: impl ExactSizeIterator<Item = &'a Memory>,
) -> Vec<String> {
    let n_memories = memories.len();
    let mut seen_in: BTreeMap<String, usize> = BTreeMap::new();
    for memory in memories {
        for phrase in candidates(&memory.text) {
            *seen_in.entry(phrase).or_default() += 1;
        }
    }
    let n_min = MEMORIES_MIN.max(n_memories / MEMORIES_SHARE);
    let shared = seen_in.into_iter().filter(|(_, n)| n_min <= *n);
    let mut ranked: Vec<(f32, String)> = shared
        .map(|(phrase, n)| (worth(centre, &phrase, n), phrase))
        .filter(|(worth, _)| 0.0 < *worth)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut phrases: Vec<String> = Vec::new();
    for (_, phrase) in ranked {
        let repeats = |known: &String| {
            phrase.split(' ').any(|word| known.split(' ').any(|known| is_alike(word, known)))
        };
        if phrases.len() < PHRASES_MAX && !phrases.iter().any(repeats) {
            phrases.push(phrase);
        }
    }
    phrases
}

/// Words, and pairs of words that stand together, each once.
fn candidates(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_cut = |letter: char| !letter.is_alphanumeric() && !matches!(letter, '-' | '_' | ' ');
    for piece in text.split(is_cut) {
        let mut before: Option<String> = None;
        for word in piece.split_whitespace() {
            let word = word.trim_matches(['-', '_']).to_lowercase();
            let tells = word.split(['-', '_']).all(may_tell) && !is_work_word(&word);
            if tells && let Some(before) = &before {
                found.insert(format!("{before} {word}"));
            }
            before = tells.then(|| word.clone());
            found.extend(tells.then_some(word));
        }
    }
    found
}

/// How often it is said here, times how much its words tell.
#[expect(clippy::cast_precision_loss, reason = "a count of memories and of words")]
fn worth(centre: &Direction, phrase: &str, n_memories: usize) -> f32 {
    let words: Vec<&str> = phrase.split([' ', '-', '_']).collect();
    let tells = words.iter().map(|word| centre.weight(word)).sum::<f32>() / words.len() as f32;
    let gain = if phrase.contains(' ') { PAIR_GAIN } else { 1.0 };
    tells * gain * (n_memories as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_words_that_stand_together() {
        let found = candidates("The retry policy, of billing-service: retry_count");
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, ["billing-service", "policy", "retry", "retry policy", "retry_count"]);
    }

    #[test]
    fn words_of_the_work_itself_name_no_topic() {
        let found = candidates("Show me the diff of the changed files; the tests of billing run.");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["billing"]);
    }
}
