//! The checks themselves, in the order a person would go through them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use iai_wire::SOCKET_PATH_BYTES_MAX;
use rustix::fs::Access;
use serde_json::Value;

use super::super::capture_hooks::{Degree, folders, installer, wired_hosts};
use super::repairs::{self, Repair};
use super::{Check, Verdict, canary, machines, spool, trends};
use crate::client::{CallError, Client, check_logs, check_store, key_status, why_no_database};
use crate::clock;
use crate::fields::Fields as _;
use crate::home::StrangeFile;
use crate::install::{HOSTS, Host};
use crate::settings::Settings;

const FREE_MIB_MIN: u64 = 256;
const LOG_MIB_WARN: u64 = 16;
/// How a problem begins that is none: forgetting was begun and goes on.
const UNFINISHED: &str = "forgetting: ";
/// Whoever has the store open can write key and vault anew.
const SAVED_BY_DAEMON: &str = "do not stop the daemon: `iai-mcp crypto rotate` makes a new key \
                               and saves everything";

pub(super) fn all(settings: &Settings, repair: Repair) -> Vec<Check> {
    let client = Client::new(settings.clone());
    let status = client.status();
    canary::forget_dead(settings, &status);
    let mut checks = vec![
        folder(settings),
        config(settings),
        key(settings, &status),
        store_files(settings, &status),
        socket_path(settings),
        daemon(&status),
        version(&status),
        store(settings),
        log(settings),
        spool::waiting(settings, &status),
        spool::set_aside(settings, &client, &status),
        hosts(settings),
        model(&status),
        reflection(settings, &status),
        disk(settings),
        repairs::check(&settings.home, repair, clock::now()),
    ];
    checks.push(machines::check(&client, &status));
    checks.extend(trends::all(&client, &status));
    checks.push(canary::check(settings, &status));
    advise_start_once(&mut checks);
    checks
}

/// One row says that a daemon is to be started, and only where one could start.
fn advise_start_once(checks: &mut [Check]) {
    let keeps_it = |check: &Check| check.verdict == Verdict::Fail && NEEDED.contains(&check.name);
    let is_broken = checks.iter().any(keeps_it);
    for check in checks.iter_mut().filter(|check| check.next.contains(START)) {
        check.next = match (check.name == DAEMON, is_broken) {
            (true, true) => "mend what failed, then start it".to_owned(),
            (true, false) => continue,
            (false, _) => check.next.replace(START, "a daemon"),
        };
    }
}

/// Rows without which no daemon starts.
const NEEDED: &[&str] =
    &[FOLDER, "config file", "key", "store files", "socket path", "store", "disk"];
const START: &str = "`iai-mcp daemon start`";
const DAEMON: &str = "daemon";
const FOLDER: &str = "store folder";

fn folder(settings: &Settings) -> Check {
    const NAME: &str = FOLDER;
    let root = settings.home.root();
    match fs::metadata(root) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !can_be_made(root) => {
            Check::fail(
                NAME,
                format!("{} does not exist and cannot be made", root.display()),
                "make its parent writable, or set IAI_MCP_STORE to another folder",
            )
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Check::warn(
            NAME,
            format!("{} does not exist yet", root.display()),
            "`iai-mcp daemon start` makes it",
        ),
        Err(error) => Check::fail(
            NAME,
            format!("{}: {error}", root.display()),
            "give yourself access to it, or set IAI_MCP_STORE to another folder",
        ),
        Ok(metadata) if !metadata.is_dir() => Check::fail(
            NAME,
            format!("{} is not a folder", root.display()),
            "move it away, or set IAI_MCP_STORE to another folder",
        ),
        Ok(metadata) if metadata.uid() != rustix::process::getuid().as_raw() => Check::fail(
            NAME,
            format!("{} belongs to user {}", root.display(), metadata.uid()),
            "use your own HOME, or set IAI_MCP_STORE to a folder of yours",
        ),
        Ok(metadata) if metadata.mode() & 0o077 != 0 => Check::warn(
            NAME,
            format!("{} can be entered by other users", root.display()),
            format!("chmod 700 {}", root.display()),
        ),
        Ok(_) => inside(settings)
            .unwrap_or_else(|| Check::pass(NAME, format!("{} is yours alone", root.display()))),
    }
}

