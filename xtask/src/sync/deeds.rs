//! What somebody at one of the homes does, one thing after the other, and what was promised.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::home::{Home, text};
use super::ledger::{Fate, Ledger, canary};
use super::place::Place;
use crate::dice::Dice;
use crate::process;

/// Deeds of somebody who is cut off.
const DEEDS_APART: u64 = 6;
const OFFLINE_MAX: Duration = Duration::from_secs(2);
const TURNS_MAX: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Capture,
    CaptureAgain,
    Contradict,
    Pin,
    Unpin,
    Forget,
    Identity,
    Profile,
    Recall,
    Now,
}

impl Deed {
    /// Each as often as it is named.
    const ALL: [Self; 16] = [
        Self::Capture,
        Self::Capture,
        Self::Capture,
        Self::Capture,
        Self::CaptureAgain,
        Self::Contradict,
        Self::Contradict,
        Self::Pin,
        Self::Pin,
        Self::Unpin,
        Self::Forget,
        Self::Identity,
        Self::Profile,
        Self::Recall,
        Self::Now,
        Self::Now,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Capture => "captured",
            Self::CaptureAgain => "captured in a second home",
            Self::Contradict => "corrected",
            Self::Pin => "pinned",
            Self::Unpin => "unpinned",
            Self::Forget => "forget asked",
            Self::Identity => "identity said",
            Self::Profile => "knobs turned",
            Self::Recall => "recalled and of use",
            Self::Now => "sync now",
        }
    }
}

/// Somebody at one home.
pub(super) struct Worker<'a> {
    pub(super) home: &'a Home,
    pub(super) homes: &'a [Home],
    pub(super) place: &'a Place,
    pub(super) ledger: &'a Ledger,
    pub(super) is_over: &'a AtomicBool,
    pub(super) dice: Dice,
}

