//! The MCP process: what a host speaks to over stdio.
//!
//! It knows the protocol and the words of the tools. What a tool does is the daemon's
//! business, reached through `client`; this room neither opens the store nor starts a daemon.

mod server;

mod doorway;
mod ending;
mod sieve;

mod arguments;
mod prompts;
mod resources;
mod tools;

pub(crate) mod hits;

#[cfg(test)]
mod schema_check;

use anyhow::Context;

use crate::client::Client;
pub(crate) use tools::Forgetting;

/// The conversation of the host this process serves.
#[derive(Debug, Clone)]
pub(crate) struct HostSession {
    /// The host's own session id when it told us, else one drawn for this process.
    pub(crate) id: String,
    /// Where the host was working when it started us.
    pub(crate) cwd: String,
    /// The project that folder belongs to.
    pub(crate) project: String,
    /// Whether the user lets it forget.
    pub(crate) forgetting: Forgetting,
}

/// Calls that may wait on the daemon at one time; later ones queue for a seat.
const CALLS_AT_ONCE_MAX: usize = 8;

/// The blocking standard streams each hold one thread where the system offers no pipes.
const STREAM_THREADS_MAX: usize = 2;

/// Returns the revisions of the protocol that are spoken, oldest first.
pub(crate) fn protocol_revisions() -> Vec<&'static str> {
    rmcp::model::ProtocolVersion::KNOWN_VERSIONS.iter().map(|version| version.as_str()).collect()
}

/// Serves one host until it hangs up, dies or signals.
pub(crate) fn serve(client: Client, session: HostSession) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(CALLS_AT_ONCE_MAX + STREAM_THREADS_MAX)
        .build()
        .context("starting the MCP runtime")?;
    let outcome = runtime.block_on(server::converse(client, session));
    // A call blocked on the daemon, or a read on a terminal, must not outlive the host: those
    // threads end with us.
    runtime.shutdown_background();
    outcome
}
