//! Names in prose: words with a capital where none is due, words in quotation marks, and words that
//! tell by their shape.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use iai_store::AttributeRole;

use super::harvest::Harvest;
use super::text::words;
use super::{calendar, shapes};

/// Words of one name at most; longer runs are titles.
const NAME_WORDS_MAX: usize = 4;
const QUOTED_WORDS_MAX: usize = 5;
const QUOTED_CHARS: std::ops::RangeInclusive<usize> = 2..=60;
const WORD_BYTES_MAX: usize = 200;

const QUOTES: [(char, char); 6] =
    [('"', '"'), ('“', '”'), ('«', '»'), ('„', '“'), ('「', '」'), ('《', '》')];

/// What may stand around a word without being of it.
const BEFORE: &[char] = &['(', '[', '{', '<', '"', '\'', '“', '«', '„', '‘', '*', '_', '-', '>'];
const AFTER: &[char] = &[
    ')', ']', '}', '>', '"', '\'', '”', '»', '“', '’', '*', '_', '.', ',', ';', ':', '!', '?', '…',
];

/// What may follow the end of a sentence and is of it.
const CLOSING: &[char] = &['*', '_', '"', '”', '»', ')'];

/// Reads prose word by word, and remembers where in a sentence it is.
pub(super) struct Names {
    /// A single word with a capital is a name in this language.
    takes_single: bool,
    /// The next word begins a sentence: its capital tells nothing.
    at_start: bool,
    /// Inside of something set bold: every word has a capital there.
    is_bold: bool,
    line: Line,
    run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Prose,
    /// A point of a list: what it begins with is no name.
    Point,
    /// A heading or a row of a table: every word has a capital there.
    Title,
}

/// Words with a capital that follow each other.
#[derive(Default)]
struct Run {
    words: Vec<String>,
    /// The first of them begins a sentence.
    at_start: bool,
}

impl Names {
    pub(super) fn new(takes_single: bool) -> Self {
        Self {
            takes_single,
            at_start: true,
            is_bold: false,
            line: Line::Prose,
            run: Run::default(),
        }
    }

    pub(super) fn begin_line(&mut self, line: &str) {
        self.at_start = true;
        self.is_bold = false;
        self.line = match line.chars().next() {
            Some('#' | '|') => Line::Title,
            Some(letter) if !letter.is_alphabetic() => Line::Point,
            _ => Line::Prose,
        };
    }

    pub(super) fn end_line(&mut self, harvest: &mut Harvest<'_>) {
        self.end_run(harvest);
    }

    /// Something stood here that is no word.
    pub(super) fn pass_over(&mut self) {
        self.at_start = false;
    }

