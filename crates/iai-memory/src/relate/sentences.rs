//! Finds in a text the sentences that state something: whole, short enough to compare, and neither
//! code nor log nor question.

use iai_store::Memory;

use super::differences::STANDING_WORDS;
use super::tokens::{Token, tokens_of};
use super::wording::stated;
use crate::remarks::is_abbreviated;

/// A longer text is a document or a log; what it states is stated elsewhere too.
const TEXT_CHARS_MAX: usize = 2000;
/// The statements of one memory that are looked at.
const STATEMENTS_MAX: usize = 6;
/// A statement has at least so many words, and at most so many.
const TOKENS_MIN: usize = 4;
const TOKENS_MAX: usize = 40;
/// With more than these, it is a table or a list of figures.
const NUMBERS_MAX: usize = 3;

/// Characters that stand in code and hardly in prose.
const CODE_MARKS: &[&str] = &["{", "}", ";", "==", "=>", "->", "::", "&&", "||", "()", "</", "/>"];
/// Words a log line begins with or soon has.
const LOG_WORDS: &[&str] = &["INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL"];
/// Words that tell what somebody did or how it went: true once, not false later.
const DEED_WORDS: &[&str] = &[
    "ran",
    "fixed",
    "added",
    "removed",
    "updated",
    "pushed",
    "committed",
    "merged",
    "passed",
    "failed",
    "pass",
    "passing",
    "failing",
    "tests",
    "finished",
    "done",
    "tried",
    "wrote",
    "saw",
    "took",
    "went",
    "happened",
    "crashed",
    "broke",
    "noticed",
    "reported",
    "asked",
    "told",
    "measured",
    "got",
];
/// Words a sentence begins with that asks, supposes or bids.
const OPEN_WORDS: &[&str] = &[
    "if",
    "what",
    "why",
    "how",
    "when",
    "where",
    "who",
    "which",
    "should",
    "would",
    "maybe",
    "perhaps",
    "total",
    "let",
    "let's",
    "please",
    "can",
    "could",
    "write",
    "show",
    "explain",
    "schreib",
    "schreibe",
    "schau",
    "zeig",
    "zeige",
    "mach",
    "prüfe",
    "kannst",
    "könntest",
    "напиши",
    "покажи",
    "проверь",
    "посмотри",
    "écris",
    "montre",
    "vérifie",
    "escribe",
    "muestra",
    "revisa",
    "wenn",
    "warum",
    "wie",
    "если",
    "почему",
    "как",
    "quoi",
    "pourquoi",
    "porque",
];

/// Words a sentence begins with that is about something named before it: alone it says nothing.
const POINTING_WORDS: &[&str] = &[
    "it", "it's", "that's", "they", "there", "he", "she", "er", "es", "это", "он", "она", "они",
    "il", "elle", "c'est", "esto", "eso",
];
/// Words of a sentence that supposes.
const SUPPOSING_WORDS: &[&str] = &["would", "could", "might", "würde", "könnte", "бы"];
/// Verbs behind "I" that tell what comes next.
const PLAN_WORDS: &[&str] = &["need", "will", "am", "should"];

/// A remark behind a comma has at least so many words.
const CLAUSE_TOKENS_MIN: usize = 3;
/// Words that begin what stands before the matter itself: "on 3 March in Rome, we …".
const BEFORE_THE_MATTER: &[&str] = &[
    "on",
    "in",
    "at",
    "after",
    "before",
    "when",
    "while",
    "since",
    "with",
    "for",
    "to",
    "from",
    "because",
    "although",
    "as",
    "during",
    "until",
    "by",
    "once",
    "between",
    "im",
    "am",
    "um",
    "nach",
    "vor",
    "bei",
    "mit",
    "für",
    "seit",
    "в",
    "на",
    "после",
    "до",
    "с",
    "для",
    "dans",
    "après",
    "avant",
    "avec",
    "pour",
    "en",
    "con",
    "para",
    "por",
];
/// Words behind a comma that go on with the same statement.
const GOING_ON: &[&str] = &[
    "not", "and", "or", "but", "which", "that", "where", "nicht", "und", "oder", "aber", "а", "и",
    "или", "но", "et", "ou", "mais", "pas", "y", "o", "pero", "no",
];

