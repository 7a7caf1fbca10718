//! What managers are given, checked by their own tools where this machine has them.

use std::process::Command;

use super::*;

fn job() -> Job {
    Job {
        program: "/opt/my \"tools\"/100% $HOME/iai-mcp".to_owned(),
        socket: "/home/a b/50%/<&>/.daemon.sock".to_owned(),
        complaints: "/home/a b/logs/daemon-start.log".to_owned(),
        environment: vec![("IAI_MCP_STORE", "/home/a b/50%/\"x\"".to_owned())],
        reach: Reach::Narrow,
    }
}

#[test]
fn units_say_what_they_must_whatever_the_paths_are() {
    let (socket, service) = (systemd::socket_unit(&job()), systemd::service_unit(&job()));
    for (text, lines) in [
        (&socket, &["ListenStream=/home/a b/50%%/<&>/.daemon.sock", "SocketMode=0600"][..]),
        (
            &service,
            &[
                r#"ExecStart="/opt/my \"tools\"/100%% $$HOME/iai-mcp" daemon run"#,
                r#"Environment="IAI_MCP_STORE=/home/a b/50%%/\"x\"""#,
                "Restart=on-failure",
                "Requires=iai-mcp-daemon.socket",
                "RestrictAddressFamilies=AF_UNIX",
            ],
        ),
    ] {
        for line in lines {
            assert!(text.lines().any(|found| found == *line), "{line}\nin\n{text}");
        }
        assert!(text.starts_with(&format!("# {WHOLE_MARK}")));
    }
    let network = systemd::service_unit(&Job { reach: Reach::WithNetwork, ..job() });
    let families = "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6";
    assert!(network.lines().any(|line| line == families), "{network}");
    assert!(network.contains("MemoryDenyWriteExecute=yes"), "{network}");
    let wide = systemd::service_unit(&Job { reach: Reach::WithReflection, ..job() });
    assert!(!wide.contains("AF_UNIX") && wide.contains("NoNewPrivileges=yes"), "{wide}");
}

/// `systemd-analyze` is on most machines that have systemd, also where it does not run.
#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("iai mcp");
    fs::copy("/bin/true", &program).unwrap();
    for reach in [Reach::Narrow, Reach::WithNetwork, Reach::WithReflection] {
        let program = program.to_str().unwrap().to_owned();
        let job = Job { program, reach, ..job() };
        for (name, text) in [
            (systemd::SOCKET, systemd::socket_unit(&job)),
            (systemd::SERVICE, systemd::service_unit(&job)),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        for name in [systemd::SOCKET, systemd::SERVICE] {
            let Some(complaint) = verified(folder.path(), name) else { return };
            assert_eq!(complaint, "", "{name}");
        }
    }
}

/// Returns what `systemd-analyze` says about a unit; `None` where there is none to ask.
#[expect(clippy::disallowed_methods, reason = "systemd's own judgement is what is tested")]
fn verified(folder: &Path, name: &str) -> Option<String> {
    let output = Command::new("systemd-analyze")
        .args(["--user", "--man=no", "verify", name])
        .current_dir(folder)
        .env("SYSTEMD_UNIT_PATH", format!("{}:", folder.display()))
        .env("XDG_RUNTIME_DIR", folder)
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // Other units of the machine may have faults of their own.
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("iai-mcp")).collect();
    Some(ours.join("\n"))
}

#[test]
fn the_plist_is_well_formed_and_says_what_it_must() {
    let text = launchd::plist(&job());
    assert_eq!(open_elements(&text), Vec::<String>::new(), "{text}");
    for part in [
        "<string>/home/a b/50%/&lt;&amp;&gt;/.daemon.sock</string>",
        "<key>Listener</key>",
        "<integer>384</integer>",
        "<string>com.iai-mcp.daemon</string>",
        "<key>IAI_MCP_STORE</key>",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("RunAtLoad") && text.contains(WHOLE_MARK));
    assert!(text.contains(&launchd::socket_line(&job())));
}

/// Walks over the elements and returns those left open, or the first that closes out of turn; text
/// between them must have its special characters escaped.
fn open_elements(text: &str) -> Vec<String> {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        assert!(!before.contains('>'), "{before}");
        let bare = before.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "");
        assert!(!bare.contains('&'), "{before}");
        let (inside, next) = match after.strip_prefix("!--") {
            Some(comment) => ("!", comment.split_once("-->").unwrap().1),
            None => after.split_once('>').unwrap(),
        };
        rest = next;
        match inside.strip_prefix('/') {
            Some(name) => {
                assert_eq!(open.pop().as_deref(), Some(name), "{text}");
            }
            None if inside.starts_with(['?', '!']) || inside.ends_with('/') => {}
            None => open.push(inside.split_whitespace().next().unwrap().to_owned()),
        }
    }
    open
}

#[test]
fn what_enable_linked_is_unlinked_without_a_manager() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = folder.path().join("sockets.target.wants");
    systemd::unlink(folder.path()).unwrap();
    fs::create_dir(&wanted).unwrap();
    std::os::unix::fs::symlink("nowhere", wanted.join(systemd::SOCKET)).unwrap();
    systemd::unlink(folder.path()).unwrap();
    assert!(!wanted.exists());
}

#[test]
fn only_what_no_line_can_hold_is_refused() {
    assert!(text_of(Path::new("/a b/ж/%")).is_ok());
    let error = text_of(Path::new("/a\nb")).unwrap_err().to_string();
    assert!(error.contains("plainer path"), "{error}");
}