    /// Reads a piece of a line.
    pub(super) fn read<'a>(&mut self, prose: &'a str, harvest: &mut Harvest<'a>) {
        for raw in prose.split_whitespace().filter(|raw| raw.len() <= WORD_BYTES_MAX) {
            // Most words are plain, and this is most of the work.
            if raw.bytes().all(|byte| byte.is_ascii_lowercase()) {
                self.pass_plain(raw, harvest);
                continue;
            }
            self.is_bold ^= raw.starts_with("**") || raw.starts_with("__");
            self.read_word(raw, harvest);
            let is_closed =
                |end: &str| raw.len() > 2 && raw.trim_end_matches(['.', ',', ':']).ends_with(end);
            self.is_bold ^= is_closed("**") || is_closed("__");
        }
        self.end_run(harvest);
    }

    fn pass_plain(&mut self, word: &str, harvest: &mut Harvest<'_>) {
        if !self.run.words.is_empty() {
            self.see_what_is_said(word);
            self.end_run(harvest);
        }
        self.at_start = false;
    }

    fn see_what_is_said(&mut self, word: &str) {
        if self.line == Line::Prose && is_said_of_a_name(word) {
            self.run.at_start &= self.run.words.len() != 1;
        }
    }

    fn read_word<'a>(&mut self, raw: &'a str, harvest: &mut Harvest<'a>) {
        let word = raw.trim_start_matches(BEFORE).trim_end_matches(AFTER);
        let ends_sentence =
            raw.trim_end_matches(CLOSING).ends_with(['.', '!', '?', ':', '…', '。']);
        let Some(first) = word.chars().next() else {
            // A dash or a bullet; what follows may begin anew.
            self.end_run(harvest);
            self.at_start |= raw.starts_with(['-', '*', '•', '>', '—', '–']);
            return;
        };
        if is_worth_a_look(word) {
            shapes::each_shape(word, &mut |role, name| harvest.add(role, name));
        }
        let bare = word.trim_end_matches("'s").trim_end_matches("’s");
        // A bracket or a quotation mark between two names keeps them apart.
        if raw.starts_with(['(', '[', '"', '“', '«', '„']) {
            self.end_run(harvest);
        }
        self.see_what_is_said(word);
        if first.is_uppercase() && self.line != Line::Title && !self.is_bold && is_wordlike(bare) {
            if self.run.words.is_empty() {
                self.run.at_start = self.at_start;
            }
            self.run.words.push(bare.to_owned());
        } else {
            self.end_run(harvest);
        }
        let is_apart = raw.ends_with([',', ';', ')', ']', '"', '”']) || bare.len() < word.len();
        if is_apart || ends_sentence {
            self.end_run(harvest);
        }
        self.at_start = ends_sentence;
    }

    /// Takes the name that ended here, if it is one.
    fn end_run(&mut self, harvest: &mut Harvest<'_>) {
        if self.run.words.is_empty() {
            return;
        }
        let run = std::mem::take(&mut self.run);
        if NAME_WORDS_MAX < run.words.len() {
            return;
        }
        let (is_at_start, name) = match run.words.split_first() {
            // "The Heron", but "in New York".
            Some((first, rest)) if run.at_start && is_common(first) => (false, rest),
            Some((first, rest)) if first.len() == 1 => (false, rest),
            _ => (run.at_start, run.words.as_slice()),
        };
        if 1 < name.len() {
            harvest.add(AttributeRole::Entity, &name.join(" "));
        }
        let single = match name {
            [single] if !is_at_start => Some(single),
            _ => None,
        };
        if let Some(single) = single.filter(|word| self.takes_single && is_name_alone(word)) {
            harvest.add(AttributeRole::Entity, single);
        }
    }
}

/// Takes what stands in quotation marks and is short enough for a name.
pub(super) fn each_quoted(prose: &str, take: &mut dyn FnMut(&str)) {
    if !prose.bytes().any(|byte| byte == b'"' || !byte.is_ascii()) {
        return;
    }
    for (open, close) in QUOTES {
        let mut rest = prose;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inside, behind)) = after.split_once(close) else { break };
            if is_quoted_name(inside) {
                take(inside);
            }
            rest = behind;
        }
    }
}

fn is_quoted_name(inside: &str) -> bool {
    QUOTED_CHARS.contains(&inside.chars().count())
        && inside.split_whitespace().count() <= QUOTED_WORDS_MAX
        && inside.starts_with(char::is_alphanumeric)
        && inside.contains(char::is_alphabetic)
        && !inside.ends_with(['.', '!', '?', ',', ':', ' '])
}

/// Most words have only letters and need no further look.
fn is_worth_a_look(word: &str) -> bool {
    let mut was_lower = false;
    word.bytes().any(|byte| {
        let is_odd =
            !byte.is_ascii_alphabetic() && byte.is_ascii() && byte != b'\'' && byte != b'-';
        let turns = was_lower && byte.is_ascii_uppercase();
        was_lower = byte.is_ascii_lowercase();
        is_odd || turns
    }) || word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.as_bytes().get(1).is_some_and(u8::is_ascii_uppercase)
}

