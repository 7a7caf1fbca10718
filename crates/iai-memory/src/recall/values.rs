//! Which of the best hits tells the figure that the cue asks for. "The limit is 64 grains", "128
//! grains", `MAX_GRAINS = 96`: nobody says that anything changed, and each of them is as good an
//! answer as the others; but only the last one holds, another one held in August, and the first is
//! what it was originally.

use std::collections::BTreeSet;

use iai_store::{Memory, MemoryNumber, Role};
use jiff::Timestamp;

use super::asked::{Asked, asked_of};
use super::changes::is_before;
use super::cue::Cue;
use super::figures::{
    NamedFigures, Piece, figures_by_unit, is_changing, is_identifier, is_version, pieces_of, tells,
};
use super::rank::Ranked;
use super::replacing::sets_anew;
use super::stated::stated_of;
use super::when;
use crate::organise::{has_alike, n_shared};
use crate::remarks::{Wording, is_spoken};

/// Among how many hits is looked.
const HITS_LOOKED_AT: usize = 12;
/// What tells the figure is at least this share as good an answer as what told another.
const SCORE_SHARE_MIN: f64 = 0.5;
/// A longer text tells of more than one thing.
const TEXT_BYTES_MAX: usize = 1000;
/// Fewer words beside a figure stand beside any.
const FRAME_WORDS_MIN: usize = 2;
/// Of a cue with several words, one alone is not what it is about.
const ASKED_WORDS_MIN: usize = 2;
/// A cue of more words that is no question is a statement.
const WORDS_OF_A_TITLE_MAX: usize = 12;
/// Who says in so few words what they say tells one thing.
const FEW_BYTES: usize = 300;
/// Words that two texts share when they are about the same, whatever of the cue they have.
const SHARED_WORDS_MIN: usize = 3;

/// Which of several figures of one thing answers a cue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wanted {
    /// The one that held at a time: now, or at the end of the days that the cue names.
    At(Timestamp),
    /// The one that was told first.
    First,
    /// The one that was told before the last.
    Former,
}

/// How sure it has to be that two turns are about the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sameness {
    /// They share a few words: enough among what the cue found.
    Likely,
    /// All that the cue asks for and one has, the very words beside the figure, or the unit that is
    /// meant: what was no hit may be about another thing of the kind.
    Certain,
}

/// Returns pairs of hits, what told a figure and what told another one that is wanted.
pub(super) fn retold(
    cue: &Cue,
    ranked: &[Ranked],
    (wanted, sameness): (Wanted, Sameness),
    now: Timestamp,
) -> Vec<(MemoryNumber, MemoryNumber)> {
    if !may_ask_for_a_figure(cue, wanted) {
        return Vec::new();
    }
    let asked = asked_of(cue);
    let best = ranked.iter().take(HITS_LOOKED_AT);
    let telling: Vec<Telling<'_>> = best
        .filter(|hit| hit.memory.turn_at <= now && may_tell(&hit.memory))
        .map(|hit| Telling::of(hit, &asked))
        .filter(|telling| !telling.figures.is_empty())
        .collect();
    // What is told in another project is about another thing of the same name.
    let things: BTreeSet<(Option<&str>, &str)> = (telling.iter())
        .flat_map(|one| one.figures.keys().map(|thing| (one.project(), thing.as_str())))
        .collect();
    let pairs: BTreeSet<(MemoryNumber, MemoryNumber)> = (things.into_iter())
        .flat_map(|(project, thing)| {
            let here = telling.iter().filter(|one| one.project() == project);
            let of_thing = here.filter(|one| one.figures.contains_key(thing)).collect();
            let is_meant = asked.meant.contains(thing);
            let n_asked_min = asked.words_in(project).count().clamp(1, ASKED_WORDS_MIN);
            About { thing, is_meant, n_asked_min, sameness, telling: of_thing }.pairs(wanted)
        })
        .collect();
    pairs.into_iter().collect()
}

/// Tells whether a cue may ask how much or when something is. What somebody did, they did once,
/// unless it is asked how it was.
fn may_ask_for_a_figure(cue: &Cue, wanted: Wanted) -> bool {
    let is_of_a_deed = || matches!(wanted, Wanted::At(_)) && Wording::of(&cue.text).has_any("did");
    may_ask(cue) && !is_of_a_deed()
}

/// Tells whether a cue may ask for something: a long one that is no question tells something
/// itself.
pub(super) fn may_ask(cue: &Cue) -> bool {
    let wording = Wording::of(&cue.text);
    let asks = wording.is_question || wording.words().take(2).any(when::is_asking);
    asks || wording.len() <= WORDS_OF_A_TITLE_MAX
}

