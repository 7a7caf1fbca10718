//! How a text says that one thing is in the place of another that it names: "from quoll to numbat",
//! "96 instead of 64", `MAX_GRAINS = 128` where it was 96.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::cue::words_of_in_order;
use super::figures::{NamedFigures, figure_of, is_unit, named_figures, pieces_of, versions_in};
use crate::organise::is_stop_word;
use crate::remarks::{Wording, is_one_of as is_word_of, sentences};

/// The numbers of a text that another may replace.
const FIGURES_MAX: usize = 8;
/// Its names from code that another may replace; shorter ones are no names.
const CODE_NAMES_MAX: usize = 4;
const CODE_LETTERS_MIN: usize = 3;

/// Returns the numbers that a text tells; how many memories have them does not matter.
pub(super) fn numbers_of(text: &str) -> Vec<(u64, String)> {
    let words = words_of_in_order(text).into_iter();
    let is_figure = |word: &String| {
        word.chars().any(|letter| letter.is_ascii_digit()) || figure_of(word).is_some()
    };
    let figures = words.filter(is_figure);
    figures.take(FIGURES_MAX).map(|word| (u64::MAX, word)).collect()
}

/// Tells whether a name from code has another figure in a text than it had.
pub(super) fn has_another_figure(was: &NamedFigures, text: &str) -> bool {
    if was.is_empty() {
        return false;
    }
    let is = named_figures(text);
    was.iter().any(|(name, old)| is.get(name).is_some_and(|new| new.is_disjoint(old)))
}

/// Tells whether a text has another version of something than it had.
pub(super) fn has_another_version(was: &NamedFigures, text: &str) -> bool {
    let is = || versions_in(text);
    !was.is_empty()
        && is().iter().any(|(name, new)| was.get(name).is_some_and(|old| old.is_disjoint(new)))
}

/// Returns the names of a text that are made of several words, each as one, and those that stand in
/// code: `billing-core`, `orders`.
pub(super) fn code_names_of(text: &str) -> Vec<(u64, String)> {
    let joined = with_compounds(text);
    let quoted = joined.split('`').skip(1).step_by(2).map(str::trim);
    let is_word = |name: &&str| {
        CODE_LETTERS_MIN <= name.len()
            && name.chars().any(char::is_alphabetic)
            && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let quoted = quoted.filter(is_word).map(str::to_lowercase);
    let wording = Wording::of(&joined);
    let is_compound = |word: &&str| word.contains('_') && word.chars().any(char::is_alphabetic);
    let compounds = wording.words().filter(is_compound).map(str::to_owned);
    let mut names: Vec<(u64, String)> = Vec::new();
    for name in compounds.chain(quoted) {
        if names.len() < CODE_NAMES_MAX && names.iter().all(|(_, known)| *known != name) {
            names.push((u64::MAX, name));
        }
    }
    names
}

/// Writes arrows in words, but not where several in one line tell the way that something takes.
pub(super) fn with_arrows(text: &str) -> Cow<'_, str> {
    if !text.contains('→') && !text.contains("->") {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let line = line.replace("->", "→");
        match line.matches('→').count() {
            1 => line.replace('→', " becomes "),
            _ => line,
        }
    });
    Cow::Owned(lines.collect())
}

/// Writes compounds as one word.
pub(super) fn with_compounds(text: &str) -> Cow<'_, str> {
    if !text.contains('-') {
        return Cow::Borrowed(text);
    }
    let letters: Vec<char> = text.chars().collect();
    let is_inside = |at: usize| {
        let mut sides = [at.checked_sub(1), at.checked_add(1)].into_iter();
        sides.all(|side| {
            side.and_then(|side| letters.get(side)).is_some_and(|l| l.is_alphanumeric())
        })
    };
    let joined = letters.iter().enumerate().map(|(at, letter)| match letter {
        '-' if is_inside(at) => '_',
        letter => *letter,
    });
    Cow::Owned(joined.collect())
}

