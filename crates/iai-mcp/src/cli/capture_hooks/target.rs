//! The hosts by the words of the command line.

use clap::ValueEnum;

use crate::install::{HOSTS, Host};

/// Which hosts are meant.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Target {
    Claude,
    Codex,
    Cursor,
    /// Gemini CLI, and Antigravity beside it
    Gemini,
    VsCode,
    Windsurf,
    Zed,
    All,
}

impl Target {
    /// Returns them.
    pub(in crate::cli) fn hosts(self) -> Vec<Host> {
        match self {
            Self::Claude => vec![Host::Claude],
            Self::Codex => vec![Host::Codex],
            Self::Cursor => vec![Host::Cursor],
            Self::Gemini => vec![Host::Gemini],
            Self::VsCode => vec![Host::VsCode],
            Self::Windsurf => vec![Host::Windsurf],
            Self::Zed => vec![Host::Zed],
            Self::All => HOSTS.to_vec(),
        }
    }
}
