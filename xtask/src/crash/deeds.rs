//! What goes on while the daemon is killed. Each deed writes down what it was promised.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::line::{Line, NoAnswer};
use crate::process;
use crate::product::Product;
use crate::trial::{self, Id, Session, lock, sentence, write_turns};

/// A deed beside the captures; the daemon is killed in the middle of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Hook,
    Import,
    Consolidate,
    Contradict,
    Forget,
    Rotate,
    Backup,
}

impl Deed {
    pub(crate) const ALL: [Self; 7] = [
        Self::Hook,
        Self::Import,
        Self::Consolidate,
        Self::Contradict,
        Self::Forget,
        Self::Rotate,
        Self::Backup,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Import => "import",
            Self::Consolidate => "consolidation",
            Self::Contradict => "correction",
            Self::Forget => "forget",
            Self::Rotate => "key rotation",
            Self::Backup => "backup",
        }
    }
}

const TURNS_OF_A_HOOK: u64 = 3;
const TURNS_OF_AN_IMPORT: u64 = 400;
const POLL: Duration = Duration::from_millis(1);

/// Somebody who captures under a session of their own.
pub(crate) struct Writer {
    pub(crate) name: String,
    pub(crate) session: Mutex<Session>,
    seed: Dice,
}

impl Writer {
    pub(crate) fn new(name: String, dice: &mut Dice) -> Self {
        Self { name, session: Mutex::default(), seed: dice.split() }
    }
}

/// One round, as its deeds see it.
pub(crate) struct Round<'a> {
    pub(crate) product: &'a Product,
    pub(crate) home: &'a Path,
    pub(crate) number: u32,
    /// Set before the daemon is killed: whoever is refused after that is not surprised.
    pub(crate) is_over: &'a AtomicBool,
}

