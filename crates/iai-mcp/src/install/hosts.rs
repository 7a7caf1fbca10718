//! Which files each host reads, and what we put into them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An assistant that can be wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Claude,
    Codex,
    Cursor,
    Gemini,
    VsCode,
    Windsurf,
    Zed,
}

/// Every host there is.
pub(crate) const HOSTS: [Host; 7] = [
    Host::Claude,
    Host::Codex,
    Host::Cursor,
    Host::Gemini,
    Host::VsCode,
    Host::Windsurf,
    Host::Zed,
];

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

/// Where a host lists its MCP servers, and what an entry holds besides command and arguments.
#[derive(Debug)]
pub(super) struct ServerFields {
    /// The object that holds them, as the host calls it.
    pub(super) list: &'static str,
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

static TYPED_SERVER: ServerFields = ServerFields { list: "mcpServers", has_type: true };
static PLAIN_SERVER: ServerFields = ServerFields { list: "mcpServers", has_type: false };
static VS_CODE_SERVER: ServerFields = ServerFields { list: "servers", has_type: true };
static ZED_SERVER: ServerFields = ServerFields { list: "context_servers", has_type: false };

impl Host {
    /// Whether this host has ever run here.
    pub(crate) fn is_present(self, folders: &HostFolders) -> bool {
        match self {
            Self::Claude => folders.claude().is_dir(),
            Self::Codex => folders.codex().is_dir(),
            Self::Cursor => folders.cursor().is_dir(),
            Self::Gemini => folders.gemini().is_dir(),
            Self::VsCode => folders.vs_code().is_dir(),
            Self::Windsurf => folders.windsurf().is_dir(),
            Self::Zed => folders.zed().is_dir(),
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
            Self::Gemini => gemini_files(&folders.gemini()),
            Self::VsCode => {
                let server = Content::JsonServer(&VS_CODE_SERVER);
                vec![file("vs-code", folders.vs_code().join("mcp.json"), server)]
            }
            Self::Windsurf => {
                let server = Content::JsonServer(&PLAIN_SERVER);
                vec![file("windsurf", folders.windsurf().join("mcp_config.json"), server)]
            }
            Self::Zed => {
                let server = Content::JsonServer(&ZED_SERVER);
                vec![file("zed", folders.zed().join("settings.json"), server)]
            }
        }
    }
}

/// Gemini CLI and Antigravity share a folder; the second has moved its file within it.
fn gemini_files(folder: &Path) -> Vec<HostFile> {
    let file = |host, path| HostFile { host, path, content: Content::JsonServer(&PLAIN_SERVER) };
    let antigravity = ["config", "antigravity"].map(|name| folder.join(name));
    let antigravity = antigravity.into_iter().filter(|folder| folder.is_dir());
    let antigravity = antigravity.map(|folder| file("antigravity", folder.join("mcp_config.json")));
    [file("gemini", folder.join("settings.json"))].into_iter().chain(antigravity).collect()
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
        self.applications().join("Claude")
    }

    fn vs_code(&self) -> PathBuf {
        self.applications().join("Code/User")
    }

    /// Where programs with windows keep what is theirs.
    fn applications(&self) -> PathBuf {
        if cfg!(target_os = "macos") {
            self.home.join("Library/Application Support")
        } else {
            self.config()
        }
    }

    fn config(&self) -> PathBuf {
        self.config.clone().unwrap_or_else(|| self.home.join(".config"))
    }

    /// The same on every system.
    fn zed(&self) -> PathBuf {
        self.config().join("zed")
    }

    fn gemini(&self) -> PathBuf {
        self.home.join(".gemini")
    }

    fn windsurf(&self) -> PathBuf {
        self.home.join(".codeium/windsurf")
    }

    fn codex(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    fn cursor(&self) -> PathBuf {
        self.home.join(".cursor")
    }

    /// Folders of a machine where nothing has been moved.
    #[cfg(test)]
    pub(super) fn below(home: &Path) -> Self {
        Self { home: home.to_owned(), config: None, claude: None, codex: None }
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(paths(Host::Gemini, &folders), ["/h/.gemini/settings.json"]);
        assert_eq!(paths(Host::Windsurf, &folders), ["/h/.codeium/windsurf/mcp_config.json"]);
        assert_eq!(paths(Host::Zed, &folders), ["/h/.config/zed/settings.json"]);
        let vs_code = folders.applications().join("Code/User/mcp.json");
        assert_eq!(paths(Host::VsCode, &folders), [vs_code.display().to_string()]);
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

    #[test]
    fn antigravity_is_wired_in_the_folder_it_has() {
        let home = tempfile::tempdir().unwrap();
        let folders = HostFolders::below(home.path());
        for folder in ["config", "antigravity"] {
            std::fs::create_dir_all(folders.gemini().join(folder)).unwrap();
            let files = Host::Gemini.files(&folders);
            assert!(files.iter().any(|file| {
                file.host == "antigravity"
                    && file.path == folders.gemini().join(folder).join("mcp_config.json")
            }));
        }
    }
}
