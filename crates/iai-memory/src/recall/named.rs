//! The project that a cue names: "in kestrel", "of the warehouse-sync repo". Only projects of the
//! store are known by name, by the last part of their path.

use std::ops::Range;

use super::RecallAsk;
use super::cue::Cue;
use super::when::{Asked, is_telling};
use crate::attributes::{month_of, weekday_of};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::is_stop_word;

/// A shorter name may be any word.
const NAME_LETTERS_MIN: usize = 4;
/// Folders that are called so are what people talk of, in whatever project.
const ANY_NAME: &str = "\
     code work home main test tests docs apps project projects repo repos site page pages server \
     client clients service services backend frontend tools scripts build data demo example \
     examples website packages workspace temp local root model models config infra prod staging \
     production mobile memory search time auth core shop store admin billing payments dashboard \
     editor game games blog rust python java javascript typescript node react linux windows \
     android cloud database cache queue worker library plugin plugins theme notes report reports \
     email chat video music photos private public shared common utils platform system product \
     release releases parser index team";
/// A project stands behind these …
const PLACE: &str = "\
     in at for on of from to with about within inside im bei für von aus mit über dans pour chez \
     sur avec en para de con sobre в для из по с о";
const ARTICLES: &str = "the our my this that der die das dem den la le el los";
/// … or before these, whatever it is called.
const KIND: &str = "project repo repository codebase projekt projet proyecto";

/// A project that a cue names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) project: String,
    /// The cue, with "it" in place of the name.
    pub(crate) rest: String,
}

impl MemoryEngine {
    /// Has a cue mean the project it names. Who asks what was there at some time asks for nothing
    /// of another project; who asks for more only prefers it.
    pub(super) fn bind_to_project(
        &self,
        cue: &mut Cue,
        ask: &mut RecallAsk,
        asked: Asked,
    ) -> Result<()> {
        let named = self.with_index(|index| {
            named_in(&cue.text, index.catalogue().projects(), ask.asked_from.as_deref())
        })?;
        let is_meant = |named: &Named| ask.project.as_ref().is_none_or(|own| *own == named.project);
        if let Some(named) = named.filter(is_meant) {
            cue.bind_to_project(named, asked);
            if cue.is_only_time {
                ask.project.clone_from(&cue.project);
            }
        }
        Ok(())
    }
}

/// Returns the one project that a text names as a place. Where two are called the same, the one it
/// is asked from is meant, or the first.
fn named_in<'a>(
    text: &str,
    projects: impl Iterator<Item = &'a str>,
    asked_from: Option<&str>,
) -> Option<Named> {
    let words = words_at(text);
    let said = projects.filter_map(|project| Some((place_of(text, &words, project)?, project)));
    let said: Vec<(Range<usize>, &str)> = said.collect();
    // The longest: "lantern-web" does not name "lantern".
    let longest = said.iter().max_by_key(|(range, project)| {
        (range.len(), asked_from == Some(*project), std::cmp::Reverse(*project))
    })?;
    let (range, project) = longest.clone();
    let is_other = |other: &Range<usize>| other.end <= range.start || range.end <= other.start;
    let name = last_words(project);
    if said.iter().any(|(other, of)| is_other(other) && last_words(of) != name) {
        return None;
    }
    let rest = format!("{}it{}", text.get(..range.start)?, text.get(range.end..)?);
    Some(Named { project: project.to_owned(), rest })
}

/// Returns where a text names a project as a place, with the word that says what it is.
fn place_of(text: &str, words: &[(Range<usize>, String)], project: &str) -> Option<Range<usize>> {
    let name = last_words(project);
    if name.is_empty() {
        return None;
    }
    let is_name = |run: &[(Range<usize>, String)]| run.iter().map(|(_, word)| word).eq(name.iter());
    let runs = words.windows(name.len()).enumerate().filter(|(_, run)| is_name(run));
    let mut places = runs.filter_map(|(at, run)| {
        let range = run.first()?.0.start..run.last()?.0.end;
        let next = words.get(at + name.len());
        let is_part = text.get(..range.start)?.ends_with(JOINTS)
            || text.get(range.end..)?.starts_with(JOINTS)
                && next.is_some_and(|(next, _)| next.start == range.end + 1);
        let is_place = behind_articles(words.get(..at)?).is_some_and(|word| has(PLACE, word));
        let kind = next.filter(|(_, word)| has(KIND, word));
        // Nobody writes "lantern-web" and means anything else.
        let is_joined = 1 < name.len() && !text.get(range.clone())?.contains(char::is_whitespace);
        let is_named = (is_place || is_joined) && is_telling_name(project, &name) || kind.is_some();
        let end = kind.map_or(range.end, |(kind, _)| kind.end);
        (!is_part && is_named).then_some(range.start..end)
    });
    places.next()
}