/// What is told of one thing.
struct About<'a> {
    thing: &'a str,
    /// It is a unit of what the cue asks for.
    is_meant: bool,
    /// Words of the cue that two have in common who are about the same, if those are all that one
    /// has of it.
    n_asked_min: usize,
    sameness: Sameness,
    telling: Vec<&'a Telling<'a>>,
}

impl<'a> About<'a> {
    fn pairs(&self, wanted: Wanted) -> Vec<(MemoryNumber, MemoryNumber)> {
        let until = match wanted {
            Wanted::At(until) => until,
            Wanted::First | Wanted::Former => Timestamp::MAX,
        };
        let is_stated = |one: &Telling<'_>| one.stated.contains_key(self.thing);
        let stated = self.telling.iter().filter(|one| is_stated(one) && one.at() <= until);
        let Some(last) = stated.max_by_key(|one| one.at()).copied() else { return Vec::new() };
        let former = self.former(last);
        let same = || self.chain(&former, last).into_iter().filter(|one| is_stated(one));
        let pairs: Vec<(&Telling<'_>, &Telling<'_>)> = match wanted {
            Wanted::At(_) => {
                let later = self.telling.iter().filter(|one| until < one.at());
                let later = later.filter(|one| self.is_same(one, last) && self.differs(one, last));
                former.iter().chain(later).map(|one| (*one, last)).collect()
            }
            Wanted::First => {
                let Some(first) = same().min_by_key(|one| one.at()) else { return Vec::new() };
                let others = former.iter().copied().filter(|one| self.differs(one, first));
                others.chain([last]).map(|one| (one, first)).collect()
            }
            Wanted::Former => {
                let Some(next) = same().max_by_key(|one| one.at()) else { return Vec::new() };
                let others = former.iter().copied().filter(|one| self.differs(one, next));
                others.chain([last]).map(|one| (one, next)).collect()
            }
        };
        let is_near = |(low, high): &(&Telling<'_>, &Telling<'_>)| {
            SCORE_SHARE_MIN * low.hit.score <= high.hit.score
        };
        pairs
            .into_iter()
            .filter(is_near)
            .map(|(low, high)| (low.hit.number, high.hit.number))
            .collect()
    }

    /// Those of the former who are about the very same as the last, or as one of themselves.
    fn chain(&self, former: &[&'a Telling<'a>], last: &'a Telling<'a>) -> Vec<&'a Telling<'a>> {
        let mut latest_first = former.to_vec();
        latest_first.sort_by_key(|one| std::cmp::Reverse(one.at()));
        let mut chain: Vec<&Telling<'_>> = Vec::new();
        for one in latest_first {
            if chain.iter().chain([&last]).any(|newer| self.is_same(one, newer)) {
                chain.push(one);
            }
        }
        chain
    }

