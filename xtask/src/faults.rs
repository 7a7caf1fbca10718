//! Lets the kernel refuse: the daemon and the hook run under `strace`, which makes chosen system
//! calls fail as a full, broken or overloaded machine would, below SQLite and below us.
//!
//! What is asked for: an error reaches whoever asked or nothing happened at all, the store opens
//! again, and nothing that was acknowledged is lost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::line::{Line, NoAnswer};
use crate::trial::{self, Session, Trial, lock};
use crate::{figures, process};

/// Calls that fail, and how.
const FAULTS: [(&str, &str); 11] = [
    ("pwrite64", "ENOSPC"),
    ("pwrite64", "EIO"),
    ("write", "ENOSPC"),
    ("fsync,fdatasync", "EIO"),
    ("pread64", "EIO"),
    ("openat", "EMFILE"),
    ("openat", "EACCES"),
    ("ftruncate", "EIO"),
    ("rename,renameat,renameat2", "EIO"),
    ("unlink,unlinkat", "EIO"),
    ("mmap", "ENOMEM"),
];
/// The first call that fails; after it either none or all.
const PLACES: [u32; 8] = [1, 3, 8, 20, 45, 90, 180, 400];
/// Largest files, in blocks of 512 bytes: writes end short at that place.
const SIZES: [u32; 6] = [1, 8, 40, 130, 500, 2000];
const N_CAPTURES: u64 = 12;
const OPEN_DEADLINE: Duration = Duration::from_secs(20);
const STOP_DEADLINE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(2);

/// Which machine the daemon is given.
enum Machine {
    Failing { calls: &'static str, error: &'static str, from: u32, forever: bool },
    ShortWrites { blocks: u32 },
}

impl Machine {
    fn name(&self) -> String {
        match self {
            Self::Failing { calls, error, from, forever } => {
                let until = if *forever { " on" } else { " alone" };
                format!("{error} in {calls} from call {from}{until}")
            }
            Self::ShortWrites { blocks } => format!("no file over {blocks} blocks"),
        }
    }

    /// The loader of programs makes these calls too, and what it exits with is not ours to say.
    fn fails_before_we_run(&self) -> bool {
        let Self::Failing { calls, .. } = self else { return false };
        matches!(*calls, "pread64" | "openat" | "mmap")
    }

