//! Rules that find commands, names and preferences in a text.

use std::collections::BTreeMap;

use iai_store::FactKind;
use serde_json::Value;

use crate::attributes::{commands_in_prose, counted_in_line, language_of};
use crate::organise::terms::{is_stop_word, may_tell};
use crate::remarks::beginning;

/// A fact's name is at most so long; longer ones are data.
const NAME_CHARS_MAX: usize = 80;
/// Words of a preference after the word that states it.
const PREFERENCE_WORDS_MAX: usize = 7;
/// Verbs that state a preference.
const STATING: &[&str] = &["use", "prefer", "want", "like", "using", "run", "choose"];
/// Names of one text that count.
const NAMES_MAX: usize = 12;

/// Takes the commands that the assistant ran before it said something.
pub(super) fn commands_run(provenance: &Value) -> Vec<(FactKind, String)> {
    let run = provenance.get("commands").and_then(Value::as_array);
    let lines = run.into_iter().flatten().filter_map(Value::as_str);
    lines.flat_map(counted_in_line).filter_map(fact_of).collect()
}

/// In so much of a text commands are looked for.
const COMMANDS_BYTES_MAX: usize = 32 * 1024;

/// Finds commands in backticks, in code blocks, after a prompt, and where somebody says that they
/// are run.
pub(super) fn commands_in(text: &str) -> Vec<(FactKind, String)> {
    let mut is_code = false;
    let mut commands = Vec::new();
    for line in beginning(text, COMMANDS_BYTES_MAX).lines() {
        let line = line.trim();
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code || line.starts_with("$ ") {
            commands.extend(counted_in_line(line.trim_start_matches("$ ")));
        } else {
            for (place, piece) in line.split('`').enumerate() {
                match place % 2 {
                    0 => commands.extend(spoken_in(piece, place == 0)),
                    _ => commands.extend(counted_in_line(piece.trim_start_matches("$ "))),
                }
            }
        }
    }
    commands.into_iter().filter_map(fact_of).collect()
}

/// What somebody says is not to be run is no habit.
fn spoken_in(piece: &str, is_line_start: bool) -> impl Iterator<Item = String> {
    let spoken = commands_in_prose(piece, is_line_start).into_iter();
    let run = spoken.filter(|command| !command.is_refused);
    run.filter_map(|command| counted_in_line(command.names.first()?).into_iter().next())
}

fn fact_of(command: String) -> Option<(FactKind, String)> {
    (command.chars().count() <= NAME_CHARS_MAX).then_some((FactKind::Command, command))
}

/// Finds what the user asks for in general: always, never, prefer, use this and not that.
pub(super) fn preferences_in(text: &str) -> Vec<(FactKind, String)> {
    let mut found = Vec::new();
    for sentence in text.split(['.', '!', '?', '\n', ';', ':']) {
        let words: Vec<Word> = sentence
            .split_whitespace()
            .map(Word::of)
            .filter(|word| !word.bare.is_empty())
            .collect();
        if let Some(preference) = preference_of(&words)
            && preference.chars().count() <= NAME_CHARS_MAX
        {
            found.push((FactKind::Preference, preference));
        }
    }
    found
}

/// A word in lower case without what stands around it.
struct Word {
    bare: String,
    /// Whether a comma or a bracket stands behind it.
    is_last: bool,
}

impl Word {
    fn of(word: &str) -> Self {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let bare = bare.to_lowercase().replace('’', "'");
        Self { bare, is_last: word.ends_with([',', ')']) }
    }

    fn tells(&self) -> bool {
        may_tell(&self.bare) && !STATING.contains(&self.bare.as_str())
    }
}

fn preference_of(words: &[Word]) -> Option<String> {
    contrast(words).or_else(|| general(words))
}

/// "use pnpm not npm", "prefer pnpm over npm", "pnpm instead of npm".
fn contrast(words: &[Word]) -> Option<String> {
    for (place, word) in words.iter().enumerate() {
        let next = words.get(place + 1).map(|next| next.bare.as_str());
        let after = match (word.bare.as_str(), next) {
            ("instead", Some("of")) | ("rather", Some("than")) => place + 2,
            ("not", Some(_)) | ("over", Some(_)) => place + 1,
            _ => continue,
        };
        let before = words.get(..place).unwrap_or_default();
        let states = before.iter().any(|word| STATING.contains(&word.bare.as_str()));
        let wanted = wanted_at_end(before);
        let unwanted = unwanted_at_start(words.get(after..).unwrap_or_default());
        if let (true, Some(wanted), Some(unwanted)) = (states, wanted, unwanted)
            && wanted != unwanted
        {
            return Some(format!("prefers {wanted} to {unwanted}"));
        }
    }
    None
}

