//! Commands of a shell by what they run: the program, and the subcommand of one that has them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use iai_store::AttributeRole;

use super::harvest::Harvest;
use super::programs::{has_subcommands, is_carrier, is_lone, is_ordinary, is_program, is_runner};
use super::text::words;

/// Words of a shell that run nothing worth finding.
static NOISE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "alias case cd do done echo elif else esac exit export fi for function if local printf \
         read return set source then true unset while",
    )
});
/// Words before the program itself.
pub(super) const BEFORE: &[&str] =
    &["sudo", "time", "nohup", "exec", "env", "command", "then", "do", "!"];

const WORD_CHARS_MAX: usize = 40;

/// Tells whether a piece of inline code is a command line.
pub(super) fn is_known(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let program = words.next().unwrap_or_default();
    let has_more = words.next().is_some();
    // A lone "git" or "find" in a sentence names the program, or is only a word.
    has_more && is_program(program)
}

/// Notes every command of a line.
pub(super) fn each_in_line(line: &str, harvest: &mut Harvest<'_>) {
    for part in parts_of(line) {
        for name in names_of(part) {
            harvest.add(AttributeRole::Command, &name);
        }
    }
}

/// Returns the commands of a line that are worth counting, each by the name that says most of it.
/// Looking around, as with `ls`, is no habit of anybody.
pub(crate) fn counted_in_line(line: &str) -> Vec<String> {
    parts_of(line).filter_map(counted).collect()
}

fn counted(part: &str) -> Option<String> {
    let name = names_of(part).into_iter().next()?;
    let program = name.split(' ').next().unwrap_or_default();
    // The bare name of a program is a name, not something that was run.
    let is_run = match name.contains(' ') {
        true => has_subcommands(program) || name.contains(" -m "),
        false => is_lone(program) && !is_ordinary(program) || program == "make",
    };
    is_run.then_some(name)
}

/// Returns the name by which a command that somebody asks for is kept.
pub(crate) fn asked_for(filler: &str) -> String {
    let lower = filler.trim().to_lowercase();
    let is_known = |name: &String| name.split(' ').next().is_some_and(is_program);
    names_of(&lower).into_iter().next().filter(is_known).unwrap_or(lower)
}

/// The commands of a line; what stands behind a pipe only shapes the output.
fn parts_of(line: &str) -> impl Iterator<Item = &str> {
    let line = line.split(" #").next().unwrap_or(line);
    let parts = line.split("&&").flat_map(|part| part.split(';'));
    parts.map(|part| part.split('|').next().unwrap_or(part))
}

/// Returns the names of a command, the one that says most first: `npm run build` is also `npm run`,
/// and `uv run pytest` also `pytest`.
pub(super) fn names_of(part: &str) -> Vec<String> {
    let is_assignment = |word: &&str| word.contains('=') && !word.starts_with(['-', '=']);
    let mut words =
        part.split_whitespace().skip_while(|word| BEFORE.contains(word) || is_assignment(word));
    let program = words.next().unwrap_or_default().trim_start_matches(['(', '{']);
    let program = program.rsplit('/').next().unwrap_or(program);
    let can_be_one = program.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && program.len() <= WORD_CHARS_MAX
        && program.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
    if !can_be_one || NOISE.contains(program) {
        return Vec::new();
    }
    let rest: Vec<&str> = words.skip_while(|word| word.starts_with('+')).collect();
    if program.starts_with("python") {
        return names_of_python(program, &rest);
    }
    if !has_subcommands(program) {
        return vec![program.to_owned()];
    }
    let from = rest.iter().position(|word| !word.starts_with('-')).unwrap_or(rest.len());
    let rest = rest.get(from..).unwrap_or_default();
    let alone = is_lone(program).then(|| program.to_owned());
    let Some(subcommand) = rest.first().filter(|word| is_subcommand(word)) else {
        return vec![program.to_owned()];
    };
    let mut names = Vec::new();
    if is_carrier(program, subcommand)
        && let Some(carried) = rest.get(1).filter(|word| is_subcommand(word))
    {
        names.push(format!("{program} {subcommand} {carried}"));
    }
    names.push(format!("{program} {subcommand}"));
    names.extend(alone);
    if is_runner(program, subcommand) {
        let n_own = if is_carrier(program, subcommand) { 1 } else { 0 };
        names.extend(names_of_run(rest.get(n_own..).unwrap_or_default()));
    }
    names
}

