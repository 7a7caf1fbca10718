//! What the user said since about the same thing as a wish or a decision, as far as it may be told
//! in this project.

use iai_store::{Reader, Remark, RemarkKind, Sequel};

use super::material::may_be_told;
use super::told::Since;
use crate::error::Result;
use crate::organise::has_alike;
use crate::recall::telling_words;
use crate::remarks::{ANY_WISH, is_of_one_place, is_one_of, sentences, stem};

/// What is told of it at most, in bytes, unless its first sentence is longer.
const TOLD_BYTES_MAX: usize = 200;
/// Of so many hundredths of the nearest's nearness, a later one is as near.
const NEAR_SHARE: u32 = 90;

/// Returns the latest of what was said since, of what is about as near as the nearest. Of what was
/// said in another project, only what says that it holds in all of them is told in its words; of
/// the rest, that it takes something back.
pub(super) fn told_since(
    reader: &Reader,
    (kind, remark): (RemarkKind, &Remark),
    project: &str,
) -> Result<Option<Since>> {
    let mut sequels = reader.sequels(kind, remark)?;
    sequels.retain(|sequel| may_be_told(&sequel.memory));
    let told =
        sequels.iter().filter_map(|sequel| Some((told_here(sequel, remark, project)?, sequel)));
    let told: Vec<(Since, &Sequel)> = told.collect();
    // Without its words, what was said elsewhere stands only where nothing else does.
    let has_words = told.iter().any(|(since, _)| since.words.is_some());
    let told = told.into_iter().filter(|(since, _)| since.words.is_some() == has_words);
    let told: Vec<(Since, &Sequel)> = told.collect();
    let nearest = told.iter().map(|(_, sequel)| sequel.nearness).max().unwrap_or_default();
    let is_near = |own: &(Since, &Sequel)| nearest * NEAR_SHARE <= own.1.nearness * 100;
    let near = told.into_iter().filter(is_near);
    Ok(near.max_by_key(|(since, _)| (since.at, since.id)).map(|(since, _)| since))
}

/// Tells a sequel as far as it may be told in a project.
fn told_here(sequel: &Sequel, remark: &Remark, project: &str) -> Option<Since> {
    let Sequel { memory, everywhere, waiver, .. } = sequel;
    let part =
        |range: &Option<(usize, usize)>| range.and_then(|(start, end)| memory.text.get(start..end));
    let text = match memory.project.as_deref() == Some(project) {
        true => Some(memory.text.as_str()),
        false => part(everywhere),
    };
    let words = text.and_then(|text| about(remark.sentence(), text)).map(str::to_owned);
    let is_waived = || {
        let waiver = part(waiver).filter(|waiver| !is_of_one_place(waiver));
        waiver.is_some_and(|waiver| about(remark.sentence(), waiver).is_some())
    };
    let is_told = words.is_some() || text.is_none() && is_waived();
    is_told.then_some(Since { id: memory.id, at: memory.turn_at, words })
}

/// Returns the sentences of a text that begin with the first about the same as a remark.
fn about<'a>(remark: &str, text: &'a str) -> Option<&'a str> {
    let mut matter = telling_words(remark);
    matter.retain(|word| !is_one_of(stem(word), ANY_WISH));
    let all = sentences(text);
    let is_about =
        |sentence: &str| telling_words(sentence).iter().any(|word| has_alike(&matter, word));
    let mut behind =
        all.iter().skip_while(|range| !text.get((*range).clone()).is_some_and(is_about));
    let first = behind.next()?;
    let fits = |range: &&std::ops::Range<usize>| range.end - first.start <= TOLD_BYTES_MAX;
    let last = behind.take_while(fits).last().unwrap_or(first);
    text.get(first.start..last.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_begins_where_it_is_about_the_same() {
        let check = |remark: &str, text: &str, expect: Option<&str>| {
            assert_eq!(about(remark, text), expect, "{text}");
        };
        let text =
            "The scale says 30 kg. As for questions at a time: give me all of them. In June.";
        let told = "As for questions at a time: give me all of them. In June.";
        check("one question at a time please", text, Some(told));
        check("one question at a time please", "The scale says 30 kg.", None);
        // "Commit" alone may be about anything.
        check("do not commit by yourself", "Commit it.", None);
        let long = "Questions may come in one batch. ".repeat(20);
        let told = about("one question at a time please", &long).unwrap();
        assert!(told.len() <= TOLD_BYTES_MAX && told.starts_with("Questions"), "{told}");
    }
}