/// Tells whether a text says that another thing is in the place of one of these.
pub(super) fn replaces_one_of(wording: &Wording, names: &[(u64, String)]) -> bool {
    static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| forms_of(REPLACING));
    static RENAMED: LazyLock<Vec<Form>> = LazyLock::new(|| forms_of(BEING_RENAMED));
    static OF_GOING: LazyLock<Vec<Form>> = LazyLock::new(|| forms_of(GOING));
    static FORGOTTEN: LazyLock<Vec<Form>> = LazyLock::new(|| forms_of(FORGETTING));
    let is_alone = |place: usize| {
        let before = place.checked_sub(1).and_then(|before| wording.word(before));
        !wording.is_joined(place)
            || before.is_none_or(|before| is_one_of(names, before) || is_stop_word(before))
    };
    // "The daemon of the gateways is called …" names the daemon.
    let is_name = |place: usize| {
        let before: Vec<&str> = wording.words().take(place).collect();
        let is_of_it = |word: &&&str| !is_stop_word(word) || is_word_of(word, ARTICLES);
        let before = before.iter().rev().find(|word| !is_of_it(word));
        before.is_none_or(|word| !is_word_of(word, PREPOSITIONS))
    };
    has_form(wording, names, &FORMS, |_| true)
        || has_form(wording, names, &RENAMED, is_name)
        || has_form(wording, names, &OF_GOING, is_alone)
        || !wording.has_any(NOT_FORGETTING) && has_form(wording, names, &FORGOTTEN, |_| true)
}

/// Tells whether a text says that another figure is in the place of one of these.
pub(super) fn replaces_figure(wording: &Wording, figures: &[(u64, String)]) -> bool {
    static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| forms_of(REPLACING_FIGURES));
    replaces_one_of(wording, figures) || has_form(wording, figures, &FORMS, |_| true)
}

/// Tells whether a text sets another figure in the unit of what was told: "make it 500 MB", "lower
/// the threshold to 28 percent". "Make it faster, it takes 12 minutes" sets none.
pub(super) fn sets_anew(was: &NamedFigures, text: &str) -> bool {
    let is_set = |sentence: &str| {
        let is = set_figures(sentence);
        was.iter().any(|(unit, old)| is.get(unit).is_some_and(|new| new.is_disjoint(old)))
    };
    !was.is_empty()
        && sentences(text)
            .into_iter()
            .filter_map(|range| text.get(range))
            .any(|sentence| Wording::of(sentence).has_any(SETTING) && is_set(sentence))
}

/// Returns the figures that a sentence has set, by their unit.
fn set_figures(sentence: &str) -> NamedFigures {
    let mut figures = NamedFigures::new();
    let pieces = pieces_of(sentence);
    for [before, figure, unit] in pieces.array_windows() {
        let is_set = is_word_of(&before.word, BEFORE_SET) && is_unit(&unit.word);
        if let Some(digits) = figure_of(&figure.word).filter(|_| is_set) {
            figures.entry(unit.word.clone()).or_default().insert(digits);
        }
    }
    figures
}

/// How somebody has a figure changed, …
const SETTING: &str = "\
     make it|make that|make the|lower it|lower that|lower the|raise it|raise that|raise the|\
     set it|set that|set the|change it|change that|change the|bump it|bump that|bump the|\
     reduce it|reduce that|reduce the|increase it|increase that|increase the|cut it|cut that|\
     go down to|go up to|let's take|let us take|we take|let's say|mach daraus|setz es|setze es";
/// … and what stands right before it.
const BEFORE_SET: &str = "\
     to|at|it|that|limit|timeout|threshold|size|interval|budget|maximum|minimum|max|min|take|say|\
     auf|daraus";

/// What stands before a name, and what behind it.
type Form = (&'static str, &'static str);

