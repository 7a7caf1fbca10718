//! Tells in one word what a reader made of lines, for the tables of tests.

use serde_json::Value;

use super::{HostKind, LineParser, Meaning, Source, Speaker, Turn};

/// Reads lines and compares: `user: hi`, `agent: hi` for a sub-agent, `- Reason`, `!`.
#[track_caller]
pub(super) fn check(host: HostKind, lines: &[Value], want: &[&str]) {
    let mut parser = LineParser::new(&Source::lines(host));
    let mut got = Vec::new();
    for line in lines {
        got.extend(parser.read(line.to_string().as_bytes()));
    }
    assert_eq!(got.iter().map(tell).collect::<Vec<_>>(), want, "{lines:#?}");
}

/// Returns the turns of lines, waiting ones included.
pub(super) fn turns(host: HostKind, lines: &[Value]) -> Vec<Turn> {
    let mut parser = LineParser::new(&Source::lines(host));
    let mut out: Vec<_> =
        lines.iter().flat_map(|line| parser.read(line.to_string().as_bytes())).collect();
    out.extend(parser.finish());
    let turns = out.into_iter().filter_map(|meaning| match meaning {
        Meaning::Turn(turn) => Some(*turn),
        Meaning::Nobody(_) | Meaning::Unreadable => None,
    });
    turns.collect()
}

pub(super) fn tell(meaning: &Meaning) -> String {
    match meaning {
        Meaning::Turn(turn) => {
            let who = match (turn.is_subagent, turn.speaker) {
                (true, Speaker::Assistant) => "agent",
                (true, Speaker::User) => "wrong",
                (false, speaker) => speaker.as_str(),
            };
            format!("{who}: {}", turn.text)
        }
        Meaning::Nobody(reason) => format!("- {reason:?}"),
        Meaning::Unreadable => "!".to_owned(),
    }
}