    /// Returns `command` as it runs on this machine.
    fn on(&self, command: &Command) -> Command {
        let outer = match self {
            Self::Failing { calls, error, from, forever } => {
                let plus = if *forever { "+" } else { "" };
                let mut strace = process::command("strace");
                strace.args(["-f", "-qqq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
                strace.args(["-e", &format!("inject={calls}:error={error}:when={from}{plus}")]);
                strace
            }
            Self::ShortWrites { blocks } => {
                let mut shell = process::command("sh");
                let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
                shell.args(["-c", &script, "sh"]);
                shell
            }
        };
        process::inside(outer, command)
    }
}

/// Counts what came back.
#[derive(Default)]
struct Tally {
    n_machines: u32,
    n_refused: u32,
    n_not_opened: u32,
}

pub(crate) fn run(seed: u64, program: &Path) -> Result<(), String> {
    let mut strace = process::command("strace");
    strace.arg("--version");
    if !process::works(strace) {
        return Err("`strace` is not there; on Debian: apt-get install strace".to_owned());
    }
    let begin = Instant::now();
    let mut tally = Tally::default();
    let mut trial = Trial::new(program)?;
    let mut dice = Dice::new(seed);
    for machine in machines() {
        let name = machine.name();
        disturb(&mut trial, &machine, &mut tally, &mut dice)
            .and_then(|()| trial.check_all())
            .map_err(|why| format!("{name}: {why}"))?;
        println!("{name}: nothing lost");
    }
    let mut rows = vec![
        ("machines".to_owned(), tally.n_machines.to_string()),
        ("requests refused".to_owned(), tally.n_refused.to_string()),
        ("stores not opened".to_owned(), tally.n_not_opened.to_string()),
    ];
    rows.extend(trial.summary());
    rows.push(("took".to_owned(), format!("{} s", begin.elapsed().as_secs())));
    println!("\n{}", figures::table(&rows));
    Ok(())
}

fn machines() -> impl Iterator<Item = Machine> {
    let failing = FAULTS.iter().flat_map(|(calls, error)| {
        PLACES.iter().flat_map(move |from| {
            [false, true].map(|forever| Machine::Failing { calls, error, from: *from, forever })
        })
    });
    failing.chain(SIZES.iter().map(|blocks| Machine::ShortWrites { blocks: *blocks }))
}

/// Captures over the socket and by a hook while the machine fails.
fn disturb(
    trial: &mut Trial,
    machine: &Machine,
    tally: &mut Tally,
    dice: &mut Dice,
) -> Result<(), String> {
    tally.n_machines += 1;
    let name = format!("fault-{}", tally.n_machines);
    let session = Mutex::new(Session::default());
    let mut daemon = machine.on(&trial.product.command(&["daemon", "run"]));
    daemon.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = daemon.spawn().map_err(|error| format!("cannot run strace: {error}"))?;
    let begin = Instant::now();
    let is_open = loop {
        let is_over = daemon.try_wait().is_ok_and(|ended| ended.is_some());
        let state = trial.status().and_then(|status| Some(status.get("state")?.clone()));
        match state {
            Some(state) if state == "ready" => break true,
            _ if is_over || OPEN_DEADLINE < begin.elapsed() => break false,
            _ => process::pause(POLL),
        }
    };
    if is_open {
        capture(trial, &name, &session, tally, dice);
    } else {
        tally.n_not_opened += 1;
    }
    if !machine.fails_before_we_run() {
        let talk = format!("{name}-talk");
        let transcript = trial::transcript(&trial.home, &talk);
        trial::write_turns(&transcript, &talk, 0, 4, dice)?;
        let hook = machine.on(&trial.product.command(&["hook", "stop"]));
        trial::run_hook(hook, &talk, &transcript)?;
    }
    stop(trial, &mut daemon)?;
    trial.keep(name, session);
    Ok(())
}

fn capture(
    trial: &Trial,
    name: &str,
    session: &Mutex<Session>,
    tally: &mut Tally,
    dice: &mut Dice,
) {
    let Some(mut line) = Line::open(&trial.product.socket()) else { return };
    for n in 0..N_CAPTURES {
        let text = trial::sentence(name, n, dice);
        lock(session).attempt(&text);
        let params = json!({"text": text, "session_id": name});
        match line.call("memory_capture", &params) {
            Ok(answer) => {
                let id = answer.get("record_id").and_then(Value::as_str).unwrap_or_default();
                lock(session).acknowledge(id.to_owned(), text);
            }
            Err(NoAnswer::Refused(_)) => tally.n_refused += 1,
            Err(NoAnswer::HungUp) => return,
        }
    }
}

/// Ends the daemon, which is a child of `strace`, the hard way.
fn stop(trial: &Trial, daemon: &mut std::process::Child) -> Result<(), String> {
    let pid = trial.status().and_then(|status| status.get("pid")?.as_u64());
    if let Some(pid) = pid.and_then(|pid| u32::try_from(pid).ok()) {
        process::kill(pid)?;
    }
    process::reap(daemon, STOP_DEADLINE)
}

/// Returns the seed that the words name.
pub(crate) fn parse(words: &[&str]) -> Option<u64> {
    match words {
        [] => Some(1),
        ["--seed", n] => n.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_keeps_the_command_and_its_environment() {
        let mut command = process::command("iai-mcp");
        command.args(["daemon", "run"]).env("HOME", "/h").env_remove("IAI_X").current_dir("/");
        let machine = Machine::Failing { calls: "fsync", error: "EIO", from: 3, forever: true };
        let shown = format!("{:?}", machine.on(&command));
        assert!(shown.contains("inject=fsync:error=EIO:when=3+"), "{shown}");
        assert!(shown.contains("\"iai-mcp\" \"daemon\" \"run\""), "{shown}");
        assert!(shown.contains("HOME=\"/h\"") && shown.contains("-u IAI_X"), "{shown}");
        assert_eq!(machine.name(), "EIO in fsync from call 3 on");
    }

    #[test]
    fn every_fault_meets_every_place() {
        assert_eq!(machines().count(), FAULTS.len() * PLACES.len() * 2 + SIZES.len());
        assert!(machines().any(|machine| machine.name() == "no file over 8 blocks"));
        assert_eq!((parse(&[]), parse(&["--seed", "4"]), parse(&["4"])), (Some(1), Some(4), None));
    }
}