/// Returns what is in the folder in the place of something of ours. The key has a row of its own.
fn inside(settings: &Settings) -> Option<Check> {
    if let Some((path, why)) = settings.home.strange_folders().first() {
        let detail = format!("{}: {why}, and nothing is put into it", path.display());
        return Some(Check::fail(FOLDER, detail, "move it away; it is made again"));
    }
    let key = settings.home.key_file();
    let StrangeFile { path, why, next } =
        settings.home.strange_files().into_iter().find(|strange| strange.path != key)?;
    Some(Check::fail(FOLDER, format!("{}: {why}", path.display()), next))
}

/// Tells whether the nearest folder that exists lets us make something in it.
fn can_be_made(path: &Path) -> bool {
    let existing = path.ancestors().find(|folder| folder.exists());
    existing.is_some_and(|folder| rustix::fs::access(folder, Access::WRITE_OK).is_ok())
}

fn config(settings: &Settings) -> Check {
    const NAME: &str = "config file";
    let path = settings.home.config_file();
    match &settings.config_error {
        None if path.exists() => Check::pass(NAME, path.display().to_string()),
        None => Check::pass(NAME, "none; the defaults hold"),
        Some(error) => Check::fail(NAME, error, "mend it; until then nothing is captured"),
    }
}

fn key(settings: &Settings, status: &Result<Value, CallError>) -> Check {
    const NAME: &str = "key";
    let told = key_status(settings);
    let is = |name: &str| told.at(name) == true;
    let path = settings.home.key_file();
    let path = path.display();
    let or = |next: &'static str| if status.is_ok() { SAVED_BY_DAEMON } else { next };
    if is("present") {
        return match unsound_key(settings, &told) {
            None => Check::pass(NAME, format!("{path}: 32 bytes, yours, 0600")),
            Some((why, next)) => Check::fail(NAME, format!("{path}: {why}"), next),
        };
    }
    match (is("passphrase_fallback_set"), is("vault_present")) {
        (true, _) => Check::pass(NAME, "the passphrase of IAI_MCP_CRYPTO_PASSPHRASE is used"),
        (false, false) => Check::warn(NAME, "there is none yet", "`iai-mcp setup` makes one"),
        (false, true) => Check::fail(
            NAME,
            format!("{path} is missing and no passphrase is set"),
            or("restore the key from a copy, or set IAI_MCP_CRYPTO_PASSPHRASE"),
        ),
    }
}

/// Returns what is wrong with a key file that is there, and what to do.
fn unsound_key(settings: &Settings, told: &Value) -> Option<(String, String)> {
    let path = settings.home.key_file();
    let strange = settings.home.strange_files().into_iter().find(|strange| strange.path == path);
    if let Some(StrangeFile { why, next, .. }) = strange {
        return Some((why.to_owned(), next.to_owned()));
    }
    if told.at("mode_secure") != true {
        let mode = told.at("mode").as_str().unwrap_or_default().replace("0o", "0");
        let next = format!("chmod 600 {}", path.display());
        return Some((format!("its mode is {mode}, so other users could read it"), next));
    }
    if told.at("length_valid") != true {
        let why = format!("it has {} bytes instead of 32", told.at("length_bytes"));
        return Some((why, "put back the copy you kept; a backup does not hold it".to_owned()));
    }
    None
}

fn store_files(settings: &Settings, status: &Result<Value, CallError>) -> Check {
    const NAME: &str = "store files";
    let told = status.as_ref().ok().and_then(|status| status.at("store_problem").as_str());
    if let Some((found, next)) = told.map(found_and_next) {
        return Check::fail(NAME, found, next);
    }
    let (database, vault) = (settings.home.database(), settings.home.vault());
    let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let n_bytes = length(&database);
    match (n_bytes, vault.exists()) {
        (1.., true) => {
            // What was stored of late is in the log still.
            let mut log = database.clone().into_os_string();
            log.push("-wal");
            let n_kibibytes = (n_bytes + length(log.as_ref())).div_ceil(1024);
            Check::pass(NAME, format!("{} ({n_kibibytes} KiB)", database.display()))
        }
        (0, false) => Check::warn(NAME, "no store yet", "`iai-mcp setup` makes one"),
        (0, true) => match why_no_database(settings) {
            Some(told) => {
                let (found, next) = found_and_next(&told);
                Check::fail(NAME, found, next)
            }
            None => Check::warn(
                NAME,
                "the first start was interrupted",
                "`iai-mcp daemon start` finishes it",
            ),
        },
        (1.., false) => Check::fail(
            NAME,
            format!("{} is missing; without it nothing can be read", vault.display()),
            match status {
                Ok(_) => SAVED_BY_DAEMON,
                Err(_) => "restore it from a copy, or a backup with `iai-mcp restore FILE`",
            },
        ),
    }
}

