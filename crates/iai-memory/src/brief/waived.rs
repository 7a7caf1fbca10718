//! What became of a wish: whether the user took it back since, all of it or a part.
//!
//! All that takes something back stands among the remarks. Which wish it is about is told by words
//! they share, in any form; where it may be about less than the wish, both are told.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use iai_store::{MemoryNumber, Reader, Remark, RemarkKind, Sequel};

use super::lines::project_name;
use super::material::may_be_told;
use super::remarked::{Asked, folded, joined};
use super::told::Since;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{has_alike, is_alike, is_stop_word};
use crate::remarks::{
    ANY_WISH, Waived, Wording, compared_up_to, is_compared, is_of_one_place, is_one_of, sentences,
    stem, waived_in,
};

/// Waivers that are read, the newest first.
const WAIVERS_READ_MAX: usize = 32;
/// Shorter words do not say what is wished.
const LETTERS_MIN: usize = 3;
/// Before a waiver, what it is about is looked for in so much.
const BEFORE_BYTES_MAX: usize = 300;
/// Words that a waiver and a wish share, unless few memories have the one they share: so many where
/// the wish tells few words, …
const SHARED_MIN: usize = 2;
const BRIEF_WORDS_MAX: usize = 7;
const RARE_MAX: u64 = 24;
/// … fewer where it tells more, and in a large store one in so many beside.
const NAME_MAX: u64 = 6;
const RARE_SHARE: u64 = 500;
/// What takes back, and names nothing.
const WAIVING: &str = "\
     fine|again|needed|longer|anymore|allowed|stop|forget|rule|drop|dropped|changed|mind|bother|\
     btw|directly|straight|ahead|free|feel|skip|brauchst|mehr|wieder|künftig|darfst|ya|hace|\
     falta|puedes|besoin|peux|больше|нужно|можешь";
/// A wish that says so is about more than it names.
const EVEN: &str = "\
     even|also|too|including|any|every|everything|sogar|auch|incluso|también|même|даже";

/// What became of a wish.
#[derive(Debug)]
pub(super) enum Fate {
    Holds,
    /// It holds as far as what was said since leaves it.
    Narrowed(Since),
    Over,
}

/// All that was taken back in a project, and in all of them.
pub(super) struct Waivers {
    here: Vec<Waiver>,
    /// By the project that a wish comes from, once it was asked about one from there.
    there: BTreeMap<String, Vec<Waiver>>,
    /// The project's name, which is in whatever is said of it.
    name: Words,
    /// Up to here a model compared what was said with the wishes before it.
    compared_up_to: Option<MemoryNumber>,
}

struct Waiver {
    remark: Remark,
    /// Taken when it may be about a wish: most are older.
    words: OnceCell<Words>,
}

/// The words of a text that tell something, as they are written and without their endings.
struct Words {
    written: BTreeSet<String>,
    stems: BTreeSet<String>,
}

impl Waivers {
    /// Reads what may take back a wish: what was said in this project, and for all of them. Where a
    /// wish comes from another project, what was said there is read when it is asked about.
    pub(super) fn read(reader: &Reader, asked: &Asked<'_>) -> Result<Self> {
        let kind = (RemarkKind::Waiver, WAIVERS_READ_MAX);
        let mut here = joined(reader, kind, (asked.project, asked.fresh))?;
        let everywhere = reader.remarks_for_everywhere(kind.0, kind.1)?;
        here.extend(everywhere.into_iter().filter(|remark| may_be_told(&remark.memory)));
        // What is said here of a wish from here needs nothing else.
        let there = BTreeMap::from([(asked.project.to_owned(), Vec::new())]);
        let name = Words::of(project_name(asked.project));
        let here = folded(here).into_iter().map(Waiver::of).collect();
        Ok(Self { here, there, name, compared_up_to: compared_up_to(reader)? })
    }

    /// Reads what was taken back where a wish comes from.
    fn read_home(&mut self, reader: &Reader, home: &str) -> Result<()> {
        if self.there.contains_key(home) {
            return Ok(());
        }
        let of_home = reader.remarks(RemarkKind::Waiver, home, WAIVERS_READ_MAX)?;
        self.there.insert(home.to_owned(), of_home.into_iter().map(Waiver::of).collect());
        Ok(())
    }

