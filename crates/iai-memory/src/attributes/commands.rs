//! Commands of a shell by what they run: the program, and the subcommand of one that has them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use iai_store::AttributeRole;

use super::harvest::Harvest;
use super::text::words;

/// Programs that do many things: the next word says which.
static WITH_SUBCOMMANDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "apt apt-get aws az brew bun bundle cargo composer conda deno dnf docker docker-compose \
         dotnet firebase flutter gcloud gem gh git go gradle heroku helm iai-mcp kubectl make mix \
         mvn nix npm npx pip pip3 pipx pnpm podman poetry rails rake rustup supabase swift \
         systemctl terraform uv vercel wrangler yarn yum",
    )
});
/// Programs that are a command even in the middle of a sentence.
static ALONE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "bash cat chmod chown cmake cp curl diff ffmpeg find gcc grep jest jq kill less ls mkdir \
         mv mypy mysql node ping psql pytest python python3 redis-cli rg rm rsync ruff rustc scp \
         sed sqlite3 ssh tail tar tmux tsc vim vitest wget xargs",
    )
});
/// Words of a shell that run nothing worth finding.
static NOISE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "alias case cd do done echo elif else esac exit export fi for function if local printf \
         read return set source then true unset while",
    )
});
/// Words before the program itself.
const BEFORE: &[&str] = &["sudo", "time", "nohup", "exec", "env", "command", "then", "do", "!"];

const WORD_CHARS_MAX: usize = 40;

/// Tells whether a piece of inline code is a command line.
pub(super) fn is_known(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let program = words.next().unwrap_or_default();
    let has_more = words.next().is_some();
    // A lone "git" or "find" in a sentence names the program, or is only a word.
    has_more && (WITH_SUBCOMMANDS.contains(program) || ALONE.contains(program))
}

/// Notes every command of a line.
pub(super) fn each_in_line(line: &str, harvest: &mut Harvest<'_>) {
    let line = line.split(" #").next().unwrap_or(line);
    for part in line.split("&&").flat_map(|part| part.split(';')) {
        // What stands behind a pipe only shapes the output.
        let first = part.split('|').next().unwrap_or(part);
        if let Some(command) = command_of(first) {
            harvest.add(AttributeRole::Command, &command);
        }
    }
}

fn command_of(part: &str) -> Option<String> {
    let is_assignment = |word: &&str| word.contains('=') && !word.starts_with(['-', '=']);
    let mut words =
        part.split_whitespace().skip_while(|word| BEFORE.contains(word) || is_assignment(word));
    let program = words.next()?.trim_start_matches(['(', '{']);
    let program = program.rsplit('/').next().unwrap_or(program);
    let is_program = program.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && program.len() <= WORD_CHARS_MAX
        && program.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
    if !is_program || NOISE.contains(program) {
        return None;
    }
    if program.starts_with("python") {
        let module = part.split_once(" -m ").and_then(|(_, rest)| rest.split_whitespace().next());
        return Some(module.map_or(program.to_owned(), |module| format!("{program} -m {module}")));
    }
    if !WITH_SUBCOMMANDS.contains(program) {
        return Some(program.to_owned());
    }
    let is_subcommand = |word: &&str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && word.len() <= WORD_CHARS_MAX
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
    };
    let mut rest = words.skip_while(|word| word.starts_with(['-', '+']));
    match rest.next().filter(is_subcommand) {
        Some(subcommand) => Some(format!("{program} {subcommand}")),
        None => Some(program.to_owned()),
    }
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
        check("python3 -m pytest -q", &["python3 -m pytest"]);
        check("docker compose up -d", &["docker compose"]);
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
}