/// One sentence that states something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) tokens: Vec<Token>,
}

/// Returns what a memory states.
pub(crate) fn statements_of(memory: &Memory) -> Vec<Statement> {
    statements_in(&memory.text)
}

/// Returns what a text states, in order.
pub(crate) fn statements_in(text: &str) -> Vec<Statement> {
    if TEXT_CHARS_MAX < text.len() && TEXT_CHARS_MAX < text.chars().count() {
        return Vec::new();
    }
    let prose = prose_lines(text);
    let sentences = prose.iter().flat_map(|line| sentences_in(line));
    sentences.filter_map(|sentence| statement(main_clause(sentence))).take(STATEMENTS_MAX).collect()
}

/// Leaves out fenced blocks, quotes, tables, headings and log lines.
fn prose_lines(text: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        let is_indented_code = line.starts_with("    ") || line.starts_with('\t');
        let is_marked = bare.starts_with(['>', '|', '#', '$', '+', '@', '<']);
        if is_fenced || is_indented_code || is_marked || is_log_line(bare) {
            continue;
        }
        let item = without_mark(bare);
        if !item.is_empty() {
            lines.push(item);
        }
    }
    lines
}

/// Leaves out what marks a line as an item of a list: a dash, a number, a box.
fn without_mark(line: &str) -> &str {
    let line = line.trim_start_matches(['-', '*', '•', ' ']);
    let behind = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = behind.len() < line.len();
    let item = behind.strip_prefix(['.', ')']).filter(|rest| is_numbered && rest.starts_with(' '));
    let item = item.unwrap_or(line).trim_start();
    let box_marks = ["[ ] ", "[x] ", "[X] "];
    box_marks.iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item)
}

fn is_log_line(line: &str) -> bool {
    let is_frame = line.starts_with("at ") || line.starts_with("File \"");
    let has_level = |word: &str| {
        let bare = word.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
        LOG_WORDS.contains(&bare)
    };
    is_frame || line.split_whitespace().take(4).any(has_level)
}

/// Cuts a line where a sentence ends: at a full stop before a blank, not inside `v1.2` or `a.rs`
/// nor behind "Dr.".
fn sentences_in(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((place, letter)) = letters.next() {
        let is_wide_end = matches!(letter, '。' | '！' | '？');
        let end = place + letter.len_utf8();
        let is_end = matches!(letter, '.' | '!' | '?')
            && letters.peek().is_none_or(|(_, next)| {
                let parts = || Some((line.get(start..place)?, line.get(end..)?));
                let is_cut = || parts().is_some_and(|(said, rest)| is_abbreviated(said, rest));
                next.is_whitespace() && !(letter == '.' && is_cut())
            });
        if is_wide_end || is_end {
            sentences.extend(line.get(start..end));
            start = end;
        }
    }
    sentences.extend(line.get(start..));
    sentences
}

/// Cuts off what is said about the matter behind a comma or a semicolon: "… after 12 minutes now,
/// the bank is slow". A list, a value denied, or a condition before the matter stays whole.
fn main_clause(sentence: &str) -> &str {
    let Some((clause, rest)) = sentence.split_once([',', ';']) else { return sentence };
    let (head, rest) = (tokens_of(clause), tokens_of(rest));
    let is_of_size = TOKENS_MIN < head.len() && CLAUSE_TOKENS_MIN <= rest.len();
    let begins = |tokens: &[Token], words: &[&str]| {
        tokens.first().is_some_and(|token| words.contains(&token.folded.as_str()))
    };
    let is_remark = is_of_size
        && head.iter().any(Token::has_digit)
        && !sentence.ends_with('?')
        && !begins(&head, BEFORE_THE_MATTER)
        && !begins(&rest, GOING_ON);
    if is_remark { clause } else { sentence }
}

