//! What a host's event means to us: which transcripts have grown, and whether to answer.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::payload::Payload;
use crate::host::cursor_transcript;

/// The events we are called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    SessionStart,
    Prompt,
    Stop,
    SubagentStop,
    PreCompact,
    SessionEnd,
}

/// Who calls; their ways of taking an answer differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Claude,
    Codex,
    Cursor,
}

/// The event as meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Meant {
    pub(super) event: Event,
    pub(super) host: Host,
    pub(super) session: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) prompt: Option<String>,
    /// The session's transcript.
    pub(super) transcript: Option<PathBuf>,
    /// The transcript of a sub-agent that ended. It says itself which session it is of, as it will
    /// to an import.
    pub(super) agent_transcript: Option<PathBuf>,
}

impl Event {
    const ALL: [(&'static str, Self); 6] = [
        ("session-start", Self::SessionStart),
        ("prompt", Self::Prompt),
        ("stop", Self::Stop),
        ("subagent-stop", Self::SubagentStop),
        ("pre-compact", Self::PreCompact),
        ("session-end", Self::SessionEnd),
    ];

    /// Reads the command line. Anything else on it is ignored: an older binary must survive a newer
    /// installer.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Host), String> {
        let named = words.first().map_or("", String::as_str);
        let found = Self::ALL.iter().find(|(name, _)| *name == named);
        let event = found.map(|(_, event)| *event).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            format!("there is no hook `{named}`; there are {names}")
        })?;
        let mut pairs = words.iter().zip(words.iter().skip(1));
        let host = pairs.find(|(flag, _)| *flag == "--host").map(|(_, host)| host.as_str());
        Ok((event, Host::parse(host.unwrap_or("claude"))))
    }

    pub(super) fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, event)| *event == self);
        found.map_or("hook", |(name, _)| name)
    }

    /// Tells whether a turn was said before this event, so that a transcript must be there.
    pub(super) fn follows_a_turn(self) -> bool {
        match self {
            Self::SessionStart | Self::Prompt => false,
            Self::Stop | Self::SubagentStop | Self::PreCompact | Self::SessionEnd => true,
        }
    }

    /// What we give ourselves, well under what any host gives us; whole seconds, as alarms are.
    pub(super) fn limit(self) -> Duration {
        match self {
            Self::SessionEnd => Duration::from_secs(1),
            Self::Prompt | Self::SessionStart => Duration::from_secs(2),
            Self::Stop | Self::SubagentStop | Self::PreCompact => Duration::from_secs(4),
        }
    }
}

impl Host {
    /// A host we do not know is spoken to in the plainest way.
    fn parse(name: &str) -> Self {
        match name {
            "codex" => Self::Codex,
            "cursor" => Self::Cursor,
            _ => Self::Claude,
        }
    }
}

pub(super) fn understand(
    event: Event,
    host: Host,
    payload: Payload,
    user_home: Option<&Path>,
) -> Meant {
    let Payload { session, cwd, prompt, transcript, agent_transcript } = payload;
    let known = || match (host, user_home, &cwd, &session) {
        (Host::Cursor, Some(home), Some(cwd), Some(session)) => {
            cursor_transcript(home, cwd, session)
        }
        _ => None,
    };
    Meant {
        event,
        host,
        transcript: transcript.map(PathBuf::from).or_else(known),
        agent_transcript: agent_transcript.map(PathBuf::from),
        session,
        cwd,
        prompt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(line: &str, want: (Event, Host)) {
        assert_eq!(Event::parse(&words(line)).unwrap(), want, "{line}");
    }

    #[test]
    fn the_command_line_is_read_generously() {
        check("stop", (Event::Stop, Host::Claude));
        check("prompt --host codex", (Event::Prompt, Host::Codex));
        check("session-end --new-flag x --host cursor --more", (Event::SessionEnd, Host::Cursor));
        check("stop --host somebody-new", (Event::Stop, Host::Claude));
        assert!(Event::parse(&words("lunch")).unwrap_err().contains("pre-compact"));
        assert!(Event::parse(&[]).is_err());
    }

    #[test]
    fn a_sub_agents_transcript_is_read_beside_its_sessions() {
        let payload = Payload {
            transcript: Some("/t".to_owned()),
            agent_transcript: Some("/a".to_owned()),
            ..Payload::default()
        };
        let meant = understand(Event::SubagentStop, Host::Claude, payload, None);
        assert_eq!(meant.transcript, Some(PathBuf::from("/t")));
        assert_eq!(meant.agent_transcript, Some(PathBuf::from("/a")));
    }
}