/// "Kafka is slow": what stands before is a name even at the beginning of a sentence.
fn is_said_of_a_name(word: &str) -> bool {
    matches!(word, "is" | "was" | "has" | "had" | "will" | "needs" | "uses" | "says" | "said")
}

/// Letters, perhaps with digits, hyphens or apostrophes inside.
fn is_wordlike(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || "-'’&.".contains(c)) && !word.contains("..")
}

/// A single word is a name when it has more than capitals and is none of the words that often have
/// one.
fn is_name_alone(word: &str) -> bool {
    let has_shape = 2 < word.chars().count() && word.chars().any(char::is_lowercase);
    has_shape && !word.contains('.') && !is_common(word)
}

fn is_common(word: &str) -> bool {
    let lower = word.to_lowercase();
    COMMON.contains(lower.as_str())
        || CALENDAR.contains(lower.as_str())
        || lower.contains(['\'', '’'])
}

static CALENDAR: LazyLock<BTreeSet<&str>> = LazyLock::new(|| calendar::names().collect());

/// Words that often have a capital and are no names.
static COMMON: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "a about according actually add after again all also although always am an and another \
         any anybody anyone anything are as ask at avoid based be because before best both but \
         by can check choose click code cons consider could create das data day dear der did \
         die do does don each ein eine el en ensure error every everybody everyone everything \
         example explain file fin finally first fix for from further generally get give go good \
         great had has have he hello her here hey hi his how however i ich if il important in \
         include input instead is it its je just keep la last le les let like look los make \
         many maybe me more most my name never new next no nobody none not note nothing nous \
         now of ok okay on once one only option or other our output overall part please point \
         pros put remember result results right run say see set she should show since so some \
         somebody someone something sometimes sorry start step still such sure take tell test \
         tests thank thanks that the their then there these they third this those though \
         through thus to today too try und under unfortunately until up update use using \
         version very want was we well were what when where whether which while who why will \
         wir with without would write yeah yes yesterday yet you your в вы и как мы не но он \
         она они по почему с что это я",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        let mut harvest = Harvest::new([None, None]);
        let mut names = Names::new(true);
        names.begin_line(line);
        names.read(line, &mut harvest);
        each_quoted(line, &mut |name| harvest.add(AttributeRole::Entity, name));
        names.end_line(&mut harvest);
        let mut found: Vec<String> =
            harvest.into_attributes().into_iter().map(|found| found.display).collect();
        found.sort();
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn capitals_inside_a_sentence_are_names() {
        check("yesterday Alice Miller met the Harbour Board.", &["Alice Miller", "Harbour Board"]);
        check("we asked Alice's team, then Bob", &["Alice", "Bob"]);
        check("The Heron service talks to Kafka", &["Heron", "Kafka"]);
        check("we moved to Berlin. Everything works", &["Berlin"]);
        check("I think I like it in May and on Monday", &[]);
        check("Kafka is slow. Everything is broken. It was Heron", &["Heron", "Kafka"]);
        check("Deploy Kubernetes today", &["Deploy Kubernetes"]);
        check("she is in New York", &["New York"]);
        check("- Consistency is key", &[]);
        check("**Care:** Regularly look at it", &[]);
        check("мы спросили Анну Петрову о сервисе", &["Анну Петрову"]);
    }

    #[test]
    fn capitals_of_sentences_and_titles_are_not() {
        check("Everything works. Nothing is broken", &[]);
        check("## How To Write Good Code", &[]);
        check("1. **Data Preparation**: clean it", &[]);
        check("This Is A Title With Many Words", &[]);
        check("| Name | Some Value |", &[]);
    }

    #[test]
    fn quoted_words_are_names_unless_they_are_sentences() {
        check("the project \"blue harbour\" starts", &["blue harbour"]);
        check("он сказал «тихая гавань» вчера", &["тихая гавань"]);
        check("she said \"this is much too long to be a name\"", &[]);
        check("he said \"stop.\" and \"\" and \" x\"", &[]);
        check("プロジェクト「青い港」が始まる", &["青い港"]);
    }
}