/// `python -m pytest` runs `pytest`.
fn names_of_python(program: &str, rest: &[&str]) -> Vec<String> {
    let place = rest.iter().position(|word| *word == "-m");
    let run = place.and_then(|place| rest.get(place + 1..)).unwrap_or_default();
    let Some(module) = run.first() else { return vec![program.to_owned()] };
    let mut names = vec![format!("{program} -m {module}")];
    names.extend(names_of_run(run));
    names
}

/// What a program runs that runs others, should that be a program we know.
fn names_of_run(rest: &[&str]) -> Vec<String> {
    // No runner of a runner: a line made of them has no end.
    let runs_others = |program: &str| {
        ["run", "exec"].into_iter().any(|how| is_runner(program, how))
            || program.starts_with("python")
    };
    match rest.first() {
        Some(program) if is_program(program) && !runs_others(program) => names_of(&rest.join(" ")),
        _ => Vec::new(),
    }
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_lowercase())
        && word.len() <= WORD_CHARS_MAX
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        let mut harvest = Harvest::new([None, None]);
        each_in_line(line, &mut harvest);
        let found: Vec<String> =
            harvest.into_attributes().into_iter().map(|found| found.filler).collect();
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn a_command_is_its_program_and_what_it_is_to_do() {
        check("git rebase -i main", &["git rebase"]);
        check("sudo RUST_LOG=debug cargo +nightly test -p x # all", &["cargo test"]);
        check("cd /tmp && make install; ls -l | grep x", &["make install", "ls"]);
        check("./scripts/build.sh --fast", &["build.sh"]);
        check("python3 -m pytest -q", &["python3 -m pytest", "pytest"]);
        check("docker compose up -d", &["docker compose up", "docker compose"]);
        check("npm run build -- --watch", &["npm run build", "npm run"]);
        check("uv run pytest -q", &["uv run pytest", "uv run", "pytest"]);
        check("npx eslint src", &["npx eslint", "eslint"]);
        check("npx npx npx git push", &["npx npx"]);
        check("python -m python -m pytest", &["python -m python"]);
        check("ruff check .", &["ruff check", "ruff"]);
        check("git checkout feature/x", &["git checkout"]);
        for nothing in ["", "# a comment", "echo done", "if true; then", "}", "A=b", "123 go"] {
            check(nothing, &[]);
        }
    }

    #[test]
    fn a_lone_word_in_a_sentence_is_no_command() {
        for (code, is_command) in
            [("git push", true), ("git", false), ("find", false), ("foo bar", false), ("", false)]
        {
            assert_eq!(is_known(code), is_command, "{code}");
        }
    }

    #[test]
    fn what_is_asked_for_is_named_as_it_is_kept() {
        for (asked, kept) in [
            ("Flutter test --coverage", "flutter test"),
            ("cargo nextest run -p x", "cargo nextest run"),
            ("pytest -q", "pytest"),
            ("npm run", "npm run"),
            (" build.sh ", "build.sh"),
            ("cd /x", "cd /x"),
            ("run the tests", "run the tests"),
        ] {
            assert_eq!(asked_for(asked), kept);
        }
    }

    #[test]
    fn only_what_does_something_is_counted() {
        let check = |line: &str, expect: &[&str]| assert_eq!(counted_in_line(line), expect);
        check("cd app && flutter test integration | tail -5; ls -la", &["flutter test"]);
        check("python3 -m pytest -q", &["python3 -m pytest"]);
        check("pytest tests/", &["pytest"]);
        check("make -j4", &["make"]);
        for nothing in ["git", "cat x", "python manage.py migrate", "let go = 1", "black", ""] {
            check(nothing, &[]);
        }
    }
}
