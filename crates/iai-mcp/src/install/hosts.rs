//! Which files each host reads, and what we put into them.

use std::path::PathBuf;
use std::sync::Arc;

/// An assistant that can be wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Claude,
    Codex,
    Cursor,
}

/// Every host there is.
pub(crate) const HOSTS: [Host; 3] = [Host::Claude, Host::Codex, Host::Cursor];

/// Where hosts keep their settings, as the environment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostFolders {
    /// The user's home.
    pub(crate) home: PathBuf,
    /// `XDG_CONFIG_HOME`, where set.
    pub(crate) config: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, where set.
    pub(crate) claude: Option<PathBuf>,
    /// `CODEX_HOME`, where set.
    pub(crate) codex: Option<PathBuf>,
}

/// One file of one host.
#[derive(Clone, Debug)]
pub(crate) struct HostFile {
    /// As users know the host.
    pub(crate) host: &'static str,
    pub(crate) path: PathBuf,
    pub(super) content: Content,
}

/// What we put into a file.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Hooks(&'static HookSet),
    JsonServer(&'static ServerFields),
    TomlServer,
    /// All of it is ours and holds [`WHOLE_MARK`].
    Whole(Arc<str>),
}

/// Stands in every file that is ours from its first byte to its last, so that it is known again.
pub(crate) const WHOLE_MARK: &str = "Written by iai-mcp";

/// The hooks of one host.
#[derive(Debug)]
pub(super) struct HookSet {
    /// The word after `--host`.
    pub(super) host: &'static str,
    pub(super) shape: Shape,
    pub(super) events: &'static [HookEvent],
}

/// How a host lists its handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `event: [{matcher, hooks: [handler]}]`
    Grouped,
    /// `event: [handler]`, in a file with a version.
    Flat,
}

#[derive(Debug)]
pub(super) struct HookEvent {
    /// As the host calls it.
    pub(super) name: &'static str,
    /// As our `hook` command calls it.
    pub(super) word: &'static str,
    pub(super) matcher: Option<&'static str>,
    pub(super) timeout_secs: u32,
}

/// What an MCP server's entry holds besides its command and arguments.
#[derive(Debug)]
pub(super) struct ServerFields {
    pub(super) has_type: bool,
}

const fn event(name: &'static str, word: &'static str, timeout_secs: u32) -> HookEvent {
    HookEvent { name, word, matcher: None, timeout_secs }
}

/// A hook takes 10 ms; the timeouts are for machines that are out of breath. `SessionStart` waits
/// for an answer, and `fork` is a source newer than the other four.
static CLAUDE_HOOKS: HookSet = HookSet {
    host: "claude",
    shape: Shape::Grouped,
    events: &[
        HookEvent {
            name: "SessionStart",
            word: "session-start",
            matcher: Some("startup|resume|clear|compact|fork"),
            timeout_secs: 10,
        },
        event("UserPromptSubmit", "prompt", 5),
        event("Stop", "stop", 10),
        event("SubagentStop", "subagent-stop", 10),
        event("PreCompact", "pre-compact", 10),
        event("SessionEnd", "session-end", 5),
    ],
};

/// Codex ends a `SessionEnd` hook after three seconds whatever it is told.
static CODEX_HOOKS: HookSet = HookSet {
    host: "codex",
    shape: Shape::Grouped,
    events: &[
        event("SessionStart", "session-start", 10),
        event("UserPromptSubmit", "prompt", 5),
        event("Stop", "stop", 10),
        event("SubagentStop", "subagent-stop", 10),
        event("PreCompact", "pre-compact", 10),
        event("SessionEnd", "session-end", 3),
    ],
};

static CURSOR_HOOKS: HookSet = HookSet {
    host: "cursor",
    shape: Shape::Flat,
    events: &[
        event("sessionStart", "session-start", 10),
        event("beforeSubmitPrompt", "prompt", 5),
        event("stop", "stop", 10),
        event("subagentStop", "subagent-stop", 10),
        event("preCompact", "pre-compact", 10),
        event("sessionEnd", "session-end", 5),
    ],
};

static TYPED_SERVER: ServerFields = ServerFields { has_type: true };
static PLAIN_SERVER: ServerFields = ServerFields { has_type: false };

impl Host {
    /// Whether this host has ever run here.
    pub(crate) fn is_present(self, folders: &HostFolders) -> bool {
        match self {
            Self::Claude => folders.claude().is_dir(),
            Self::Codex => folders.codex().is_dir(),
            Self::Cursor => folders.cursor().is_dir(),
        }
    }

