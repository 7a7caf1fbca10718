//! Commands that somebody says without quoting them: "run the tests with cargo nextest". A program
//! must be known, something before it must say that it is run, and something behind it that no
//! sentence goes on: half of all programs are called like a word.

use super::commands::{BEFORE, names_of};
use super::programs::{
    has_subcommand, has_subcommands, is_carrier, is_lone, is_ordinary, is_program, is_runner,
};
use crate::organise::is_stop_word;

/// Behind these a program is run, and its name may be all there is.
const RUNNING: &[&str] = &[
    "run",
    "runs",
    "running",
    "ran",
    "rerun",
    "re-run",
    "execute",
    "executes",
    "executed",
    "executing",
    "invoke",
    "type",
    "call",
    "launch",
    "starte",
    "lance",
    "lancer",
    "exécute",
    "ejecuta",
    "ejecutar",
];
/// Behind these it may only be spoken of: "we use git".
const USING: &[&str] = &[
    "use", "uses", "using", "used", "with", "via", "try", "mit", "nutze", "verwende", "benutze",
    "avec", "utilise", "con", "usa", "usar",
];
/// What may stand between those and the program.
const FILLING: &[&str] = &["the", "a", "an", "just", "only", "always", "first", "plain", "also"];
/// What joins a command to the one before.
const JOINING: &[&str] = &["and", "or", "then", "before", "after", "plus", "&&", "und", "et", "y"];
/// What turns it around.
const REFUSING: &[&str] = &[
    "not", "never", "don't", "dont", "don’t", "without", "stop", "avoid", "than", "instead", "nie",
    "nicht", "ohne", "jamais", "nunca",
];
/// Words before the verb in which a refusal is looked for.
const REFUSED_WITHIN: usize = 3;
/// Words before a program in which "run" is looked for: "run the unit tests of it with pytest".
const RUN_WITHIN: usize = 8;
/// Commands taken from one line.
const COMMANDS_MAX: usize = 8;

/// A command somebody spoke of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpokenCommand {
    /// Its names, the one that says most first.
    pub(crate) names: Vec<String>,
    /// Somebody wants it not to be run.
    pub(crate) is_refused: bool,
}

/// Finds the commands in a piece of prose; what stands in backticks is read elsewhere.
pub(crate) fn commands_in_prose(piece: &str, is_line_start: bool) -> Vec<SpokenCommand> {
    let words: Vec<Word<'_>> = piece.split_whitespace().map(Word::of).collect();
    let mut found: Vec<SpokenCommand> = Vec::new();
    // Where the last command ended, and what it stood behind.
    let mut last: Option<(usize, Behind)> = None;
    let mut at = 0;
    while at < words.len() && found.len() < COMMANDS_MAX {
        let behind = words.get(at).filter(|word| is_program(word.program())).and_then(|_| {
            let first = if is_line_start { 0 } else { usize::MAX };
            behind(&words, at, first).or_else(|| joined(&words, at, last))
        });
        let length = behind.and_then(|behind| length_of(words.get(at..)?, behind));
        match behind.zip(length) {
            Some((behind, length)) => {
                let said: Vec<&str> =
                    words.iter().skip(at).take(length).map(|word| word.bare).collect();
                let names = names_of(&said.join(" "));
                if !names.is_empty() {
                    found.push(SpokenCommand { names, is_refused: is_refused(&words, at) });
                }
                at += length;
                last = Some((at, behind));
            }
            None => at += 1,
        }
    }
    found
}

/// A word, and what stands around it.
struct Word<'a> {
    bare: &'a str,
    /// A comma or the end of a sentence stands behind it.
    is_last: bool,
    ends_with_colon: bool,
    ends_sentence: bool,
}

impl<'a> Word<'a> {
    fn of(word: &'a str) -> Self {
        const QUOTES: &[char] = &['"', '\'', '“', '”', '‘', '’', '«', '»', '*', '(', ')', '[', ']'];
        let bare = word.trim_start_matches(QUOTES);
        let bare = bare.trim_end_matches(|c| QUOTES.contains(&c) || ".,;:!?…".contains(c));
        let end = word.trim_end_matches(QUOTES);
        // This folder, and no end of anything.
        if word == "." {
            return Self {
                bare: word,
                is_last: false,
                ends_with_colon: false,
                ends_sentence: false,
            };
        }
        Self {
            bare,
            is_last: end.ends_with(['.', ',', ';', ':', '!', '?', '…']) || word.ends_with(QUOTES),
            ends_with_colon: end.ends_with(':'),
            ends_sentence: end.ends_with(['.', ';', '!', '?', '…']),
        }
    }

    /// `./gradlew` is `gradlew`.
    fn program(&self) -> &'a str {
        self.bare.strip_prefix("./").unwrap_or(self.bare)
    }

    fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.bare.eq_ignore_ascii_case(word))
    }

    fn is_option(&self) -> bool {
        let name = self.bare.trim_start_matches('-');
        name.len() < self.bare.len() && name.starts_with(|c: char| c.is_ascii_alphanumeric())
    }

    /// A path, a file, an address, the next command: nothing a sentence goes on with.
    fn is_argument(&self) -> bool {
        let inner = self.bare.trim_matches('.');
        self.is_option()
            || self.bare == "."
            || inner.contains(['/', '.', '=', '@', '$', '*', '&', '|'])
    }
}