    /// Those who told another figure before the last, and are about the same or told the figure of
    /// one who is.
    fn former(&self, last: &'a Telling<'a>) -> Vec<&'a Telling<'a>> {
        let telling = self.telling.iter().copied();
        let before: Vec<&Telling<'_>> = telling
            .filter(|one| is_before(&one.hit.memory, &last.hit.memory) && self.differs(one, last))
            .collect();
        let chain = self.chain(&before, last);
        let figures_of = |one: &Telling<'_>| one.figures.get(self.thing).cloned();
        let outdated: BTreeSet<String> =
            chain.iter().filter_map(|one| figures_of(one)).flatten().collect();
        let numbers: Vec<MemoryNumber> = chain.iter().map(|one| one.hit.number).collect();
        let is_outdated = |one: &&Telling<'_>| {
            numbers.contains(&one.hit.number)
                || figures_of(one).is_some_and(|own| !own.is_disjoint(&outdated))
        };
        before.into_iter().filter(is_outdated).collect()
    }

    /// Tells whether one tells other figures than another, or some that the other says are
    /// replaced.
    fn differs(&self, one: &Telling<'_>, other: &Telling<'_>) -> bool {
        let figures = (one.figures.get(self.thing), other.figures.get(self.thing));
        matches!(figures, (Some(was), Some(is)) if was.is_disjoint(is))
            || self.is_replaced(one, other)
    }

    /// Tells whether another says that a figure of one is replaced, and by what.
    fn is_replaced(&self, one: &Telling<'_>, other: &Telling<'_>) -> bool {
        let figures = (one.figures.get(self.thing), other.figures.get(self.thing));
        let (Some(was), Some(is)) = figures else { return false };
        let replaced = other.replaced.get(self.thing);
        replaced.is_some_and(|replaced| !replaced.is_disjoint(was)) && !is.is_subset(was)
    }

    /// Tells whether one has of the cue what another has, and that is more than a word.
    fn has_all_asked(&self, one: &Telling<'_>, other: &Telling<'_>) -> bool {
        // Of a release, one word is enough: it is a name.
        let is_enough = self.n_asked_min <= other.asked.len();
        (is_enough || other.asked.iter().any(|word| is_version(word)))
            && other.asked.iter().all(|word| has_alike(&one.asked, word))
    }

    /// Tells whether another puts its figure into words that one has beside its own: "the upload
    /// interval is 15 s" after "the upload interval of tablets is 30 s".
    fn is_framed_alike(&self, one: &Telling<'_>, other: &Telling<'_>) -> bool {
        let frames = (one.frames.get(self.thing), other.frames.get(self.thing));
        let (Some(was), Some(is)) = frames else { return false };
        FRAME_WORDS_MIN <= is.len() && is.iter().all(|word| has_alike(was, word))
    }

    /// Tells whether another says that the very thing of one changed: "raised the budget to 44,500"
    /// names nothing beside the budget that one does not.
    fn is_changed_in_place(&self, one: &Telling<'_>, other: &Telling<'_>) -> bool {
        let Some(frame) = other.frames.get(self.thing) else { return false };
        let is_change = |word: &String| is_changing(word);
        let is_known = |word: &String| is_changing(word) || has_alike(&one.words, word);
        one.at() < other.at() && frame.iter().any(is_change) && frame.iter().all(is_known)
    }

    /// Tells whether one is about the very same as another.
    fn is_same(&self, one: &Telling<'_>, other: &Telling<'_>) -> bool {
        let is_short = |telling: &Telling<'_>| telling.hit.memory.text.len() <= FEW_BYTES;
        let is_meant = self.is_meant
            && is_short(one)
            && is_short(other)
            && one.asked.len() <= other.asked.len();
        let n_shared_min = match (self.is_replaced(one, other), self.sameness) {
            (true, _) => SHARED_WORDS_MIN - 2,
            (false, _) if is_meant => SHARED_WORDS_MIN - 1,
            (false, Sameness::Likely) => SHARED_WORDS_MIN,
            (false, Sameness::Certain) => usize::MAX,
        };
        is_identifier(self.thing)
            || self.has_all_asked(other, one)
            || self.has_all_asked(one, other) && adds_nothing(other, one)
            || self.is_framed_alike(one, other)
            || self.is_changed_in_place(one, other)
            || self.sameness == Sameness::Likely && is_set_anew(one, other)
            || n_shared_min <= n_shared(&one.words, &other.words)
    }
}

/// Tells whether the user has another figure set later, in the unit of what one told.
fn is_set_anew(one: &Telling<'_>, other: &Telling<'_>) -> bool {
    let newer = &other.hit.memory;
    one.at() < other.at()
        && newer.role == Role::User
        && sets_anew(&one.by_unit, &stated_of(&newer.text))
}

/// Tells whether one has no word that another has not: it names nothing else.
fn adds_nothing(one: &Telling<'_>, other: &Telling<'_>) -> bool {
    one.words.iter().all(|word| has_alike(&other.words, word))
}

fn may_tell(memory: &Memory) -> bool {
    is_spoken(memory)
        && memory.role != Role::System
        && memory.valid_to.is_none()
        && memory.text.len() <= TEXT_BYTES_MAX
}

/// A hit with the figures that it tells of what is asked for.
struct Telling<'a> {
    hit: &'a Ranked,
    /// The words of the cue that it has, other than units.
    asked: BTreeSet<String>,
    /// What it is about.
    words: BTreeSet<String>,
    /// By the word of the cue that stands beside them, or by a name from code.
    figures: NamedFigures,
    /// Those that are said to be so, and not asked for, thought of or proposed.
    stated: NamedFigures,
    /// Those that are said to be so no longer.
    replaced: NamedFigures,
    /// The words beside those that are stated, by the same names.
    frames: NamedFigures,
    /// All that it tells with a unit.
    by_unit: NamedFigures,
}

impl<'a> Telling<'a> {
    fn of(hit: &'a Ranked, asked: &Asked) -> Self {
        let text = &hit.memory.text;
        let pieces = pieces_of(text);
        let figures = asked.figures_in(&pieces, false);
        let said = match figures.is_empty() {
            true => Vec::new(),
            false => pieces_of(&stated_of(text)),
        };
        let (stated, replaced) = (asked.figures_in(&said, false), asked.figures_in(&said, true));
        let frames = asked.frames_in(&said);
        let own: BTreeSet<String> = pieces.iter().flat_map(Piece::words).collect();
        let of_project = asked.words_in(hit.memory.project.as_deref());
        let asked = of_project.filter(|word| has_alike(&own, word)).cloned().collect();
        let words = own.into_iter().filter(|word| tells(word)).collect();
        let by_unit = figures_by_unit(text);
        Self { hit, asked, words, figures, stated, replaced, frames, by_unit }
    }

    fn at(&self) -> Timestamp {
        self.hit.memory.turn_at
    }

    fn project(&self) -> Option<&str> {
        self.hit.memory.project.as_deref()
    }
}
