//! Another user of the machine, who tries the files and the socket. Needs root, which alone can be
//! somebody else.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::process::{Gid, Uid};
use serde_json::json;

use crate::page::Brain;
use crate::support::{Line, PATIENCE, Sandbox, stderr};

/// Nobody: no file of a test is theirs.
const STRANGER: u32 = 65_534;

/// Runs `work` as another user, in a thread that ends with it; nothing when we may not.
#[expect(clippy::print_stderr, reason = "a test that did nothing says so")]
fn as_a_stranger<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return None;
    }
    let (uid, gid) = (Uid::from_raw(STRANGER), Gid::from_raw(STRANGER));
    std::thread::scope(|scope| {
        let stranger = scope.spawn(|| {
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
            rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
            work()
        });
        Some(stranger.join().unwrap())
    })
}

fn open_to_all(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
}

/// Everything below a folder, files and folders.
fn everything_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    let mut place = 0;
    while let Some(path) = all.get(place).cloned() {
        let entries = fs::read_dir(&path).into_iter().flatten();
        all.extend(entries.map(|entry| entry.unwrap().path()));
        place += 1;
    }
    all
}

#[test]
fn a_stranger_reads_no_file_and_reaches_no_socket() {
    let sandbox = Sandbox::new();
    // The folder around ours is not what keeps them out.
    open_to_all(&sandbox.path("."));
    let _daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    line.call("memory_capture", json!({"text": "for my eyes only", "session_id": "s"}));
    let paths = everything_below(&sandbox.root());
    assert!(4 < paths.len(), "{paths:?}");
    let socket = sandbox.socket();
    let kinds = as_a_stranger(|| {
        let opened = paths.iter().map(|path| File::open(path).map_err(|error| error.kind()).err());
        let mut kinds: Vec<Option<ErrorKind>> = opened.collect();
        kinds.push(UnixStream::connect(&socket).map_err(|error| error.kind()).err());
        kinds.push(fs::read_dir(&paths[0]).map_err(|error| error.kind()).err());
        kinds
    });
    for kind in kinds.unwrap_or_default() {
        assert_eq!(kind, Some(ErrorKind::PermissionDenied));
    }
}

#[test]
fn a_stranger_who_reaches_the_socket_gets_no_answer() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    open_to_all(&sandbox.path("."));
    open_to_all(&sandbox.socket());
    let socket = sandbox.socket();
    let heard = as_a_stranger(|| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The daemon may have hung up already.
        stream.write_all(b"{\"type\":\"status\"}\n").ok();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).ok();
        heard
    });
    if let Some(heard) = heard {
        assert!(heard.contains("this memory belongs to user 0"), "{heard}");
        assert!(!heard.contains("state"), "{heard}");
    }
    assert!(sandbox.status().is_some(), "we are still answered");
}

#[test]
fn a_stranger_who_saw_the_ticket_of_the_page_is_told_nothing() {
    let sandbox = Sandbox::new();
    let brain = Brain::start(&sandbox);
    // Whatever opens a browser has the address among its arguments, for every user to read.
    let ticket = json!({"ticket": brain.ticket}).to_string();
    let heard = as_a_stranger(|| brain.post("enter", "", &ticket).head);
    assert_eq!(heard.unwrap_or_default(), "");
    brain.enter();
}

#[test]
fn a_stranger_who_listens_in_our_place_is_told_nothing() {
    let sandbox = Sandbox::new();
    let shared = sandbox.path("shared");
    fs::create_dir(&shared).unwrap();
    open_to_all(&sandbox.path("."));
    open_to_all(&shared);
    let socket = shared.join("d.sock");
    let Some(listener) = as_a_stranger(|| UnixListener::bind(&socket).unwrap()) else { return };
    listener.set_nonblocking(true).unwrap();
    let sandbox = sandbox.with("IAI_DAEMON_SOCKET_PATH", socket.to_str().unwrap());
    let output = sandbox.run(&["recall", "the words I am looking for"]);
    assert!(!output.status.success(), "{}", stderr(&output));
    let mut heard = String::new();
    if let Ok((mut stream, _)) = listener.accept() {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.read_to_string(&mut heard).unwrap();
    }
    assert_eq!(heard, "", "{}", stderr(&output));
    assert!(stderr(&output).contains("belongs to user"), "{}", stderr(&output));
}

#[test]
fn what_a_stranger_plants_in_our_place_is_refused() {
    let sandbox = Sandbox::new();
    let shared = sandbox.path("shared");
    fs::create_dir(&shared).unwrap();
    open_to_all(&sandbox.path("."));
    open_to_all(&shared);
    let theirs = shared.join("theirs");
    let (whole, linked) = (shared.join("whole"), shared.join("linked"));
    let planted = as_a_stranger(|| {
        for folder in [&theirs, &whole] {
            fs::create_dir(folder).unwrap();
            open_to_all(folder);
        }
        std::os::unix::fs::symlink(&theirs, &linked).unwrap();
    });
    if planted.is_none() {
        return;
    }
    // Ours, but open to all when the stranger came by.
    let (spool, key) = (shared.join("spool"), shared.join("key"));
    for folder in [&spool, &key] {
        fs::create_dir(folder).unwrap();
        open_to_all(folder);
    }
    as_a_stranger(|| {
        std::os::unix::fs::symlink(&theirs, spool.join(".deferred-captures")).unwrap();
        fs::write(key.join("spool.pub"), "0".repeat(64)).unwrap();
    });
    let transcript = sandbox.transcript("t.jsonl", &["for my eyes only"]);
    let mut sandbox = sandbox;
    for store in [whole, linked, spool, key] {
        sandbox = sandbox.with("IAI_MCP_STORE", store.to_str().unwrap());
        let words = ["capture-transcript", "--no-spawn", transcript.to_str().unwrap()];
        let told = stderr(&sandbox.run(&words));
        let is_refused = told.contains("belongs to") || told.contains("is a link");
        assert!(is_refused, "{store:?}: {told}");
        let kept = everything_below(&store).into_iter().chain(everything_below(&theirs));
        let kept: Vec<PathBuf> =
            kept.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
        assert_eq!(kept, Vec::<PathBuf>::new());
    }
}

#[test]
fn nothing_is_written_through_a_link_in_the_place_of_the_lock_or_a_log() {
    let places = [".daemon.lock", "logs/daemon.log"];
    for (name, is_hard) in places.into_iter().flat_map(|name| [(name, false), (name, true)]) {
        let sandbox = Sandbox::new();
        let (precious, planted) = (sandbox.path("precious"), sandbox.root().join(name));
        fs::write(&precious, "kept").unwrap();
        fs::create_dir_all(sandbox.root().join("logs")).unwrap();
        let linked = match is_hard {
            true => fs::hard_link(&precious, &planted),
            false => std::os::unix::fs::symlink(&precious, &planted),
        };
        linked.unwrap();
        let output = sandbox.run(&["daemon", "run"]);
        assert!(!output.status.success(), "{name}");
        assert!(stderr(&output).contains("move it away"), "{name}: {}", stderr(&output));
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept", "{name}");
    }
}
