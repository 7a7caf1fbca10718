//! What is remembered while a transcript is read: facts about the session, and things that wait
//! for a later line to tell what they are.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deeds::Deeds;
use super::{HostKind, Meaning, Source, Speaker, Turn, codex};

/// Crosses processes: what a resumed reader must know. Fields are only ever added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memo {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) git_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) host_version: Option<String>,
    /// Set when a sub-agent speaks throughout the file; empty when it has no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) form: Option<Form>,
    /// Claude Code delivers queued prompts as attachments in this file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_attachments: bool,
    /// When the last prompt was sent, for a host that dates nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompted_at: Option<Timestamp>,
}

/// Which of the three records of the same words a Codex file is read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Form {
    /// `event_msg` with `user_message` and `agent_message`.
    Events,
    /// `event_msg` with `item_completed`.
    Items,
    /// `response_item` messages, where there is nothing better.
    Responses,
}

/// The state of one reader.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) host: HostKind,
    pub(super) memo: Memo,
    /// Done since the assistant last spoke.
    pub(super) deeds: Deeds,
    /// Codex messages from before the form of the file is known, with the role they were
    /// written in.
    pub(super) undecided: Vec<(Speaker, Turn)>,
    /// What was typed into Claude Code's queue and is not delivered yet: prompts, and `None` for
    /// commands.
    pub(super) queued: VecDeque<Option<Turn>>,
}

impl Reading {
    pub(super) fn new(source: &Source, mut memo: Memo) -> Self {
        memo.agent = memo.agent.or_else(|| source.agent.clone());
        memo.session = memo.session.or_else(|| source.session.clone());
        Self {
            host: source.host,
            memo,
            deeds: Deeds::default(),
            undecided: Vec::new(),
            queued: VecDeque::new(),
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        let has_queued = self.queued.iter().any(Option::is_some);
        self.deeds.is_empty() && self.undecided.is_empty() && !has_queued
    }

    /// Decides about everything that waits as if nothing more would come.
    pub(super) fn let_go(&mut self, out: &mut Vec<Meaning>) {
        codex::let_go(self, out);
        self.deeds.forget();
        // A prompt that was never delivered may have been taken back.
        self.queued.clear();
    }

    /// Returns a turn with what the session says about every turn. An utterance of the assistant
    /// takes what was done before it; one of the user begins anew.
    pub(super) fn turn(&mut self, speaker: Speaker, text: String) -> Turn {
        let memo = &self.memo;
        let is_subagent = memo.agent.is_some();
        let mut turn = Turn {
            host: self.host.name(),
            speaker: if is_subagent { Speaker::Assistant } else { speaker },
            text,
            uuid: None,
            session: memo.session.clone(),
            at: None,
            cwd: memo.cwd.clone(),
            is_subagent,
            provenance: Map::new(),
        };
        put(&mut turn, "git_branch", memo.git_branch.as_deref());
        put(&mut turn, "host_version", memo.host_version.as_deref());
        put(&mut turn, "agent", memo.agent.as_deref().filter(|name| !name.is_empty()));
        match speaker {
            Speaker::User => self.deeds.forget(),
            Speaker::Assistant => {
                put(&mut turn, "model", memo.model.as_deref());
                self.deeds.give_to(&mut turn.provenance);
            }
        }
        turn
    }
}

/// Adds to the provenance what is there.
pub(super) fn put(turn: &mut Turn, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        turn.provenance.insert(name.to_owned(), Value::from(value));
    }
}