/// The last words before "not": "cargo nextest" of "use cargo nextest, not".
fn wanted_at_end(words: &[Word]) -> Option<String> {
    let (last, before) = words.split_last()?;
    let first = before.last().filter(|word| word.tells() && !word.is_last);
    last.tells().then(|| joined(first, last))
}

/// The first words after "not": "cargo test" of "not cargo test, please".
fn unwanted_at_start(words: &[Word]) -> Option<String> {
    let place = words.iter().position(|word| !is_stop_word(&word.bare))?;
    let first = words.get(place).filter(|word| word.tells())?;
    let second = words.get(place + 1).filter(|word| word.tells() && !first.is_last);
    Some(second.map_or_else(|| first.bare.clone(), |second| joined(Some(first), second)))
}

fn joined(first: Option<&Word>, second: &Word) -> String {
    first.map_or_else(|| second.bare.clone(), |first| format!("{} {}", first.bare, second.bare))
}

/// "always run the linter before a commit", "never push to main".
fn general(words: &[Word]) -> Option<String> {
    let place = words.iter().position(|word| matches!(word.bare.as_str(), "always" | "never"))?;
    // "it always fails" tells about the world; a wish begins the sentence or follows a request.
    let is_wish = words.iter().take(place).all(|word| {
        matches!(
            word.bare.as_str(),
            "please" | "we" | "i" | "you" | "and" | "so" | "ok" | "should" | "must"
        )
    });
    let rest: Vec<&str> = words
        .iter()
        .skip(place + 1)
        .take(PREFERENCE_WORDS_MAX)
        .map(|word| word.bare.as_str())
        .collect();
    let n_telling = rest.iter().filter(|word| may_tell(word)).count();
    let states = &words.get(place)?.bare;
    (is_wish && 2 <= n_telling).then(|| format!("{states} {}", rest.join(" ")))
}

/// The opposite of a preference, when it has one.
pub(in crate::organise) fn opposite_of(preference: &str) -> Option<String> {
    if let Some(rest) = preference.strip_prefix("always ") {
        return Some(format!("never {rest}"));
    }
    if let Some(rest) = preference.strip_prefix("never ") {
        return Some(format!("always {rest}"));
    }
    let (wanted, unwanted) = preference.strip_prefix("prefers ")?.split_once(" to ")?;
    Some(format!("prefers {unwanted} to {wanted}"))
}

/// Finds names: words in backticks, words with capitals inside, and words that are capitalised in
/// the middle of a sentence. The most frequent of a text count.
pub(super) fn names_in(text: &str) -> Vec<(FactKind, String)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_code = false;
    // In German every noun has a capital: it names nothing.
    let capitals = if language_of(text) == Some("de") { Capitals::Nouns } else { Capitals::Names };
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if !is_code {
            names_of_line(line, capitals, &mut counts);
        }
    }
    let mut names: Vec<(usize, String)> = counts.into_iter().map(|(name, n)| (n, name)).collect();
    names.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    names.into_iter().take(NAMES_MAX).map(|(_, name)| (FactKind::Entity, name)).collect()
}

/// What a capital at the beginning of a word is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Capitals {
    Names,
    Nouns,
}

fn names_of_line(line: &str, capitals: Capitals, counts: &mut BTreeMap<String, usize>) {
    let mut is_first = true;
    for word in line.split_whitespace() {
        let is_quoted = word.starts_with('`') && word.trim_end_matches(['.', ',']).ends_with('`');
        let name = without_ending(word.trim_matches(|letter: char| !letter.is_alphanumeric()));
        let may_name = capitals == Capitals::Names && !is_first;
        let is_named = is_quoted || has_inner_capital(name) || may_name && is_capitalised(name);
        if is_named && may_tell(&name.to_lowercase()) && name.chars().count() <= 40 {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
        is_first = word.ends_with(['.', '!', '?', ':']) || name.is_empty();
    }
}

/// "Anna's" is Anna, "I'll" and "I'm" are nobody; "O'Brien" stays.
fn without_ending(name: &str) -> &str {
    match name.split_once(['\'', '’']) {
        // "Don't" is not Don.
        Some((_, "t")) => "",
        Some((stem, rest)) if !rest.starts_with(char::is_uppercase) => stem,
        _ => name,
    }
}

fn is_capitalised(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase)
}