    /// Returns the files to wire, whether or not they exist.
    pub(crate) fn files(self, folders: &HostFolders) -> Vec<HostFile> {
        let file = |host, path, content| HostFile { host, path, content };
        match self {
            Self::Claude => {
                let hooks = Content::Hooks(&CLAUDE_HOOKS);
                let server = Content::JsonServer(&TYPED_SERVER);
                let mut files = vec![
                    file("claude", folders.claude_settings(), hooks),
                    file("claude", folders.claude_state(), server),
                ];
                let desktop = folders.claude_desktop();
                if desktop.is_dir() {
                    let path = desktop.join("claude_desktop_config.json");
                    let server = Content::JsonServer(&PLAIN_SERVER);
                    files.push(file("claude-desktop", path, server));
                }
                files
            }
            Self::Codex => vec![
                file("codex", folders.codex().join("hooks.json"), Content::Hooks(&CODEX_HOOKS)),
                file("codex", folders.codex_config(), Content::TomlServer),
            ],
            Self::Cursor => {
                let hooks = Content::Hooks(&CURSOR_HOOKS);
                let server = Content::JsonServer(&PLAIN_SERVER);
                vec![
                    file("cursor", folders.cursor().join("hooks.json"), hooks),
                    file("cursor", folders.cursor().join("mcp.json"), server),
                ]
            }
        }
    }
}

impl HostFile {
    /// Returns a file that is ours alone; `text` holds [`WHOLE_MARK`].
    pub(crate) fn whole(host: &'static str, path: PathBuf, text: &str) -> Self {
        assert!(text.contains(WHOLE_MARK), "a file of ours can be known again");
        Self { host, path, content: Content::Whole(text.into()) }
    }
}

impl HostFolders {
    fn claude(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude"))
    }

    pub(super) fn claude_settings(&self) -> PathBuf {
        self.claude().join("settings.json")
    }

    pub(super) fn codex_config(&self) -> PathBuf {
        self.codex().join("config.toml")
    }

    /// Claude Code keeps its user-wide MCP servers beside its folder, or inside one that was moved.
    fn claude_state(&self) -> PathBuf {
        self.claude.as_deref().unwrap_or(&self.home).join(".claude.json")
    }

    fn claude_desktop(&self) -> PathBuf {
        if cfg!(target_os = "macos") {
            self.home.join("Library/Application Support/Claude")
        } else {
            self.config.clone().unwrap_or_else(|| self.home.join(".config")).join("Claude")
        }
    }

    fn codex(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    fn cursor(&self) -> PathBuf {
        self.home.join(".cursor")
    }

    /// Folders of a machine where nothing has been moved.
    #[cfg(test)]
    pub(super) fn below(home: &std::path::Path) -> Self {
        Self { home: home.to_owned(), config: None, claude: None, codex: None }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn paths(host: Host, folders: &HostFolders) -> Vec<String> {
        host.files(folders).iter().map(|file| file.path.display().to_string()).collect()
    }

    #[test]
    fn every_host_has_its_files() {
        let folders = HostFolders::below(Path::new("/h"));
        assert_eq!(paths(Host::Claude, &folders), ["/h/.claude/settings.json", "/h/.claude.json"]);
        assert_eq!(paths(Host::Codex, &folders), ["/h/.codex/hooks.json", "/h/.codex/config.toml"]);
        assert_eq!(paths(Host::Cursor, &folders), ["/h/.cursor/hooks.json", "/h/.cursor/mcp.json"]);
    }

    #[test]
    fn a_moved_folder_is_followed() {
        let mut folders = HostFolders::below(Path::new("/h"));
        folders.claude = Some("/c".into());
        folders.codex = Some("/x".into());
        assert_eq!(paths(Host::Claude, &folders), ["/c/settings.json", "/c/.claude.json"]);
        assert_eq!(paths(Host::Codex, &folders), ["/x/hooks.json", "/x/config.toml"]);
    }

    #[test]
    fn the_desktop_is_wired_only_where_it_lives() {
        let home = tempfile::tempdir().unwrap();
        let folders = HostFolders::below(home.path());
        assert_eq!(Host::Claude.files(&folders).len(), 2);
        std::fs::create_dir_all(folders.claude_desktop()).unwrap();
        let files = Host::Claude.files(&folders);
        assert_eq!(files.last().unwrap().host, "claude-desktop");
    }
}
