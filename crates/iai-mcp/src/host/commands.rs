//! What of a command is kept: what it runs, never what that is given. Words, paths and values
//! behind it may be anybody's secret, and nobody said them.

use serde_json::Value;

use crate::fields::Fields as _;

/// Tools that run a line of a shell, by the names hosts give them. Other tools have a `command`
/// too, which is none.
const SHELLS: &[&str] = &[
    "Bash",
    "PowerShell",
    "Shell",
    "bash",
    "container.exec",
    "exec_command",
    "local_shell",
    "run_command",
    "run_shell_command",
    "run_terminal_cmd",
    "run_terminal_command",
    "shell",
    "shell_command",
    "terminal",
];

/// The names hosts give to the line.
const LINE_FIELDS: &[&str] = &["command", "cmd"];

/// Words before the program itself, which may be behind several of them.
const BEFORE: &[&str] = &["sudo", "time", "nohup", "exec", "env", "command", "then", "do", "!"];
/// Words of a shell that run nothing.
const SILENT: &[&str] = &[
    "alias", "cd", "echo", "eval", "exit", "export", "for", "function", "if", "local", "printf",
    "pushd", "popd", "read", "return", "set", "source", "test", "true", "unset", "wait", "while",
];
/// Programs that do many things: the word behind them says which. Behind any other program it may
/// be a password.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt",
    "apt-get",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "dart",
    "deno",
    "docker",
    "dotnet",
    "flutter",
    "gh",
    "git",
    "go",
    "gradle",
    "gradlew",
    "helm",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "nix",
    "npm",
    "npx",
    "php",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rake",
    "ruff",
    "rustup",
    "swift",
    "systemctl",
    "terraform",
    "tofu",
    "uv",
    "yarn",
    "zig",
];
/// Behind these a further word says what is done: `npm run build`, `go mod tidy`.
const CARRIERS: &[&str] = &[
    "artisan", "bisect", "build", "buildx", "compose", "ef", "exec", "mod", "nextest", "pip", "pr",
    "pub", "rollout", "run", "stash", "sqlx", "tool", "work", "worktree", "xtask",
];
/// What it is to do, and what of that.
const BEHIND_MAX: usize = 2;
/// A longer word is data.
const WORD_BYTES_MAX: usize = 40;

/// Returns what a call of a tool runs, in order.
pub(super) fn run_by(tool: &str, input: &Value) -> Vec<String> {
    if !SHELLS.contains(&tool) {
        return Vec::new();
    }
    let given = LINE_FIELDS.iter().map(|name| input.at(name)).find(|given| !given.is_null());
    given.and_then(script_of).map_or_else(Vec::new, |script| run_in(&script))
}

/// The script of a shell: a text, or the last of `["bash", "-lc", "…"]`.
fn script_of(given: &Value) -> Option<String> {
    if let Some(script) = given.as_str() {
        return Some(script.to_owned());
    }
    let words: Option<Vec<&str>> = given.as_array()?.iter().map(Value::as_str).collect();
    let words = words?;
    match words.as_slice() {
        [shell, option, script] if shell.ends_with("sh") && option.ends_with('c') => {
            Some((*script).to_owned())
        }
        words => Some(words.join(" ")),
    }
}

/// Reads the first line; what follows may stand inside a quotation.
fn run_in(script: &str) -> Vec<String> {
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let line = script.lines().map(str::trim).find(is_said).unwrap_or_default();
    // Behind the first quotation nobody can tell a command from its data.
    let open = line.split(['"', '\'', '`', '<']).next().unwrap_or(line);
    let open = open.split("$(").next().unwrap_or(open);
    let parts = open.split("&&").flat_map(|part| part.split([';', '|']));
    parts.filter_map(run_of).collect()
}

fn run_of(part: &str) -> Option<String> {
    let is_assignment = |word: &&str| word.contains('=') && !word.starts_with('-');
    let mut words =
        part.split_whitespace().skip_while(|word| BEFORE.contains(word) || is_assignment(word));
    let program = words.next()?.trim_start_matches(['(', '{']);
    let program = program.rsplit('/').next().unwrap_or(program);
    let is_program = program.starts_with(|c: char| c.is_ascii_alphabetic())
        && program.len() <= WORD_BYTES_MAX
        && program.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
    if !is_program || SILENT.contains(&program) {
        return None;
    }
    let mut kept = vec![program];
    let mut words = words.skip_while(|word| word.starts_with('+')).peekable();
    // A module is what is run; no other option says what is done.
    let is_module = program.starts_with("python") && words.next_if_eq(&"-m").is_some();
    let behind: Vec<&str> = words.take_while(|word| is_plain(word)).take(BEHIND_MAX).collect();
    let n_kept = match is_module {
        true => 1,
        false => n_words_of_doing(program, behind.first().copied().unwrap_or_default()),
    };
    kept.extend(is_module.then_some("-m"));
    kept.extend(behind.into_iter().take(n_kept));
    Some(kept.join(" "))
}

/// Returns how many of the words behind a program say what it does.
fn n_words_of_doing(program: &str, first: &str) -> usize {
    match WITH_SUBCOMMANDS.contains(&program) {
        true => 1 + usize::from(CARRIERS.contains(&first)),
        false => 0,
    }
}

fn is_plain(word: &str) -> bool {
    word.len() <= WORD_BYTES_MAX
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(script: &str, expect: &[&str]) {
        assert_eq!(run_by("Bash", &json!({"command": script})), expect, "{script}");
    }

    #[test]
    fn what_is_run_is_kept_and_not_what_it_is_given() {
        check("flutter test --coverage", &["flutter test"]);
        check("cd /src/app && flutter test 2>&1 | tail -5", &["flutter test", "tail"]);
        check("# all of them\nFOO=bar sudo cargo +nightly test -p x\nls", &["cargo test"]);
        check("git commit -m \"the password is x; rm y\"", &["git commit"]);
        check("python3 -m pytest -q", &["python3 -m pytest"]);
        check("./build.sh hunter2", &["build.sh"]);
        check("./gradlew assembleDebug", &["gradlew assembleDebug"]);
        check("redis-cli auth hunter2", &["redis-cli"]);
        check("grep hunter2 .env; git checkout secret-plan", &["grep", "git checkout"]);
        check("cargo test; X=$(pass show bank)", &["cargo test"]);
        check("npm run build; docker compose up -d", &["npm run build", "docker compose up"]);
        check("curl -H 'Authorization: x' https://a/b", &["curl"]);
        check("mysql -pverysecret shop", &["mysql"]);
        check("cat <<EOF\nmake install\nEOF", &["cat"]);
        for nothing in
            ["", "# only this", "echo hunter2", "export A=b", "A=b", "\"quoted\" x", "(("]
        {
            check(nothing, &[]);
        }
    }

    #[test]
    fn only_shells_run_lines() {
        for (tool, input, expect) in [
            ("shell", json!({"command": ["bash", "-lc", "cargo test"]}), &["cargo test"][..]),
            ("shell", json!({"command": ["git", "status"]}), &["git status"]),
            ("shell", json!({"command": ["grep", "my secret phrase", "f"]}), &["grep"]),
            ("exec_command", json!({"cmd": "go test ./..."}), &["go test"]),
            ("editor", json!({"command": "view", "path": "a.rs"}), &[]),
            ("Bash", json!({"command": 7}), &[]),
            ("Bash", json!({"command": [1, 2]}), &[]),
            ("Bash", json!(null), &[]),
        ] {
            assert_eq!(run_by(tool, &input), expect, "{tool} {input}");
        }
    }
}