fn forms_of(forms: &'static str) -> Vec<Form> {
    let forms = forms.split('|').filter_map(|form| form.split_once('X'));
    forms.map(|(before, after)| (before.trim(), after.trim())).collect()
}

fn has_form(
    wording: &Wording,
    names: &[(u64, String)],
    forms: &[Form],
    is_meant: impl Fn(usize) -> bool,
) -> bool {
    let words = wording.words().enumerate();
    let mut places = words.filter(|(place, word)| is_one_of(names, word) && is_meant(*place));
    places.any(|(place, _)| {
        forms.iter().any(|(before, after)| wording.stands_between(place, before, after))
    })
}

fn is_one_of(names: &[(u64, String)], word: &str) -> bool {
    names.iter().any(|(_, name)| name == bare(word))
}

fn bare(word: &str) -> &str {
    word.strip_suffix("'s").unwrap_or(word)
}

/// What may stand before a name, …
const ARTICLES: &str = "the|a|an|our|my|this|that|these|those|der|die|das|den|dem|le|la|les|el|los";
/// … and before that, where something else is spoken of.
const PREPOSITIONS: &str = "\
     of|on|in|for|at|with|by|behind|under|inside|from|to|von|auf|in|für|bei|mit|de|du|des|sur|para";

/// How it is said that another thing takes the place of X, …
const REPLACING: &str = "\
     rename X to|rename the X|renamed X to|renamed the X|from X to|rename X|renamed X|renaming X|\
     switched X to|migrated X to|X … we call it|X … we call that|instead of X|replaced X|\
     replaces X|remove X|get rid of X|move off X|moved off X|moving off X|migrate off X|\
     migrated off X|away from X|mind about X|not X any more|not X anymore|no longer X|\
     no longer on X|don't use X any more|don't use X anymore|do not use X any more|\
     do not use X anymore|stop using X|and not X|rather than X|in place of X|formerly X|\
     formerly called X|formerly known as X|previously called X|previously known as X|\
     used to be called X|given up X|given up the X|gave up X|giving up X|done with X|leaving X|\
     ditch X|ditched X|we drop X|we dropped X|dropping X|out with X|had it with X|tired of X|\
     sick of X|fed up with X|bye X|bye bye X|goodbye X|no more X|drop X for|X in … umbenannt|\
     von X auf|von X zu|statt X|переименовали X|вместо X|с X на|au lieu de X|de X à|en lugar de X|\
     de X a";
/// … or its name, …
const BEING_RENAMED: &str = "\
     X is renamed|X was renamed|X becomes|X became|X is now|X is called|X got a new name|\
     X heißt jetzt|X wird zu";
/// … or that X is no more: "the payment SDK is gone" is about no other SDK.
const GOING: &str = "\
     X is gone|X is removed|X is retired|X is deprecated|X will be uninstalled|X was removed|\
     X is out|X is dead|X is history|X got archived|X is archived|X was archived|\
     X is decommissioned|X was decommissioned|X is shut down|X was shut down|X is on leave|\
     X is leaving|X changed teams|X is replaced|X was replaced|X got replaced|X has been replaced|\
     X goes away|X has to go|X must go|X goes … comes in|X has retired|X retired|X has left|\
     X has gone|X … we move to|X … we switch to|X … we change to|X … want to move to|\
     X … want to switch to|X … like to move to|X … like to switch to|X … like to change to|\
     X … to change to|X … to switch to";

/// … or that what was said of X no longer counts. Who is told not to forget X is told the contrary.
const FORGETTING: &str = "\
     forget X|forget the X|forget about X|forget about the X|forget what i said about X|\
     forget what we said about X|scrap X|scrap the X|\
     vergiss X|oublie X|olvida X|забудь X";
const NOT_FORGETTING: &str = "\
     don't forget|do not forget|not forget|never forget|didn't forget|i forget|we forget|\
     you forget|to forget|can't forget";