/// What a program stands behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Running,
    Using,
    /// Nothing: a line, or what a colon announces, begins with it.
    Beginning,
}

/// Says what the program at a place stands behind.
fn behind(words: &[Word<'_>], at: usize, first: usize) -> Option<Behind> {
    let mut place = at;
    for _ in 0..3 {
        if place == first {
            return Some(Behind::Beginning);
        }
        let before = words.get(place.checked_sub(1)?)?;
        if before.is_one_of(RUNNING) && !before.ends_sentence {
            return Some(Behind::Running);
        }
        if before.is_one_of(USING) && !before.ends_sentence {
            return Some(if is_run_before(words, place) { Behind::Running } else { Behind::Using });
        }
        let is_mark = matches!(before.bare, "$" | "-" | "•") || before.bare.is_empty();
        if before.ends_with_colon || before.bare == "$" {
            return Some(Behind::Beginning);
        }
        let is_list = is_mark || before.ends_sentence && is_number(before.bare);
        let may_pass = before.is_one_of(FILLING) || BEFORE.contains(&before.bare) || is_list;
        if before.is_last && !is_list || !may_pass {
            return None;
        }
        place -= 1;
    }
    None
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// "Run the tests with pytest": what is used is run.
fn is_run_before(words: &[Word<'_>], at: usize) -> bool {
    let before = words.get(..at.saturating_sub(1)).unwrap_or_default();
    let of_sentence = before.iter().rev().take_while(|word| !word.ends_sentence);
    of_sentence.take(RUN_WITHIN).any(|word| word.is_one_of(RUNNING))
}

/// Words between two commands that are run together.
const JOINED_WITHIN: usize = 16;

/// "Run cargo fmt, cargo clippy and cargo test".
fn joined(words: &[Word<'_>], at: usize, last: Option<(usize, Behind)>) -> Option<Behind> {
    let (end, behind) = last?;
    let between = words.get(end..at)?;
    let is_open = !words.get(end.checked_sub(1)?)?.ends_sentence;
    let joins = |word: &Word<'_>| word.is_one_of(JOINING) || word.is_argument();
    let has_joint = || end == at || between.iter().any(|word| word.is_one_of(JOINING));
    let is_near = between.len() <= JOINED_WITHIN;
    (is_open && is_near && between.iter().all(joins) && has_joint()).then_some(behind)
}

/// Returns how many words the command has, or that it is none.
fn length_of(words: &[Word<'_>], behind: Behind) -> Option<usize> {
    let (program, rest) = words.split_first()?;
    let name = program.program();
    let next = rest.first().filter(|_| !program.is_last);
    if has_subcommands(name) {
        // A toolchain may stand between: `cargo +nightly test`.
        let n_between = usize::from(next.is_some_and(|next| next.bare.starts_with('+')));
        if let Some(length) = with_subcommand(name, rest.get(n_between..)?, behind)
            && !program.is_last
        {
            return Some(1 + n_between + length);
        }
    }
    if has_subcommands(name) && !is_lone(name) {
        return None;
    }
    if name.starts_with("python") {
        let is_module = next.is_some_and(|next| next.bare == "-m" && !next.is_last);
        return match (is_module, next.is_some_and(Word::is_argument)) {
            (true, _) => Some(3.min(words.len())),
            (false, is_argued) => is_argued.then_some(1),
        };
    }
    let is_argued = next.is_some_and(Word::is_argument);
    let stands_alone = match (next, behind) {
        (_, Behind::Using) => false,
        (None, Behind::Beginning) => rest.is_empty(),
        (Some(_), Behind::Beginning) => false,
        (None, Behind::Running) => true,
        (Some(next), Behind::Running) => !is_ordinary(name) || is_stop_word(next.bare),
    };
    (is_argued || is_lone(name) && stands_alone).then_some(1)
}

/// The words of a subcommand of this program, and of what it carries.
fn with_subcommand(program: &str, rest: &[Word<'_>], behind: Behind) -> Option<usize> {
    let (subcommand, rest) = rest.split_first()?;
    let next = rest.first().filter(|_| !subcommand.is_last);
    if is_runner(program, "") && is_program(subcommand.bare) {
        return Some(1);
    }
    if !has_subcommand(program, subcommand.bare) {
        return None;
    }
    // "just test it", "make release notes", "go get some": sentences begin like that.
    let is_whole = rest.is_empty() || next.is_some_and(Word::is_argument);
    let may_begin = !is_ordinary(program) || program != "just" && is_whole;
    if behind == Behind::Beginning && !may_begin {
        return None;
    }
    let carries = is_carrier(program, subcommand.bare)
        && next.is_some_and(|next| {
            let is_plain =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_:".contains(c);
            let is_word = next.bare.starts_with(|c: char| c.is_ascii_lowercase());
            is_word && next.bare.chars().all(is_plain) && !may_go_on(next.bare)
        });
    Some(if carries { 2 } else { 1 })
}

/// Words that go on with a sentence, and never name what is run. "up" and "get" do.
fn may_go_on(word: &str) -> bool {
    !matches!(word, "up" | "down" | "get" | "new" | "start" | "run") && is_stop_word(word)
}

fn is_refused(words: &[Word<'_>], at: usize) -> bool {
    let before = words.get(..at).unwrap_or_default();
    let of_sentence = before.iter().rev().take_while(|word| !word.ends_sentence);
    of_sentence.take(REFUSED_WITHIN + 1).any(|word| word.is_one_of(REFUSING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        let found = commands_in_prose(line, true);
        let names: Vec<&str> =
            found.iter().filter_map(|found| found.names.first()).map(String::as_str).collect();
        assert_eq!(names, expect, "{line}");
    }

    #[test]
    fn what_somebody_runs_is_a_command_without_quotes() {
        check("please use pytest -q here", &["pytest"]);
        check("Run the tests with cargo nextest.", &["cargo nextest"]);
        check("run the unit tests with pytest", &["pytest"]);
        check("then run cargo nextest run for me", &["cargo nextest run"]);
        check("I ran flutter test and it failed", &["flutter test"]);
        check("use docker compose up -d to start it", &["docker compose up"]);
        check("run 'npm run build' (or \"pnpm install\")", &["npm run build", "pnpm install"]);
        check("run npm run before you push", &["npm run"]);
        check("run the cargo test suite", &["cargo test"]);
        check("always run mypy, please", &["mypy"]);
        check("run black on it", &["black"]);
        check("deploy via helm upgrade", &["helm upgrade"]);
        check("try cargo +nightly test", &["cargo test"]);
        check("run ./gradlew assembleDebug", &["gradlew assembleDebug"]);
        check("use uv run pytest for that", &["uv run pytest"]);
        check("use python3 -m pytest", &["python3 -m pytest"]);
        check("run sudo systemctl restart nginx", &["systemctl restart"]);
        check("run make test, then just lint", &["make test", "just lint"]);
        check("call it with curl -s https://example.org", &["curl"]);
        check("starte es mit docker compose up", &["docker compose up"]);
        check("lance cargo test avant", &["cargo test"]);
    }

    #[test]
    fn a_line_may_begin_with_a_command() {
        check("cargo test -p heron", &["cargo test"]);
        check("git push", &["git push"]);
        check("- terraform plan", &["terraform plan"]);
        check("2. kubectl get pods", &["kubectl get"]);
        check("pytest -q tests", &["pytest"]);
        check("make test", &["make test"]);
        check("go test ./...", &["go test"]);
        check("tests: pytest -x", &["pytest"]);
        check("it says $ npm install", &["npm install"]);
    }

    #[test]
    fn several_are_joined() {
        let three = ["cargo fmt", "cargo clippy", "cargo test"];
        check("run cargo fmt, cargo clippy and cargo test", &three);
        check("run ruff check . && mypy src/ before git push", &["ruff check", "mypy", "git push"]);
        check("make clean && make test", &["make clean", "make test"]);
        check("run cargo test. The git push comes later", &["cargo test"]);
    }

    #[test]
    fn sentences_are_no_commands() {
        for sentence in [
            "I go to the office",
            "make sure it works",
            "make release notes for it",
            "make test data",
            "just do it",
            "just test it",
            "just build",
            "git is slow",
            "use rust",
            "use git for that",
            "we use docker and go",
            "use go to build it",
            "with python it is slow",
            "use pytest, not unittest",
            "curl fails",
            "ssh keys are rotated",
            "use ssh keys",
            "run black box tests",
            "Go build something",
            "go get some coffee",
            "the make of the car",
            "let us use make to build",
            "run docker",
            "run it with care",
            "the yarn tests are red",
            "mix it with flour",
            "the cargo was late",
            "use poetry here",
            "a helm for the ship, with install notes",
            "",
            "run",
            "with",
            "- ",
        ] {
            check(sentence, &[]);
        }
        assert_eq!(commands_in_prose("git push is next", false), [], "no line begins here");
    }

    #[test]
    fn what_must_not_be_run_is_refused() {
        let check = |line: &str, is_refused: bool| {
            let found = commands_in_prose(line, true);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(found[0].is_refused, is_refused, "{line}");
        };
        check("never run git push on main", true);
        check("please don't use npm install here", true);
        check("rather than running cargo test", true);
        check("It is not done. Run cargo test", false);
        check("use pnpm install, not npm install", false);
    }

    #[test]
    fn hostile_lines_end() {
        for line in ["run git push ".repeat(9000), "npx ".repeat(9000), "run , ".repeat(9000)] {
            assert!(commands_in_prose(&line, true).len() <= COMMANDS_MAX);
        }
    }
}