/// Every error of the store says first what is wrong, then what to do.
fn found_and_next(told: &str) -> (&str, &str) {
    told.split_once("; ").unwrap_or((told, "see `iai-mcp daemon logs`"))
}

fn socket_path(settings: &Settings) -> Check {
    const NAME: &str = "socket path";
    let path = settings.home.socket();
    let n_bytes = path.as_os_str().len();
    if n_bytes <= SOCKET_PATH_BYTES_MAX {
        Check::pass(NAME, path.display().to_string())
    } else {
        Check::fail(
            NAME,
            format!(
                "{} has {n_bytes} bytes, the system takes {SOCKET_PATH_BYTES_MAX}",
                path.display()
            ),
            "set IAI_DAEMON_SOCKET_PATH to a shorter path",
        )
    }
}

fn daemon(status: &Result<Value, CallError>) -> Check {
    const NAME: &str = DAEMON;
    match status {
        Ok(status) => {
            let state = status.at("state").as_str().unwrap_or("unknown");
            Check::pass(NAME, format!("{state}, process {}", status.at("pid")))
        }
        Err(error) if error.is_down() => Check::warn(
            NAME,
            "not running; captures wait in the spool, recall reads the store as it is",
            START,
        ),
        Err(error) if error.is_silence() => Check::fail(
            NAME,
            "it listens and does not answer",
            "`iai-mcp daemon restart` ends it, by force if need be, and starts another",
        ),
        Err(error) => Check::fail(NAME, error.to_string(), "`iai-mcp daemon logs` may say more"),
    }
}

fn version(status: &Result<Value, CallError>) -> Check {
    const NAME: &str = "version";
    let ours = env!("CARGO_PKG_VERSION");
    match status.as_ref().ok().and_then(|status| status.at("version").as_str()) {
        Some(theirs) if theirs != ours => Check::warn(
            NAME,
            format!("the daemon is {theirs}, this program {ours}"),
            "`iai-mcp daemon restart`",
        ),
        Some(_) | None => Check::pass(NAME, ours),
    }
}

/// Reads the store beside a running daemon; its snapshot is as good as the daemon's.
fn store(settings: &Settings) -> Check {
    const NAME: &str = "store";
    if fs::metadata(settings.home.database()).map_or(0, |facts| facts.len()) == 0 {
        return Check::pass(NAME, "nothing to check; see the store files");
    }
    match check_store(settings) {
        Ok(problems) if problems.is_empty() => {
            Check::pass(NAME, "pages, references, indexes and a sample of memories are sound")
        }
        Ok(problems) if problems.iter().all(|told| told.starts_with(UNFINISHED)) => Check::warn(
            NAME,
            problems.join("; "),
            "`iai-mcp daemon start` finishes it; one that runs is at it",
        ),
        Ok(problems) => Check::fail(
            NAME,
            problems.join("; "),
            "stop the daemon, keep a copy of the folder, restore from a backup",
        ),
        Err(error) => {
            let told = error.to_string();
            let (found, next) = found_and_next(&told);
            Check::fail(NAME, found, next)
        }
    }
}

fn log(settings: &Settings) -> Check {
    const NAME: &str = "log";
    match check_logs(settings).first().map(|finding| finding.found_and_next()) {
        Some((found, next)) => Check::fail(NAME, found, next),
        None => Check::pass(NAME, "every commit in it can be read"),
    }
}