/// Returns the last of these words that is no article: "of the warehouse sync".
fn behind_articles(words: &[(Range<usize>, String)]) -> Option<&str> {
    let mut before = words.iter().rev().map(|(_, word)| word.as_str());
    before.find(|word| !has(ARTICLES, word))
}

/// What joins a name to another word: "kestrel-parser", `kestrel.toml`.
const JOINTS: [char; 4] = ['-', '_', '.', '/'];

/// Tells whether a name can only be that of a project.
fn is_telling_name(project: &str, name: &[String]) -> bool {
    let n_letters: usize = name.iter().map(|word| word.chars().count()).sum();
    let mut parts = project.rsplit(['/', '\\']).filter(|part| !part.is_empty());
    // A home is called like its user.
    let is_home = parts.nth(1).is_some_and(|parent| matches!(parent, "home" | "Users"));
    let is_any = |word: &String| {
        has(ANY_NAME, word)
            || is_stop_word(word)
            || !is_telling(word)
            || month_of(word).or(weekday_of(word)).is_some()
    };
    NAME_LETTERS_MIN <= n_letters && !is_home && !name.iter().all(is_any)
}

/// The words of the last part of a path.
fn last_words(project: &str) -> Vec<String> {
    let last = project.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
    words_at(last).into_iter().map(|(_, word)| word).collect()
}

/// Cuts text into lower-case words, each with where it stands.
fn words_at(text: &str) -> Vec<(Range<usize>, String)> {
    let mut words: Vec<(Range<usize>, String)> = Vec::new();
    for (at, letter) in text.char_indices().filter(|(_, letter)| letter.is_alphanumeric()) {
        let end = at + letter.len_utf8();
        match words.last_mut() {
            Some((range, word)) if range.end == at => {
                range.end = end;
                word.extend(letter.to_lowercase());
            }
            _ => words.push((at..end, letter.to_lowercase().collect())),
        }
    }
    words
}

fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|own| own == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECTS: [&str; 10] = [
        "/src/kestrel",
        "/src/lantern",
        "/src/lantern-web",
        "/src/warehouse-sync",
        "/src/search",
        "/old/tidepool",
        "/src/tidepool",
        "/home/alice",
        "/src/May",
        "/src/api",
    ];

    #[track_caller]
    fn check(text: &str, expect: Option<(&str, &str)>) {
        let found = named_in(text, PROJECTS.into_iter(), Some("/src/tidepool"));
        let expect = expect
            .map(|(project, rest)| Named { project: project.to_owned(), rest: rest.to_owned() });
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn a_project_is_named_as_a_place() {
        check("what broke in kestrel?", Some(("/src/kestrel", "what broke in it?")));
        check("the port of Kestrel's API", Some(("/src/kestrel", "the port of it's API")));
        check("we did in the kestrel repo", Some(("/src/kestrel", "we did in the it")));
        check("kestrel project in May", Some(("/src/kestrel", "it in May")));
        check("done for lantern-web", Some(("/src/lantern-web", "done for it")));
        check("done for lantern.", Some(("/src/lantern", "done for it.")));
        check("in warehouse sync in May", Some(("/src/warehouse-sync", "in it in May")));
        check("bei tidepool gestern", Some(("/src/tidepool", "bei it gestern")));
        check("moved into lantern-web", Some(("/src/lantern-web", "moved into it")));
        check("the lantern-web port", Some(("/src/lantern-web", "the it port")));
        check("port of the warehouse sync", Some(("/src/warehouse-sync", "port of the it")));
        check("in the search project", Some(("/src/search", "in the it")));
    }

    #[test]
    fn other_words_name_none() {
        for text in [
            "",
            "which kestrel is it",
            "in kestrel-parser",
            "in kestrel.toml",
            "in my-kestrel",
            "what changed in search",
            "what did we do for alice",
            "what changed in May",
            "the port of the api",
            "in kestrel and in tidepool",
            "in kestrels",
        ] {
            check(text, None);
        }
    }
}