    /// Tells what became of a wish: it is over where anything later took all of it back, else it
    /// holds as far as the latest leaves it.
    pub(super) fn fate(
        &mut self,
        engine: &MemoryEngine,
        reader: &Reader,
        wish: &Remark,
    ) -> Result<Fate> {
        let words = Words::of(wish.sentence());
        // What is said elsewhere is about what comes from there, or from here about anything.
        let home = wish.memory.project.as_deref().unwrap_or_default();
        self.read_home(reader, home)?;
        let there = self.there.get(home).into_iter().flatten().map(|own| (own, false));
        let all = self.here.iter().map(|own| (own, true)).chain(there);
        let later = all.filter(|(own, _)| wish.memory.turn_at < own.remark.memory.turn_at);
        let mut about = Vec::new();
        let mut sequels = None;
        for (own, is_of_here) in later {
            let is_about = match tie(engine, (&words, own.words()), &self.name) {
                Some(Tie::Close) => true,
                Some(Tie::Loose) => self.may_mean(reader, (wish, &mut sequels), own)?,
                None => false,
            };
            if is_about && (is_of_here || own.is_of_all(reader)?) {
                about.push((own, is_of_here));
            }
        }
        let is_whole = |(own, _): &(&Waiver, bool)| {
            let waiver = own.remark.sentence();
            waived_in(waiver) == Some(Waived::Wholly) && covers(waiver, wish.sentence())
        };
        if about.iter().any(is_whole) {
            return Ok(Fate::Over);
        }
        let latest = about.into_iter().max_by_key(|(own, _)| own.remark.memory.turn_at);
        let Some((latest, is_of_here)) = latest else { return Ok(Fate::Holds) };
        let Remark { memory, .. } = &latest.remark;
        // What was said elsewhere and not for all stays there.
        let words = is_of_here.then(|| latest.remark.sentence().to_owned());
        Ok(Fate::Narrowed(Since { id: memory.id, at: memory.turn_at, words }))
    }

    /// Tells whether a waiver may mean a wish that it shares hardly a word with: unless a model
    /// compared the two, and found that it does not.
    fn may_mean(
        &self,
        reader: &Reader,
        (wish, sequels): (&Remark, &mut Option<Vec<Sequel>>),
        waiver: &Waiver,
    ) -> Result<bool> {
        let Some(compared_up_to) = self.compared_up_to else { return Ok(true) };
        let (wished, waived) = (&wish.memory, &waiver.remark.memory);
        let is_behind = compared_up_to < wish.number.max(waiver.remark.number);
        if is_behind || wished.session == waived.session || !is_compared(waived) {
            return Ok(true);
        }
        let known = match sequels {
            Some(known) => known,
            None => sequels.insert(reader.sequels(RemarkKind::Preference, wish)?),
        };
        Ok(known.iter().any(|sequel| sequel.memory.id == waived.id))
    }
}

impl Waiver {
    fn of(remark: Remark) -> Self {
        Self { remark, words: OnceCell::new() }
    }

    fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(with_before(&self.remark)))
    }

    /// Tells whether what was said in another project is about more than that, and said by the user
    /// and nobody else of a team.
    fn is_of_all(&self, reader: &Reader) -> Result<bool> {
        let Remark { memory, .. } = &self.remark;
        if !may_be_told(memory) || is_of_one_place(self.remark.sentence()) {
            return Ok(false);
        }
        Ok(!reader.is_of_team(self.remark.number)?)
    }
}

/// Returns a waiver with the sentence right before it, which often says what it is about.
fn with_before(remark: &Remark) -> &str {
    let text = remark.memory.text.as_str();
    let from = text.ceil_char_boundary(remark.start_byte.saturating_sub(BEFORE_BYTES_MAX));
    let head = text.get(from..remark.start_byte).unwrap_or_default();
    let before = sentences(head).into_iter().next_back();
    let is_joined = |range: &std::ops::Range<usize>| {
        head.get(range.end..).is_some_and(|between| between.trim_matches(' ').is_empty())
    };
    let start_byte = before.filter(is_joined).map_or(remark.start_byte, |at| from + at.start);
    text.get(start_byte..remark.end_byte).unwrap_or_else(|| remark.sentence())
}

impl Words {
    fn of(text: &str) -> Self {
        let tells = |word: &&str| {
            LETTERS_MIN <= word.chars().count() && !word.contains('\'') && !is_stop_word(word)
        };
        let wording = Wording::of(text);
        let written: BTreeSet<String> = wording.words().filter(tells).map(str::to_owned).collect();
        let stems = written.iter().map(|word| stem(word).to_owned()).collect();
        Self { written, stems }
    }

    /// Tells whether they have a form of a word: "asking" and "ask" are too short to be alike by
    /// their letters.
    fn has_form(&self, word: &str) -> bool {
        self.stems.contains(stem(word)) || has_alike(&self.written, word)
    }
}