fn hosts(settings: &Settings) -> Check {
    const NAME: &str = "hosts";
    const NEXT: &str = "`iai-mcp capture-hooks install` shows what it would change, and asks";
    let (wired, broken) = match wired_hosts(settings).and_then(|wired| {
        let broken = broken_files(settings)?;
        Ok((wired, broken))
    }) {
        Ok(looked) => looked,
        Err(error) => return Check::warn(NAME, format!("{error:#}"), NEXT),
    };
    if !broken.is_empty() {
        let next = "correct it, and run `iai-mcp setup` again: it does what is left";
        return Check::fail(NAME, broken.join("; "), next);
    }
    let names = |wanted: Degree| {
        let names = wired.iter().filter(|(_, degree)| *degree == wanted).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    };
    let (whole, part, none) = (names(Degree::Whole), names(Degree::Part), names(Degree::None));
    match (whole.as_str(), part.as_str(), none.as_str()) {
        ("", "", "") => Check::pass(NAME, "no host was found on this machine"),
        (_, "", "") => Check::pass(NAME, format!("{whole}: wired")),
        ("", "", _) => Check::warn(NAME, format!("{none}: not wired; nothing is captured"), NEXT),
        (_, "", _) => Check::pass(NAME, format!("{whole}: wired; {none}: not")),
        (..) => Check::warn(NAME, format!("{part}: wired only in part, or elsewhere"), NEXT),
    }
}

/// Returns every settings file of a host that is here which nobody can read, the host neither.
fn broken_files(settings: &Settings) -> anyhow::Result<Vec<String>> {
    let folders = &folders(settings)?;
    let installer = installer(settings, folders)?;
    let present: Vec<Host> = HOSTS.into_iter().filter(|host| host.is_present(folders)).collect();
    let broken = installer.look(&present).into_iter().filter_map(|look| {
        let what = look.wiring.err()?.broken()?;
        Some(format!("{} {what}", look.file.path.display()))
    });
    Ok(broken.collect())
}

fn model(status: &Result<Value, CallError>) -> Check {
    const NAME: &str = "sentence model";
    let Ok(status) = status else {
        return Check::unknown(NAME);
    };
    let model = status.at("model");
    let name = model.at("name").as_str().unwrap_or("-");
    match model.at("state").as_str().unwrap_or("unknown") {
        "none" => Check::warn(
            NAME,
            "none; memories are found by their words alone",
            "`iai-mcp model install` fetches one",
        ),
        "refused" => Check::fail(
            NAME,
            model.at("reason").as_str().unwrap_or("it cannot be used").to_owned(),
            "`iai-mcp model list` shows what is installed",
        ),
        "filling" => {
            Check::pass(NAME, format!("{name}; {} memories wait for it", model.at("pending")))
        }
        state => Check::pass(NAME, format!("{name}, {state}")),
    }
}

fn reflection(settings: &Settings, status: &Result<Value, CallError>) -> Check {
    const NAME: &str = "reflection";
    let Some(setting) = &settings.reflection else { return Check::pass(NAME, "off") };
    let program = setting.command.first().map_or("-", String::as_str);
    let told = status.as_ref().map(|status| status.at("reflection").clone()).unwrap_or_default();
    let kept =
        told.at("kept_at").as_str().map_or("never yet".to_owned(), |at| format!("last {at}"));
    match told.at("failure").as_str() {
        Some(failure) => {
            let next = "try the command by hand; it gets notes on its standard input";
            Check::warn(NAME, format!("`{program}` failed: {failure}"), next)
        }
        None => Check::pass(NAME, format!("`{program}` once a night, {kept}")),
    }
}

fn disk(settings: &Settings) -> Check {
    const NAME: &str = "disk";
    let mut folder = settings.home.root();
    while let (false, Some(parent)) = (folder.exists(), folder.parent()) {
        folder = parent;
    }
    let log_mib = fs::metadata(settings.home.daemon_log()).map_or(0, |log| log.len() >> 20);
    match rustix::fs::statvfs(folder) {
        Err(error) => Check::warn(NAME, format!("{}: {error}", folder.display()), "check the disk"),
        Ok(facts) => match (facts.f_bavail * facts.f_frsize) >> 20 {
            free if free < FREE_MIB_MIN => {
                Check::fail(NAME, format!("{free} MiB free"), "free some space; captures need it")
            }
            _ if LOG_MIB_WARN < log_mib => Check::warn(
                NAME,
                format!("the log has {log_mib} MiB"),
                "delete it; it is only a log",
            ),
            free => Check::pass(NAME, format!("{free} MiB free")),
        },
    }
}