/// `handleLogin`, `HTTP2`, `retry_count`, `main.rs`.
fn has_inner_capital(word: &str) -> bool {
    let letters: Vec<char> = word.chars().collect();
    let is_camel = letters.windows(2).any(|pair| match pair {
        [before, after] => before.is_lowercase() && after.is_uppercase(),
        _ => false,
    });
    let is_joined = word.is_ascii()
        && (word.contains('_')
            || word.rsplit_once('.').is_some_and(|(stem, end)| {
                (1..=5).contains(&end.len())
                    && stem.len() > 1
                    && end.chars().all(|c| c.is_ascii_lowercase())
            }));
    is_camel || is_joined
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(facts: Vec<(FactKind, String)>) -> Vec<String> {
        facts.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn commands_are_cut_before_their_arguments() {
        let check = |text: &str, expect: &[&str]| assert_eq!(names(commands_in(text)), expect);
        check("run `cargo nextest run -p iai-store`, then", &["cargo nextest run"]);
        check(
            "```\n$ git commit -m 'x'\npytest tests/\nlet go = 1;\n```",
            &["git commit", "pytest"],
        );
        check("$ npm install --save react && ls", &["npm install"]);
        check("the `go` keyword and `ls -la`", &[]);
        check("make sure it works", &[]);
        check("make clean && make test", &["make clean", "make test"]);
        check("run the tests with cargo nextest, then `git push`", &["cargo nextest", "git push"]);
        check("never run git push on Fridays", &[]);
    }

    #[test]
    fn what_was_run_counts() {
        let check = |provenance: Value, expect: &[&str]| {
            assert_eq!(names(commands_run(&provenance)), expect, "{provenance}");
        };
        check(json!({"commands": ["flutter test", "ls", "git add"]}), &["flutter test", "git add"]);
        for nothing in [json!({}), json!(null), json!({"commands": "git add"}), json!([1])] {
            check(nothing, &[]);
        }
    }

    #[test]
    fn preferences_are_what_is_asked_for_in_general() {
        let check = |text: &str, expect: &[&str]| assert_eq!(names(preferences_in(text)), expect);
        check("Please use pnpm, not npm.", &["prefers pnpm to npm"]);
        check("I prefer tabs over spaces!", &["prefers tabs to spaces"]);
        check("Use nextest, not cargo test, before you push", &["prefers nextest to cargo test"]);
        check("I prefer small commits over big ones", &["prefers small commits to big ones"]);
        check("use ruff instead of flake8", &["prefers ruff to flake8"]);
        check("Always run the linter before pushing", &["always run the linter before pushing"]);
        check("we never deploy on Fridays", &["never deploy on fridays"]);
        check("It always fails on the second try", &[]);
        check("that is not right, over there", &[]);
        assert_eq!(opposite_of("prefers a to b").as_deref(), Some("prefers b to a"));
        assert_eq!(opposite_of("never push"), Some("always push".to_owned()));
        assert_eq!(opposite_of("tabs"), None);
    }

    #[test]
    fn names_have_capitals_or_joints() {
        let check = |text: &str, expect: &[&str]| assert_eq!(names(names_in(text)), expect);
        check(
            "The server uses Postgres and handleLogin in main.rs",
            &["Postgres", "handleLogin", "main.rs"],
        );
        check("Everything works. Nothing here", &[]);
        check("so I'll ask, and I'm sure, «Don't» said Anna’s O'Brien", &["Anna", "O'Brien"]);
        check("`billing` broke\n```\nlet fooBar = 1;\n```", &["billing"]);
        let german = "Ich habe die Liste und das Bild in zwei Dateien geteilt, mit handleLogin";
        check(german, &["handleLogin"]);
    }
}