impl Round<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Captures until the daemon is gone.
    pub(crate) fn capture(&self, writer: &Writer) -> Result<(), String> {
        let Writer { name, session, seed } = writer;
        let mut dice = seed.clone();
        let Some(mut line) = Line::open(&self.product.socket()) else { return Ok(()) };
        for n in 0.. {
            let text = sentence(name, n, &mut dice);
            lock(session).attempt(&text);
            let params = json!({"text": text, "session_id": name});
            let Some(answer) = self.settle(line.call("memory_capture", &params))? else {
                return Ok(());
            };
            let id = text_of(&answer, "record_id")?;
            lock(session).acknowledge(id, text);
        }
        Ok(())
    }

    /// Does `deed` until the daemon is gone.
    pub(crate) fn perform(
        &self,
        deed: Deed,
        writer: &Writer,
        dice: &mut Dice,
    ) -> Result<(), String> {
        let Writer { name, session, .. } = writer;
        match deed {
            Deed::Hook => self.hooks(&format!("{name}-talk"), dice),
            Deed::Import => self.import(&format!("{name}-past"), dice),
            Deed::Consolidate => self.consolidate(),
            Deed::Contradict => self.contradict(name, session, dice),
            Deed::Forget => self.forget(session, dice),
            Deed::Rotate => self.repeat(&["crypto", "rotate"]),
            Deed::Backup => self.back_up(),
        }
    }

    /// A transcript grows, and a hook looks at it after every few turns.
    fn hooks(&self, name: &str, dice: &mut Dice) -> Result<(), String> {
        let path = trial::transcript(self.home, name);
        for n in 0.. {
            write_turns(&path, name, n * TURNS_OF_A_HOOK, TURNS_OF_A_HOOK, dice)?;
            trial::hook(self.product, name, &path)?;
            if self.is_over() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn import(&self, name: &str, dice: &mut Dice) -> Result<(), String> {
        for n in 0.. {
            let path = self.home.join(format!(".claude/projects/import/{name}-{n}.jsonl"));
            write_turns(&path, &format!("{name}-{n}"), 0, TURNS_OF_AN_IMPORT, dice)?;
            if !self.command(&["import", &path.display().to_string()])? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn consolidate(&self) -> Result<(), String> {
        let Some(mut line) = Line::open(&self.product.socket()) else { return Ok(()) };
        let ask = json!({"wait_ms": 1000, "try_resting": true});
        while self.settle(line.call("memory_consolidate", &ask))?.is_some() {}
        Ok(())
    }

    /// Corrects what this round has captured, and the corrections.
    fn contradict(
        &self,
        name: &str,
        session: &Mutex<Session>,
        dice: &mut Dice,
    ) -> Result<(), String> {
        let Some(mut line) = Line::open(&self.product.socket()) else { return Ok(()) };
        for n in 0.. {
            let Some(id) = self.any_kept(session, dice) else { return Ok(()) };
            let text = format!("correction {}", sentence(name, n, dice));
            lock(session).attempt(&text);
            let params = json!({"id": id, "new_fact": text, "session_id": name});
            let Some(answer) = self.settle(line.call("memory_contradict", &params))? else {
                return Ok(());
            };
            lock(session).acknowledge(text_of(&answer, "new_record_id")?, text);
        }
        Ok(())
    }

    fn forget(&self, session: &Mutex<Session>, dice: &mut Dice) -> Result<(), String> {
        while let Some(id) = self.any_kept(session, dice) {
            lock(session).ask_to_forget(&id);
            if !self.command(&["forget", &id, "--yes"])? {
                return Ok(());
            }
            lock(session).forgotten(&id);
        }
        Ok(())
    }

    fn back_up(&self) -> Result<(), String> {
        for n in 0.. {
            let path = self.home.join(format!("backup-{}-{n}", self.number));
            let shown = path.display().to_string();
            let is_done = self.command(&["backup", &shown])?;
            if is_done {
                let check = self.product.command(&["backup", "--check", &shown]);
                let checked = process::capture(check, Duration::from_secs(60))?;
                if !checked.status.success() {
                    return Err(format!("a finished backup is not whole: {}", checked.stderr));
                }
            }
            // Backups are as large as the store; a half one may be there or not.
            remove(&path);
            if !is_done {
                return Ok(());
            }
        }
        Ok(())
    }

    fn repeat(&self, words: &[&str]) -> Result<(), String> {
        while self.command(words)? {}
        Ok(())
    }

    /// Runs a command to its end and says whether it succeeded. It dies with the daemon, in every
    /// second round, and may fail without it; a failure before is one.
    fn command(&self, words: &[&str]) -> Result<bool, String> {
        let mut command = self.product.command(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{words:?}: {error}"))?;
        let dies_with_the_daemon = self.number.is_multiple_of(2);
        loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                let was_over = self.is_over();
                return match status.success() {
                    true => Ok(!was_over),
                    false if was_over => Ok(false),
                    false => Err(format!("{words:?} ended with {status}: {}", complaint(child))),
                };
            }
            if dies_with_the_daemon && self.is_over() {
                child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
                return Ok(false);
            }
            process::pause(POLL);
        }
    }

    fn any_kept(&self, session: &Mutex<Session>, dice: &mut Dice) -> Option<Id> {
        while !self.is_over() {
            let session = lock(session);
            let kept: Vec<&Id> = session.kept().map(|(id, _)| id).collect();
            if let Some(id) = dice.pick(&kept) {
                return Some((*id).clone());
            }
            drop(session);
            process::pause(POLL);
        }
        None
    }

    /// An answer, or nothing where the daemon is gone; a refusal before that is a fault.
    fn settle(&self, answer: Result<Value, NoAnswer>) -> Result<Option<Value>, String> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(NoAnswer::HungUp) if self.is_over() => Ok(None),
            Err(NoAnswer::HungUp) => Err("the daemon hung up before it was killed".to_owned()),
            Err(NoAnswer::Refused(why)) => Err(why),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a backup of this round, in a throw-away home")]
fn remove(backup: &Path) {
    drop(fs::remove_file(backup));
}

fn complaint(child: Child) -> String {
    let output = child.wait_with_output().map(|output| output.stderr).unwrap_or_default();
    String::from_utf8_lossy(&output).into_owned()
}

fn text_of(answer: &Value, field: &str) -> Result<String, String> {
    let text = answer.get(field).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("no {field} in {answer}"))
}