/// The same of a figure: of a word, most of these say something else.
const REPLACING_FIGURES: &str = "\
     not X|was X|were X|down from X|up from X|used to be X|X is too|X isn't enough|X is not enough";

#[cfg(test)]
mod tests {
    use super::super::figures::figures_by_unit;
    use super::*;

    #[test]
    fn a_figure_is_set_where_it_stands_behind_the_order() {
        let check = |was: &str, text: &str, expect: bool| {
            assert_eq!(sets_anew(&figures_by_unit(was), text), expect, "{text}");
        };
        check("Packs of 300 MB each.", "Hm. Make the limit 500 MB.", true);
        check("The TTL is 300 seconds.", "Please lower it to 90 seconds.", true);
        check("The TTL is 300 seconds.", "Please lower it to 300 seconds.", false);
        check("It is 30 minutes.", "Please make the CI faster, it takes 12 minutes.", false);
        check("It is 30 minutes.", "Make the export run every 5 minutes.", false);
        check("It is 30 minutes.", "Make it 5 MB.", false);
    }

    #[track_caller]
    fn check(text: &str, name: &str, expect: bool) {
        let told = with_arrows(text);
        let wording = match name.contains('_') {
            true => Wording::of(&with_compounds(&told)),
            false => Wording::of(&told),
        };
        let names = [(300, name.to_owned())];
        let is_figure = name.starts_with(|first: char| first.is_ascii_digit());
        let replaces = if is_figure { replaces_figure } else { replaces_one_of };
        assert_eq!(replaces(&wording, &names), expect, "{text}");
    }

    #[test]
    fn a_text_names_what_is_replaced() {
        check("We rename quoll to numbat, for the lawyers.", "quoll", true);
        check("We switch from quoll to numbat.", "quoll", true);
        check("Quoll heißt jetzt Numbat.", "quoll", true);
        check("Renamed the service quoll → numbat.", "quoll", true);
        check("The way is pier → quoll → numbat.", "quoll", false);
        check("Renamed quoll-api to numbat.", "quoll_api", true);
        check("On 2026-11-16 instead of 2026-10-05.", "2026", true);
        check("The quoll is moved to Friday.", "quoll", false);
        check("The port is 8090 now; was 8080.", "8080", true);
        check("no comparison, just switch. numbat, remove quoll", "quoll", true);
        check("I removed the test of quoll", "quoll", false);
        check("Removed quoll debug logs.", "quoll", false);
        check("That was quoll, I restarted it.", "quoll", false);
        check("I changed my mind about quoll.", "quoll", true);
        check("As we said in June: quoll goes, numbat comes in.", "quoll", true);
        check("Quoll's tours are too long. We change to numbat.", "quoll", true);
        check("The payment quoll is gone.", "quoll", false);
        check("The quoll goes through nginx.", "quoll", false);
        check("The quoll is green. Let's move to the importer.", "quoll", false);
        check("Let's leave quoll as it is for now.", "quoll", false);
        check("We had to move off 8080.", "8080", true);
        check("After ten days, not 14.", "14", true);
        check("Forget quoll, we store everything in numbat now.", "quoll", true);
        check("Forget what I said about 8443, it is on 9443.", "8443", true);
        check("And don't forget quoll.", "quoll", false);
        check("Please say numbat and not quoll in new docs.", "quoll", true);
        check("The thing formerly known as quoll is numbat from today on.", "quoll", true);
        check("Don't use quoll-1 any more, we got numbat-2.", "quoll_1", true);
        check("Quoll got archived, everything goes into numbat.", "quoll", true);
        check("Quoll is out, numbat is in.", "quoll", true);
        check("Quoll ran out of memory.", "quoll", false);
        check("We drop quoll, nobody maintains it. Its replacement is numbat.", "quoll", true);
        check("Out with quoll, in with numbat.", "quoll", true);
        check("The agent of the payment quoll is called numbat.", "quoll", false);
        check("Quoll is on leave until spring, numbat took over.", "quoll", true);
    }
}
