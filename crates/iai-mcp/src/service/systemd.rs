//! systemd's user manager: two units, a socket that is always there and a service that is not.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::control::{Said, ask, tell};
use super::{Job, Keeper, Reach};
use crate::install::WHOLE_MARK;

pub(super) const SOCKET: &str = "iai-mcp-daemon.socket";
pub(super) const SERVICE: &str = "iai-mcp-daemon.service";
const SYSTEMCTL: &str = "systemctl";

/// Returns the socket unit. Clients that come while no daemon runs wait in its queue.
pub(super) fn socket_unit(job: &Job) -> String {
    format!(
        "# {WHOLE_MARK}; `iai-mcp daemon uninstall` takes it away.\n\
         [Unit]\n\
         Description=Socket of iai-mcp, the long-term memory of AI assistants\n\
         \n\
         [Socket]\n\
         {}\n\
         SocketMode=0600\n\
         DirectoryMode=0700\n\
         # Whoever finds no socket knows at once that nobody listens.\n\
         RemoveOnStop=yes\n\
         \n\
         [Install]\n\
         WantedBy=sockets.target\n",
        socket_line(job)
    )
}

/// Returns the line that says which socket it is.
pub(super) fn socket_line(job: &Job) -> String {
    format!("ListenStream={}", plain(&job.socket))
}

/// Returns the service unit. A daemon that leaves because it is idle ends with 0 and stays away
/// until somebody connects; one that crashes is started again.
pub(super) fn service_unit(job: &Job) -> String {
    let variables = job.environment.iter();
    let variables = variables.map(|(name, value)| format!("{name}={value}"));
    let variables: String =
        variables.map(|pair| format!("Environment={}\n", quoted(&pair))).collect();
    let reach = match job.reach {
        Reach::Narrow => NARROW.to_owned(),
        Reach::WithNetwork => NARROW.replace(NO_NETWORK, NETWORK),
        Reach::WithReflection => WITH_REFLECTION.to_owned(),
    };
    format!(
        "# {WHOLE_MARK}; `iai-mcp daemon uninstall` takes it away.\n\
         [Unit]\n\
         Description=iai-mcp, the long-term memory of AI assistants\n\
         Requires={SOCKET}\n\
         After={SOCKET}\n\
         StartLimitIntervalSec=60\n\
         StartLimitBurst=5\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={} daemon run\n\
         {variables}\
         # It ends with 0 when it was idle for long enough; the socket starts it again.\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         # Settings, the store or its key: trying again would not help.\n\
         RestartPreventExitStatus=3 5\n\
         TimeoutStopSec=20\n\
         UMask=0077\n\
         NoNewPrivileges=yes\n\
         LockPersonality=yes\n\
         RestrictRealtime=yes\n\
         RestrictSUIDSGID=yes\n\
         SystemCallArchitectures=native\n\
         {reach}",
        quoted(&job.program).replace('$', "$$"),
    )
}

const NO_NETWORK: &str = "RestrictAddressFamilies=AF_UNIX\n";
/// A vault on a server, which the user asked for.
const NETWORK: &str = "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n";

/// The kernel sees to it that the daemon has no network, runs no code it made up, and cannot leave
/// its namespaces.
const NARROW: &str = "# \"sync_network\" and \"reflection\" loosen it, with setup again.\n\
     RestrictAddressFamilies=AF_UNIX\n\
     RestrictNamespaces=yes\n\
     MemoryDenyWriteExecute=yes\n\
     SystemCallFilter=@system-service\n\
     SystemCallErrorNumber=EPERM\n";

/// Children inherit what the kernel forbids.
const WITH_REFLECTION: &str =
    "# The program that reflects may need a network, and to compile what it runs.\n";

/// Finds out whether the user's manager answers, and looks into our folder for units.
pub(super) fn keeper(folder: &Path) -> Keeper {
    let nobody = |why: String| Keeper::Nobody(why);
    match ask(SYSTEMCTL, &["--user", "show", "--property=UnitPath", "--value"]) {
        Ok(Said::Yes(paths)) if is_among(&paths, folder) => Keeper::Systemd,
        Ok(Said::Yes(_)) => {
            nobody(format!("systemd's user manager does not look into {}", folder.display()))
        }
        Ok(Said::No(why)) => nobody(format!("systemd's user manager does not answer ({why})")),
        Ok(Said::Absent) => nobody("there is no systemd here".to_owned()),
        Err(error) => nobody(format!("systemd's user manager cannot be asked ({error:#})")),
    }
}

/// Paths come in one line, and a home may have a blank in its name.
fn is_among(paths: &str, folder: &Path) -> bool {
    format!(" {paths} ").contains(&format!(" {} ", folder.display()))
}

pub(super) fn is_listening() -> bool {
    let words = ["--user", "is-active", "--quiet", SOCKET];
    matches!(ask(SYSTEMCTL, &words), Ok(Said::Yes(_)))
}

pub(super) fn start() -> anyhow::Result<()> {
    tell(SYSTEMCTL, &["--user", "daemon-reload"])?;
    // A unit that failed too often is not started again before this; one that did not complains.
    ask(SYSTEMCTL, &["--user", "reset-failed", SOCKET, SERVICE])?;
    tell(SYSTEMCTL, &["--user", "enable", "--now", SOCKET])
}

pub(super) fn stop() -> anyhow::Result<()> {
    // The socket first: whoever connects in between would start the service anew.
    tell(SYSTEMCTL, &["--user", "stop", SOCKET, SERVICE])
}

pub(super) fn remove() -> anyhow::Result<()> {
    tell(SYSTEMCTL, &["--user", "disable", "--now", SOCKET])?;
    tell(SYSTEMCTL, &["--user", "stop", SERVICE])
}

/// Undoes by hand what `enable` did, where there is no manager to do it.
#[expect(clippy::disallowed_methods, reason = "a link that was made because we asked for it")]
pub(super) fn unlink(folder: &Path) -> anyhow::Result<()> {
    let wanted = folder.join("sockets.target.wants");
    let link = wanted.join(SOCKET);
    if fs::symlink_metadata(&link).is_ok_and(|facts| facts.is_symlink()) {
        fs::remove_file(&link).with_context(|| format!("deleting {}", link.display()))?;
        // Fails on a folder that holds other links, as it should.
        fs::remove_dir(&wanted).ok();
    }
    Ok(())
}

/// The files are gone already; a manager that does not care is no failure.
pub(super) fn forget() {
    for words in [&["--user", "daemon-reload"][..], &["--user", "reset-failed", SOCKET, SERVICE]] {
        ask(SYSTEMCTL, words).ok();
    }
}

/// systemd reads `%` as the start of a name of its own.
fn plain(text: &str) -> String {
    text.replace('%', "%%")
}

fn quoted(text: &str) -> String {
    let text = plain(text).replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{text}\"")
}
