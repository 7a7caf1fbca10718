//! What is ours in somebody else's file: how our commands are written and how they are recognised
//! again, whatever path they were installed from.

use std::path::Path;

/// The name of our entry among a host's MCP servers, and the mark of our commands.
pub(super) const NAME: &str = "iai-mcp";
/// Stands between the program and the event in every hook command.
const HOOK_WORD: &str = " hook ";

/// Scripts of the Python program, which this one takes over from.
const LEGACY_SCRIPTS: [&str; 5] = [
    "iai-mcp-turn-capture.sh",
    "iai-mcp-session-capture.sh",
    "iai-mcp-session-recall.sh",
    "iai-mcp-update-check.sh",
    "iai-mcp-codex-session-capture.sh",
];

/// This program, as hosts are told to run it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Absolute.
    path: String,
}

impl Program {
    /// Returns `None` for a path no settings file can hold.
    pub(crate) fn new(path: &Path) -> Option<Self> {
        let path = path.to_str().filter(|_| path.is_absolute())?;
        Some(Self { path: path.to_owned() })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the command line of one hook, for the shell that hosts run it with.
    pub(super) fn hook_command(&self, event: &str, host: &str) -> String {
        format!("{}{HOOK_WORD}{event} --host {host}", quoted(&self.path))
    }

    /// Whether a hook command is ours: this very program, or any `iai-mcp` elsewhere.
    pub(super) fn owns_hook(&self, command: &str) -> bool {
        let Some((program, _)) = command.rsplit_once(HOOK_WORD) else { return false };
        program == quoted(&self.path) || file_name(program).contains(NAME)
    }

    /// Whether an MCP server's command is ours.
    pub(super) fn owns_server(&self, command: &str) -> bool {
        command == self.path || file_name(command).contains(NAME)
    }
}

/// Whether a hook command belongs to the Python program.
pub(super) fn is_legacy_hook(command: &str) -> bool {
    LEGACY_SCRIPTS.iter().any(|script| command.contains(script))
}

/// Whether an MCP server's command belongs to the Python program, whose server ran in node.
pub(super) fn is_legacy_server(command: &str) -> bool {
    matches!(file_name(command), "node" | "nodejs" | "node.exe")
}

/// Returns the program a hook command of ours runs.
pub(super) fn program_of(command: &str) -> String {
    let program = command.rsplit_once(HOOK_WORD).map_or(command, |(program, _)| program);
    match program.strip_prefix('\'').and_then(|inside| inside.strip_suffix('\'')) {
        Some(inside) => inside.replace(r"'\''", "'"),
        None => program.trim_matches('"').to_owned(),
    }
}

fn file_name(program: &str) -> &str {
    let program = program.trim_end_matches(['"', '\'']);
    program.rsplit('/').next().unwrap_or(program)
}

/// Quotes only what needs it, so that most users read a plain path.
fn quoted(path: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@%,:=".contains(letter);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str) -> Program {
        Program::new(Path::new(path)).unwrap()
    }

    #[track_caller]
    fn check_ours(command: &str, want: bool) {
        assert_eq!(program("/opt/memory").owns_hook(command), want, "{command}");
    }

    #[test]
    fn our_hooks_are_recognised_wherever_they_were_installed() {
        check_ours("/usr/bin/iai-mcp hook stop --host claude", true);
        check_ours("'/my tools/iai-mcp' hook stop --host claude", true);
        check_ours("\"/my hook tools/iai-mcp\" hook stop", true);
        check_ours("/opt/iai-mcp-0.5 hook prompt --host codex", true);
        check_ours("/opt/memory hook stop --host claude", true);
        check_ours("/opt/other hook stop", false);
        check_ours("/home/u/iai-mcp/lint.sh hook stop", false);
        check_ours("iai-mcp status", false);
        check_ours("bash ~/.claude/hooks/iai-mcp-turn-capture.sh", false);
    }

    #[test]
    fn a_command_survives_the_shell_and_comes_back() {
        for path in ["/usr/bin/iai-mcp", "/my tools/iai-mcp", "/it's $HOME/iai-mcp", "/ж/iai-mcp"]
        {
            let command = program(path).hook_command("stop", "claude");
            assert!(program("/x").owns_hook(&command), "{command}");
            assert_eq!(program_of(&command), path);
        }
        assert_eq!(
            program("/it's/iai-mcp").hook_command("stop", "codex"),
            r"'/it'\''s/iai-mcp' hook stop --host codex"
        );
        assert!(Program::new(Path::new("relative/iai-mcp")).is_none());
    }

    #[test]
    fn the_python_program_is_recognised() {
        assert!(is_legacy_hook("bash '/h/.claude/hooks/iai-mcp-session-recall.sh'"));
        assert!(!is_legacy_hook("bash /h/my-turn-capture.sh"));
        assert!(is_legacy_server("/usr/bin/node") && is_legacy_server("node"));
        assert!(!is_legacy_server("/usr/bin/nodemon"));
    }
}
