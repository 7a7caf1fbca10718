//! launchd: one plist, whose socket is handed over under the name `Listener`.

use std::path::Path;

use super::control::{Said, ask, tell};
use super::{Job, Keeper};
use crate::install::WHOLE_MARK;

const LABEL: &str = "com.iai-mcp.daemon";
pub(super) const FILE: &str = "com.iai-mcp.daemon.plist";
const LAUNCHCTL: &str = "launchctl";

/// Returns the plist. `SockPathMode` is decimal: 384 is 0600. `Crashed` alone, because
/// `SuccessfulExit` would start the daemon at login whether or not anybody wants it.
pub(super) fn plist(job: &Job) -> String {
    let variables = job.environment.iter().map(|(name, value)| {
        format!("    <key>{name}</key>\n    <string>{}</string>\n", escaped(value))
    });
    let variables: String = variables.collect();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN"
  "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- {WHOLE_MARK}; `iai-mcp daemon uninstall` takes it away. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{}</string>
    <string>daemon</string>
    <string>run</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
{variables}  </dict>
  <key>Sockets</key>
  <dict>
    <key>Listener</key>
    <dict>
      <key>SockFamily</key>
      <string>Unix</string>
      <key>SockType</key>
      <string>stream</string>
      <key>SockPathName</key>
      {}
      <key>SockPathMode</key>
      <integer>384</integer>
    </dict>
  </dict>
  <key>KeepAlive</key>
  <dict>
    <key>Crashed</key>
    <true/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>20</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardErrorPath</key>
  <string>{}</string>
</dict>
</plist>
"#,
        escaped(&job.program),
        socket_line(job),
        escaped(&job.complaints),
    )
}

/// Returns the line that says which socket it is.
pub(super) fn socket_line(job: &Job) -> String {
    format!("<string>{}</string>", escaped(&job.socket))
}

/// Finds out whether the user's domain answers: it does not in a session over ssh alone.
pub(super) fn keeper() -> Keeper {
    let domain = domain();
    match ask(LAUNCHCTL, &["print", &domain]) {
        Ok(Said::Yes(_)) => Keeper::Launchd,
        Ok(Said::No(why)) => {
            Keeper::Nobody(format!("launchd does not answer for {domain} ({why})"))
        }
        Ok(Said::Absent) => Keeper::Nobody("there is no launchd here".to_owned()),
        Err(error) => Keeper::Nobody(format!("launchd cannot be asked ({error:#})")),
    }
}

pub(super) fn is_listening() -> bool {
    matches!(ask(LAUNCHCTL, &["print", &target()]), Ok(Said::Yes(_)))
}

pub(super) fn start(plist: &Path) -> anyhow::Result<()> {
    if is_listening() {
        return Ok(());
    }
    tell(LAUNCHCTL, &["bootstrap", &domain(), &plist.to_string_lossy()])
}

pub(super) fn stop() -> anyhow::Result<()> {
    if !is_listening() {
        return Ok(());
    }
    tell(LAUNCHCTL, &["bootout", &target()])
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

fn target() -> String {
    format!("{}/{LABEL}", domain())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