impl Worker<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(super) fn work(&mut self) -> Result<(), String> {
        while !self.is_over() {
            match self.dice.below(60) {
                0 => self.copy()?,
                1 => self.restore()?,
                2 => self.be_offline()?,
                3 => self.be_secluded()?,
                4 => self.stop()?,
                _ => self.do_something()?,
            }
        }
        Ok(())
    }

    fn do_something(&mut self) -> Result<(), String> {
        self.home.rise()?;
        let deed = *self.dice.pick(&Deed::ALL).unwrap_or(&Deed::Now);
        let is_done = match deed {
            Deed::Capture => self.capture()?,
            Deed::CaptureAgain => self.capture_again()?,
            Deed::Contradict => self.contradict(),
            Deed::Pin => self.pin(),
            Deed::Unpin => self.unpin(),
            Deed::Forget => self.forget()?,
            Deed::Identity => self.say_identity(),
            Deed::Profile => self.turn_knob(),
            Deed::Recall => self.recall(),
            Deed::Now => self.home.run(&["sync", "now", "--json"])?.is_some(),
        };
        self.ledger.count(deed.name(), is_done);
        Ok(())
    }

    /// A host writes turns, and its hook puts them on their way.
    fn capture(&mut self) -> Result<bool, String> {
        let session = format!("h{}-{:x}", self.home.number, self.dice.next());
        let path = self.home.folder.join("talks").join(format!("{session}.jsonl"));
        let failed = |error| format!("cannot write {}: {error}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(failed)?;
        let mut file = File::create(&path).map_err(failed)?;
        let mut words = Vec::new();
        for place in 0..=self.dice.below(TURNS_MAX) {
            let word = canary(&mut self.dice);
            let role = if place.is_multiple_of(2) { "user" } else { "assistant" };
            let content = format!("{word}: the tug leaves at {} o'clock", self.dice.below(24));
            let line = json!({
                "type": role, "uuid": format!("{session}/{place}"), "sessionId": session,
                "timestamp": format!("2026-01-01T00:{:02}:{place:02}Z", self.dice.below(60)),
                "cwd": "/harbour/tug", "message": {"role": role, "content": content},
            });
            writeln!(file, "{line}").map_err(failed)?;
            words.push(word);
        }
        self.put_on_its_way(&session, &path)?;
        for word in words {
            self.ledger.note(&word, &session, Fate::Kept);
        }
        self.ledger.note_transcript(&session, path);
        Ok(true)
    }

    /// The same transcript arrives at another home.
    fn capture_again(&mut self) -> Result<bool, String> {
        let Some((session, path)) = self.ledger.any_transcript(&mut self.dice) else {
            return Ok(false);
        };
        self.put_on_its_way(&session, &path).map(|()| true)
    }

    fn put_on_its_way(&self, session: &str, path: &Path) -> Result<(), String> {
        let shown = path.display().to_string();
        let words = ["capture-transcript", "--no-spawn", "--session-id", session, &shown];
        self.home.print(&words).map(drop)
    }

    /// Finds some memory in this home: its id, its word and its session.
    fn any_memory(&mut self) -> Option<(String, String, String)> {
        let (word, turn) = self.ledger.any_turn(&mut self.dice)?;
        let params = json!({"session": turn.session, "skip": 0, "limit": 100});
        let answer = self.home.call("session_turns", &params)?;
        let turns = answer.get("turns")?.as_array()?;
        let found = turns.iter().find(|turn| text(turn, "literal_surface").contains(&word))?;
        Some((text(found, "record_id"), word, turn.session))
    }

    fn contradict(&mut self) -> bool {
        let Some((id, _, session)) = self.any_memory() else { return false };
        let word = canary(&mut self.dice);
        self.ledger.note(&word, &session, Fate::InDoubt);
        let fact = format!("{word}: no, it leaves at {} o'clock", self.dice.below(24));
        let params = json!({"id": id, "new_fact": fact, "session_id": session});
        let is_done = self.home.call("memory_contradict", &params).is_some();
        if is_done {
            self.ledger.note(&word, &session, Fate::Kept);
        }
        is_done
    }

    fn pin(&mut self) -> bool {
        let Some((id, ..)) = self.any_memory() else { return false };
        let params = json!({"id": id, "everywhere": self.dice.one_in(2)});
        self.home.call("memory_pin", &params).is_some()
    }

    fn unpin(&mut self) -> bool {
        let pins = self.home.call("memory_pins", &json!({}));
        let pins = pins.and_then(|pins| pins.get("memories")?.as_array().cloned());
        let pins = pins.unwrap_or_default();
        let Some(pin) = self.dice.pick(&pins) else { return false };
        let id = ["record_id", "id"].iter().map(|field| text(pin, field)).find(|id| !id.is_empty());
        self.home.call("memory_unpin", &json!({"id": id})).is_some()
    }

    fn forget(&mut self) -> Result<bool, String> {
        let Some((id, word, session)) = self.any_memory() else { return Ok(false) };
        self.ledger.note(&word, &session, Fate::MayBeGone);
        let is_done = self.home.run(&["forget", "--yes", "--json", &id])?.is_some();
        if is_done {
            self.ledger.note(&word, &session, Fate::Gone);
        }
        Ok(is_done)
    }

    fn say_identity(&mut self) -> bool {
        let word = canary(&mut self.dice);
        self.ledger.note_word(&word);
        let said = format!("{word} of home {}", self.home.number);
        self.home.call("identity_set", &json!({"text": said})).is_some()
    }

    fn turn_knob(&mut self) -> bool {
        let value = match self.dice.one_in(2) {
            true => json!({"knob": "masking_off", "value": self.dice.one_in(2)}),
            false => {
                let depth = self.dice.pick(&["minimal", "standard", "deep"]).copied();
                json!({"knob": "wake_depth", "value": depth})
            }
        };
        self.home.call("profile_set", &value).is_some()
    }

    fn recall(&mut self) -> bool {
        let params = json!({"cue": format!("the tug at {} o'clock", self.dice.below(24))});
        let Some(answer) = self.home.call("memory_recall", &params) else { return false };
        let hits = answer.get("hits").and_then(Value::as_array).cloned().unwrap_or_default();
        let ids: Vec<String> = hits.iter().take(3).map(|hit| text(hit, "record_id")).collect();
        let session = format!("use-{}", self.dice.below(1000));
        let params = json!({"ids": ids, "session_id": session});
        self.home.call("memory_reinforce", &params).is_some()
    }

    /// A copy of the store, as a backup program or a cloned disk has it.
    fn copy(&self) -> Result<(), String> {
        self.home.kill()?;
        let _copying = self.ledger.copies.lock().unwrap_or_else(PoisonError::into_inner);
        self.home.copy_store(&self.home.folder.join("copy"))?;
        self.ledger.count("stores copied", true);
        Ok(())
    }

    /// Puts the store back to an earlier state, once the others can tell what has happened since.
    /// Now and then it is another home's: then two live under one name.
    fn restore(&mut self) -> Result<(), String> {
        let whose = if self.dice.one_in(3) { self.dice.pick(self.homes) } else { None };
        let whose = whose.unwrap_or(self.home);
        let copy = whose.folder.join("copy");
        if !copy.is_dir() {
            return Ok(());
        }
        self.home.rise()?;
        if !self.home.settle()? || !self.is_told()? {
            return Ok(());
        }
        self.home.kill()?;
        let _copying = self.ledger.copies.lock().unwrap_or_else(PoisonError::into_inner);
        self.home.restore_store(&copy)?;
        let is_own = whose.number == self.home.number;
        let what = if is_own { "stores put back" } else { "stores put in another home" };
        self.ledger.count(what, true);
        Ok(())
    }

    /// Whether everything of this home is in the log.
    fn is_told(&self) -> Result<bool, String> {
        let Some(status) = self.home.run(&["sync", "now", "--json"])? else { return Ok(false) };
        let vault = status.get("vaults").and_then(|vaults| vaults.get(0));
        Ok(vault.and_then(|vault| vault.get("waiting_to_send")?.as_u64()) == Some(0))
    }

    /// No daemon for a while; turns are put on their way all the same.
    fn be_offline(&mut self) -> Result<(), String> {
        self.home.kill()?;
        self.capture()?;
        process::pause(self.dice.time_below(OFFLINE_MAX));
        self.capture()?;
        self.ledger.count("times without a daemon", true);
        Ok(())
    }

    /// The place is out of reach for this home, and for no other.
    fn be_secluded(&mut self) -> Result<(), String> {
        self.place.seclude(self.home.number, true);
        for _ in 0..DEEDS_APART {
            if !self.is_over() {
                self.do_something()?;
            }
        }
        self.place.seclude(self.home.number, false);
        self.ledger.count("times cut off", true);
        Ok(())
    }

    fn stop(&self) -> Result<(), String> {
        if let Some(took) = self.home.stop()? {
            self.ledger.count("daemons stopped", true);
            self.ledger.note_longest("slowest stop", took);
        }
        Ok(())
    }
}