fn statement(sentence: &str) -> Option<Statement> {
    let sentence = sentence.trim();
    let is_question = sentence.ends_with(['?', '？', ':']);
    if is_question || CODE_MARKS.iter().any(|mark| sentence.contains(mark)) {
        return None;
    }
    let tokens = stated(sentence);
    let is_of_size = (TOKENS_MIN..=TOKENS_MAX).contains(&tokens.len());
    let n_numbers = tokens.iter().filter(|token| token.has_digit()).count();
    let is_not_a_fact = |token: &Token| {
        let word = token.folded.as_str();
        DEED_WORDS.contains(&word) || SUPPOSING_WORDS.contains(&word)
    };
    let is_deed = tokens.iter().any(is_not_a_fact);
    let is_bad = n_numbers > NUMBERS_MAX || is_deed || is_open(&tokens) || is_title(&tokens);
    (is_of_size && !is_bad).then_some(Statement { tokens })
}

/// Asks, supposes, bids, plans, tells of a deed, or speaks of what was named before.
fn is_open(tokens: &[Token]) -> bool {
    match tokens {
        [first, second, ..] if first.folded == "i" => {
            let verb = second.folded.as_str();
            PLAN_WORDS.contains(&verb) || verb.ends_with("ed")
        }
        [first, ..] => {
            let word = first.folded.as_str();
            OPEN_WORDS.contains(&word) || POINTING_WORDS.contains(&word)
        }
        [] => true,
    }
}

/// Most words of a title begin with a capital, and it does not say of one name that it stands on
/// another: "CI runs on GitHub Actions".
fn is_title(tokens: &[Token]) -> bool {
    let is_capital = |token: &&Token| token.written.starts_with(char::is_uppercase);
    let n_capitals = tokens.iter().filter(is_capital).count();
    let says = tokens.iter().any(|token| STANDING_WORDS.contains(&token.written.as_str()));
    2 < n_capitals && tokens.len() < n_capitals * 2 && !says
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let found: Vec<String> = statements_in(text)
            .iter()
            .map(|statement| {
                let words: Vec<&str> =
                    statement.tokens.iter().map(|token| token.folded.as_str()).collect();
                words.join(" ")
            })
            .collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn sentences_that_state_something_are_found() {
        check(
            "Hello. The billing service listens on port 8080. The shop uses v1.2.3 of tokio!",
            &["the billing service listens on port 8080", "the shop uses v1.2.3 of tokio"],
        );
        check("- the staging host is a.example.com", &["the staging host is a.example.com"]);
        check("2. [x] the staging host is a.b", &["the staging host is a.b"]);
        check("Note: the port of billing is 80", &["the port of billing is 80"]);
        check("服务端口是8080。", &["服 务 端 口 是 8080"]);
        check("the owner of billing is Dr. Okonkwo", &["the owner of billing is dr okonkwo"]);
        check("CI runs on GitHub Actions.", &["ci runs on github actions"]);
        check("Schreib einen Test für den Import.", &[]);
    }

    #[test]
    fn a_remark_behind_the_matter_is_cut_off() {
        check(
            "Seat holds expire after 12 minutes now, the bank is slow.",
            &["seat holds expire after 12 minutes"],
        );
        check(
            "The launch is planned for 23 June; the port needs more weeks.",
            &["the launch is planned for 23 june"],
        );
        let whole = "the parts are v1, v2, and v3";
        check(whole, &["the parts are v1 v2 and v3"]);
        check("On 3 March in Rome, the port is 80", &["on 3 march in rome the port is 80"]);
    }

    #[test]
    fn questions_deeds_code_and_logs_state_nothing() {
        for text in [
            "Which port does the billing service use?",
            "If the port is 8080 then stop here",
            "I ran the migration twice on staging",
            "All 45 tests are green in this crate",
            "```\nthe port of billing is 8080\n```",
            "    the port of billing is 8080",
            "2026-01-01 ERROR the port 8080 is taken",
            "at the module main line 80 of it",
            "| the port | of billing | is 8080 |",
            "let port_of_billing = 8080; // the port",
            "I need to add the flag to runEnable",
            "It covers the empty input and 40 rows",
            "Splitting the parser would touch 40 files",
            "I raised the limit of the parser to 40",
            "The customer saw the search time out after 12 seconds",
            "**Pepper and Onion Chicken Tacos**",
            "Ten Shops Built With Rust",
            "1 2 3 4 5 6 7 8",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn hostile_text_stays_small() {
        assert!(statements_in(&"a b c d. ".repeat(100_000)).is_empty());
        assert_eq!(statements_in(&"the port is big. ".repeat(100)).len(), STATEMENTS_MAX);
    }
}
