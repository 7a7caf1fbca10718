//! What is ours in somebody else's file: how our commands are written and how they are recognised
//! again, whatever path they were installed from.

use std::path::Path;

/// The name of our entry among a host's MCP servers, and the mark of our commands.
pub(super) const NAME: &str = "iai-mcp";
/// Stands between the program and the event in every hook command.
const HOOK_WORD: &str = " hook ";

/// Tells a hook and a server which store is meant.
pub(super) const STORE_VARIABLE: &str = "IAI_MCP_STORE";

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
    /// `None` leaves what entries say about the store as it is.
    store: Option<Store>,
}

/// Where the memory is.
#[derive(Clone, Debug)]
struct Store {
    root: String,
    /// Where it is looked for by whoever is told nothing.
    usual: String,
}

impl Program {
    /// Returns `None` for a path no settings file can hold.
    pub(crate) fn new(path: &Path) -> Option<Self> {
        let path = path.to_str().filter(|_| path.is_absolute())?;
        Some(Self { path: path.to_owned(), store: None })
    }

    /// Has hosts use this store; they are told where it is unless it is the `usual` one.
    pub(crate) fn for_store(self, root: &Path, usual: &Path) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self { store: Some(Store { root: text(root), usual: text(usual) }), ..self }
    }

    /// Returns the store that hosts have to be told of.
    pub(super) fn told_store(&self) -> Option<&str> {
        let told = self.store.as_ref().filter(|store| store.root != store.usual);
        told.map(|store| store.root.as_str())
    }

    /// Returns what an entry's variable should say that says something else.
    pub(super) fn corrected_store(&self, said: &str) -> Option<&str> {
        let store = self.store.as_ref().filter(|store| store.root != said);
        store.map(|store| store.root.as_str())
    }

    /// Returns the store that an entry leads to where that is another one than ours.
    pub(super) fn other_store(&self, said: Option<&str>) -> Option<String> {
        let store = self.store.as_ref()?;
        let meant = said.unwrap_or(&store.usual);
        (meant != store.root).then(|| meant.to_owned())
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the command line of one hook, for the shell that hosts run it with.
    pub(super) fn hook_command(&self, event: &str, host: &str) -> String {
        let store = self.told_store().map(|root| format!("{STORE_VARIABLE}={} ", quoted(root)));
        let store = store.unwrap_or_default();
        format!("{store}{}{HOOK_WORD}{event} --host {host}", quoted(&self.path))
    }

    /// Whether a hook command is ours: this very program, or any `iai-mcp` elsewhere.
    pub(super) fn owns_hook(&self, command: &str) -> bool {
        let (_, command) = split_variables(command);
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
    let (_, command) = split_variables(command);
    let program = command.rsplit_once(HOOK_WORD).map_or(command, |(program, _)| program);
    unquoted(program)
}

/// Returns the store that a hook command names.
pub(super) fn store_of(command: &str) -> Option<String> {
    let (variables, _) = split_variables(command);
    let named = |word: &&str| word.starts_with(STORE_VARIABLE);
    let (_, value) = variables.into_iter().rev().find(named)?.split_once('=')?;
    Some(unquoted(value))
}

/// Splits `A=1 B='2 3' program …` into its variables and the rest, as a shell would.
fn split_variables(command: &str) -> (Vec<&str>, &str) {
    let (mut variables, mut rest) = (Vec::new(), command.trim_start());
    while is_assignment(rest) {
        let (variable, after) = rest.split_at(word_length(rest));
        variables.push(variable);
        rest = after.trim_start();
    }
    (variables, rest)
}

fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name).unwrap_or_default();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && name.chars().all(is_letter)
}

/// Counts the bytes of a shell's first word.
fn word_length(text: &str) -> usize {
    let (mut quote, mut is_escaped) = (None, false);
    for (place, letter) in text.char_indices() {
        match (quote, letter) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => is_escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, _) if letter.is_whitespace() => return place,
            (None, _) => {}
        }
    }
    text.len()
}

/// Takes off the quotes that [`quoted`] or a user put on.
fn unquoted(word: &str) -> String {
    match word.strip_prefix('\'').and_then(|inside| inside.strip_suffix('\'')) {
        Some(inside) => inside.replace(r"'\''", "'"),
        None => word.trim_matches('"').to_owned(),
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
    fn a_store_elsewhere_is_told_and_found_again() {
        for root in ["/data/memory", "/my data/it's $HOME", "/data/iai-mcp hook x"] {
            let told = program("/b/iai-mcp").for_store(Path::new(root), Path::new("/h/.iai-mcp"));
            let command = told.hook_command("stop", "claude");
            assert!(command.starts_with("IAI_MCP_STORE="), "{command}");
            assert!(program("/x").owns_hook(&command), "{command}");
            assert_eq!(program_of(&command), "/b/iai-mcp");
            assert_eq!(store_of(&command).as_deref(), Some(root));
            assert_eq!(told.other_store(store_of(&command).as_deref()), None);
            assert_eq!(told.other_store(None).as_deref(), Some("/h/.iai-mcp"));
        }
        let usual = program("/b/iai-mcp").for_store(Path::new("/h/m"), Path::new("/h/m"));
        assert_eq!(usual.hook_command("stop", "codex"), "/b/iai-mcp hook stop --host codex");
        assert_eq!(usual.other_store(Some("/x")).as_deref(), Some("/x"));
        let mine = "A=1 IAI_MCP_STORE=\"/a b\" '/my tools/iai-mcp' hook stop";
        assert!(usual.owns_hook(mine));
        assert_eq!(
            (store_of(mine).as_deref(), &*program_of(mine)),
            (Some("/a b"), "/my tools/iai-mcp")
        );
        check_ours("IAI_MCP_STORE=/opt/iai-mcp /opt/other hook stop", false);
    }

    #[test]
    fn the_python_program_is_recognised() {
        assert!(is_legacy_hook("bash '/h/.claude/hooks/iai-mcp-session-recall.sh'"));
        assert!(!is_legacy_hook("bash /h/my-turn-capture.sh"));
        assert!(is_legacy_server("/usr/bin/node") && is_legacy_server("node"));
        assert!(!is_legacy_server("/usr/bin/nodemon"));
    }
}
