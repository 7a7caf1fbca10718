//! Every setting there is: the one list that the reader of settings and its reference go by.
//!
//! Nothing but data and words, so that `cargo xtask docs` can write `docs/configuration.md` from
//! it.

/// One setting.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) effect: &'static str,
}

/// What a setting may be, and what it is when nobody says.
pub(crate) enum Takes {
    /// An absolute path, and the words for the default.
    Path(&'static str),
    /// A whole number of seconds.
    Seconds { default: u64, min: u64, max: u64 },
    /// Any text, and the words for the default.
    Text(&'static str),
    /// Anything but nothing.
    Presence,
    /// `true` or `false`; false unless said.
    Flag,
    /// One of these; the first unless said.
    Choice(&'static [&'static str]),
    /// Texts, at most so many where there is a limit; none unless said.
    List(Option<usize>),
}

/// How long a daemon stays without work.
pub(crate) const IDLE_SHUTDOWN_SECS: u64 = 1800;
/// How long a reflection may take, unless said, and at most.
pub(crate) const REFLECTION_SECS: u64 = 120;
pub(crate) const REFLECTION_SECS_MAX: u64 = 900;
/// Variables that may be passed on to it.
pub(crate) const REFLECTION_VARIABLES_MAX: usize = 32;

/// What is taken from the environment. An empty variable counts as unset.
pub(crate) const VARIABLES: &[Setting] = &[
    Setting {
        name: "IAI_MCP_STORE",
        takes: Takes::Path("`$HOME/.iai-mcp`"),
        effect: "where everything lives: store, key, spool, logs, models, `config.json`. Hosts \
                 have to see it too.",
    },
    Setting {
        name: "IAI_DAEMON_SOCKET_PATH",
        takes: Takes::Path("`<store>/.daemon.sock`"),
        effect: "the daemon's socket; for a store whose path is longer than a socket's may be",
    },
    Setting {
        name: "IAI_DAEMON_IDLE_SHUTDOWN_SECS",
        takes: Takes::Seconds { default: IDLE_SHUTDOWN_SECS, min: 0, max: u64::MAX },
        effect: "the daemon leaves after so long without work; 0 means never. One that runs in the \
                 background, where no service manager would start it again, leaves only where \
                 this is set.",
    },
    Setting {
        name: "IAI_MCP_CRYPTO_PASSPHRASE",
        takes: Takes::Text("none"),
        effect: "opens the store where there is no key file",
    },
    Setting {
        name: "IAI_MCP_CRYPTO_NEW_PASSPHRASE",
        takes: Takes::Text("none"),
        effect: "what `crypto rotate` changes the passphrase to",
    },
    Setting {
        name: "HOME",
        takes: Takes::Path("the system's"),
        effect: "where the store and the hosts' own files are looked for",
    },
    Setting {
        name: "XDG_CONFIG_HOME",
        takes: Takes::Path("`$HOME/.config`"),
        effect: "where Claude Desktop's settings are looked for",
    },
    Setting {
        name: "CLAUDE_CONFIG_DIR",
        takes: Takes::Path("`$HOME/.claude`"),
        effect: "where Claude Code's settings and transcripts are looked for",
    },
    Setting {
        name: "CODEX_HOME",
        takes: Takes::Path("`$HOME/.codex`"),
        effect: "where Codex's settings and transcripts are looked for",
    },
    Setting {
        name: "CLAUDE_CODE_SESSION_ID",
        takes: Takes::Text("one drawn for each MCP process"),
        effect: "the session that MCP calls belong to; Claude Code sets it",
    },
    Setting {
        name: "PATH",
        takes: Takes::Text("none"),
        effect: "where `setup` looks for programs of the system: the service manager, npm, pip",
    },
    Setting { name: "NO_COLOR", takes: Takes::Presence, effect: "no colours" },
    Setting {
        name: "TERM",
        takes: Takes::Text("what the terminal is"),
        effect: "no colours where it is `dumb`",
    },
    Setting {
        name: "VISUAL",
        takes: Takes::Text("`$EDITOR`"),
        effect: "the program that `identity edit` opens, with its arguments",
    },
    Setting {
        name: "EDITOR",
        takes: Takes::Text("`vi`"),
        effect: "the same, where `VISUAL` is not set",
    },
];

/// What a service manager sets; read by the code that takes the socket over, not as a setting.
pub(crate) const HANDED_OVER: &[Setting] = &[
    Setting {
        name: "LISTEN_FDS",
        takes: Takes::Text("none"),
        effect: "a socket handed over by systemd; with it the daemon binds none itself",
    },
    Setting {
        name: "LISTEN_PID",
        takes: Takes::Text("none"),
        effect: "whom the socket is meant for",
    },
];

/// What `<store>/config.json` may hold; other keys are left alone.
pub(crate) const KEYS: &[Setting] = &[
    Setting {
        name: "recall_on_prompt",
        takes: Takes::Flag,
        effect: "the prompt hook tells the assistant what is known about each prompt: at most 400 \
                 tokens, nothing when nothing fits well, never words that give orders",
    },
    Setting {
        name: "allow_forget_tool",
        takes: Takes::Flag,
        effect: "offers the assistant `memory_forget`, behind a confirmation bound to what it \
                 showed",
    },
    Setting {
        name: "sync_network",
        takes: Takes::Flag,
        effect: "the service that `setup` or `daemon install` makes lets the daemon reach a \
                 network, which a vault on a server needs; run `daemon install` after a change",
    },
    Setting {
        name: "ignore",
        takes: Takes::List(None),
        effect: "folders whose sessions are not captured; absolute, or beginning with `~/`. A file \
                 `.iai-mcp-ignore` in a folder does the same.",
    },
    Setting {
        name: "secrets",
        takes: Takes::Choice(&["replace", "keep"]),
        effect: "what stands in place of a key, token or password: a mark like \
                 `[secret:github-token:3f9a]`, or its own words. Read again at every write.",
    },
    Setting {
        name: "secrets_allowed",
        takes: Takes::List(None),
        effect: "texts, or their marks, that only look like secrets",
    },
    Setting {
        name: "reflection",
        takes: Takes::Text("`off`"),
        effect: "a command line of yours that gets notes on stdin once a night; what it answers is \
                 kept, marked as generated, with its sources. No shell unless you write one.",
    },
    Setting {
        name: "reflection_timeout_secs",
        takes: Takes::Seconds { default: REFLECTION_SECS, min: 1, max: REFLECTION_SECS_MAX },
        effect: "how long it may take",
    },
    Setting {
        name: "reflection_environment",
        takes: Takes::List(Some(REFLECTION_VARIABLES_MAX)),
        effect: "names of further variables it sees; without it, only what a program needs to find \
                 its way",
    },
];
