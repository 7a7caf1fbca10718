//! Keeps what an assistant asks to keep. All that can be found out about it is found out before the
//! writer is needed; then one transaction, shared with others, holds it and what follows from it.

use iai_store::{Inserted, MemoryId, NewAttribute, NewMemory, NewRemark, Role, Tier, Writing};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::attributes;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::relate::{self, Opposed};
use crate::remarks::{is_remember_request, remarks_of};
use crate::standing::PINS_MAX;
use crate::trust::distrust;

/// The host name of what an assistant captured by a tool call.
pub(crate) const TOOL_HOST: &str = "mcp";
/// The host name of what a user wrote on the page.
pub(crate) const PAGE_HOST: &str = "page";
/// The host name of what a user wrote at the command line.
pub(crate) const TERMINAL_HOST: &str = "terminal";

/// What an assistant asks to keep.
#[derive(Debug, Clone)]
pub struct CaptureAsk {
    /// The words.
    pub text: String,
    /// An extra key to find them by; never a replacement for them.
    pub cue: Option<String>,
    /// What kind of memory.
    pub tier: Tier,
    /// Whose words.
    pub role: Role,
    /// The session it was said in.
    pub session: String,
    /// The project it belongs to.
    pub project: Option<String>,
    /// Where the host was working.
    pub cwd: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, Serialize)]
pub struct CaptureAnswer {
    /// `inserted`, `reinforced` (it was there already, word for word) or `skipped`.
    pub status: &'static str,
    /// The memory.
    pub record_id: Option<MemoryId>,
    /// One sentence.
    pub reason: String,
}

impl MemoryEngine {
    /// Keeps what an assistant asks to keep. When this returns, it is on disk.
    pub fn capture(&self, ask: &CaptureAsk, now: Timestamp) -> Result<CaptureAnswer> {
        if ask.text.chars().all(char::is_whitespace) {
            let reason = "the text is empty".to_owned();
            return Ok(CaptureAnswer { status: "skipped", record_id: None, reason });
        }
        let mut new = captured(ask, now);
        let ready = {
            let _one_at_a_time = self.sharing.readying();
            new.pinned = self.is_to_be_pinned(ask)?;
            self.make_ready(new, now)
        };
        let pinned = if ready.new.pinned { ", pinned" } else { "" };
        let tier = ask.tier.as_str();
        Ok(match self.insert_shared(ready)? {
            Inserted::New(id) => CaptureAnswer {
                status: "inserted",
                record_id: Some(id),
                reason: format!("tier={tier}{pinned}"),
            },
            Inserted::Known(id) => CaptureAnswer {
                status: "reinforced",
                record_id: Some(id),
                reason: "already kept in this session, word for word".to_owned(),
            },
            Inserted::Forgotten(_) => CaptureAnswer {
                status: "skipped",
                record_id: None,
                reason: "forgotten on purpose in this session; say it in other words to keep it"
                    .to_owned(),
            },
        })
    }

    /// What the user asks to be remembered in so many words stays in sight, while there is room.
    fn is_to_be_pinned(&self, ask: &CaptureAsk) -> Result<bool> {
        let is_asked = ask.role == Role::User
            && (is_remember_request(&ask.text)
                || ask.cue.as_deref().is_some_and(is_remember_request));
        // What gives orders to the assistant is not pinned unless the user does it by hand.
        let is_asked = is_asked && distrust(&ask.text).is_none();
        Ok(is_asked && self.read(|reader| Ok(reader.n_pinned()?))? < PINS_MAX)
    }

    /// Finds out what stands against a memory, what it builds on and what it is about. What cannot
    /// be found out now is no reason not to keep it: the quiet work looks again.
    pub(super) fn make_ready(&self, new: NewMemory, now: Timestamp) -> Ready {
        let memory = new.stored_at(now);
        Ready {
            attributes: attributes::taken_from(&attributes::Source::of_new(&new)),
            remarks: remarks_of(&memory),
            opposed: self.opposed_to(None, &memory).unwrap_or_default(),
            used: self.used_by(&new).unwrap_or_default(),
            new,
            now,
        }
    }
}

/// A memory that only has to be written down, with what follows from it.
pub(super) struct Ready {
    new: NewMemory,
    now: Timestamp,
    attributes: Vec<NewAttribute>,
    remarks: Vec<NewRemark>,
    opposed: Vec<Opposed>,
    used: Vec<MemoryId>,
}

impl Ready {
    /// Stores the memory, and all the rest unless it was there already.
    pub(super) fn insert(&self, writing: &Writing<'_>) -> Result<Inserted> {
        let inserted = writing.insert(&self.new, self.now)?;
        let Inserted::New(id) = inserted else { return Ok(inserted) };
        if let Some(number) = writing.read().number_of(id)? {
            writing.put_attributes(&[(number, self.attributes.clone())])?;
            writing.put_remarks(number, &self.remarks)?;
            relate::keep_opposed(writing, number, &self.opposed, self.now)?;
        }
        relate::link_used(writing, &self.new, &self.used, self.now)?;
        Ok(inserted)
    }
}

/// An explicit capture has no place in a transcript: in one session, the same words are the same
/// memory.
pub(crate) fn captured(ask: &CaptureAsk, now: Timestamp) -> NewMemory {
    NewMemory {
        host: TOOL_HOST.to_owned(),
        session: ask.session.clone(),
        turn_uuid: None,
        turn_index: None,
        role: ask.role,
        tier: ask.tier,
        project: ask.project.clone(),
        cwd: ask.cwd.clone(),
        turn_at: now,
        captured_at: now,
        text: ask.text.clone(),
        language: None,
        tags: Vec::new(),
        provenance: json!({}),
        cue: ask.cue.clone().filter(|cue| !cue.is_empty()),
        pinned: false,
    }
}