/// How a waiver is tied to a wish by its words.
#[derive(Debug, PartialEq, Eq)]
enum Tie {
    /// It has two of its words that not any wish may have.
    Close,
    /// It has one, and another of any kind; or one that few memories have.
    Loose,
}

fn tie(engine: &MemoryEngine, (wish, waiver): (&Words, &Words), name: &Words) -> Option<Tie> {
    let shared = wish.written.iter().filter(|word| waiver.has_form(word));
    let mut shared: Vec<&String> = shared.collect();
    // "mails" and "mail" are one.
    shared.dedup_by(|one, other| is_alike(one, other) || stem(one) == stem(other));
    let is_own = |word: &&&String| {
        !is_one_of(stem(word), ANY_WISH) && !is_one_of(word, WAIVING) && !name.has_form(word)
    };
    let own = shared.iter().filter(is_own);
    let own: Vec<&str> = own.map(|word| word.as_str()).collect();
    // One word alone has to be the very same: "serials" and "series" begin alike.
    let is_same = |word: &&&str| waiver.stems.contains(stem(word));
    let same: Vec<String> = own.iter().filter(is_same).map(|word| (*word).to_owned()).collect();
    let rare_max = if wish.written.len() <= BRIEF_WORDS_MAX { RARE_MAX } else { NAME_MAX };
    let is_loose = || SHARED_MIN <= shared.len() || has_rare(engine, &same, rare_max);
    match own.len() {
        0 => None,
        SHARED_MIN.. => Some(Tie::Close),
        _ => is_loose().then_some(Tie::Loose),
    }
}

fn has_rare(engine: &MemoryEngine, words: &[String], rare_max: u64) -> bool {
    let found = engine.with_loaded_index(|index| {
        let rare_max = rare_max + index.catalogue().len() as u64 / RARE_SHARE;
        index.document_frequencies(words).into_iter().any(|n| (1..=rare_max).contains(&n))
    });
    found.unwrap_or_default()
}

/// Tells whether what is taken back is all that was wished: every word of it, and none beside that
/// may name a part.
fn covers(waiver: &str, wish: &str) -> bool {
    let (wished, taken) = (Words::of(wish), Words::of(waiver));
    let is_named = |word: &String| is_one_of(word, WAIVING) || wished.has_form(word);
    !Wording::of(wish).has_any(EVEN)
        && wished.written.iter().all(|word| taken.has_form(word))
        && taken.written.iter().all(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    #[test]
    fn a_waiver_is_about_what_shares_words_with_it() {
        let trial = Trial::new();
        let check = |wish: &str, waiver: &str, expect: Option<Tie>| {
            let (wish_words, waiver_words) = (Words::of(wish), Words::of(waiver));
            let name = Words::of("falcon-gateway");
            let tie = tie(&trial.engine, (&wish_words, &waiver_words), &name);
            assert_eq!(tie, expect, "{wish} / {waiver}");
        };
        let migrations = "Always ask me before you run a migration, even on dev.";
        check(migrations, "you don't need to ask me any more for dev migrations", Some(Tie::Close));
        check(migrations, "you don't need to ask me any more for migrations", Some(Tie::Loose));
        check(migrations, "you don't need to ask me any more about names", None);
        check(
            "Never push to main directly",
            "docs fixes can go straight to main, just push",
            Some(Tie::Close),
        );
        check(
            "Falcon alerts go to Ana, nobody else",
            "for falcon Fridays are fine, nobody cares",
            None,
        );
        check("Always write a test first", "no need to write release notes any more", None);
    }

    #[test]
    fn a_waiver_covers_a_wish_where_it_names_no_part_of_it() {
        let check = |wish: &str, waiver: &str, expect: bool| {
            assert_eq!(covers(waiver, wish), expect, "{wish} / {waiver}");
        };
        let emojis = "no emojis in commit messages please";
        check(emojis, "emojis in commit messages are fine again", true);
        check(emojis, "emojis in the readme are fine again", false);
        check("Ask me before a migration", "no need to ask about migrations any more", true);
        check("Ask me before a migration", "no need to ask about migrations on dev", false);
        check("Ask me before a migration, even on dev", "no need to ask about migrations", false);
        check(emojis, "commit messages may be longer than 72 characters", false);
        check("No deploys on Fridays", "hotfix deploys on Fridays are fine from now on", false);
        check("Never push to main directly", "docs can go straight to main, just push", false);
    }
}
