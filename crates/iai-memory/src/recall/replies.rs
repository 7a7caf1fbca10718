//! Turns that lead to others: a question to its reply, "yes, do that" to what it agrees to. Such a
//! turn is found by what the cue has in common with it; what is meant is the other one.

use iai_store::{Memory, MemoryNumber, Role};

use super::cue::Cue;
use super::echo::{
    Asks, agrees, asks_among_others, asks_the_same, ends_with_question_of, is_chatter,
    only_asks_beside,
};
use super::rank::{CHATTER_COST, LED_SHARE, QUESTION_COST, Scored};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Where a turn leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// What was agreed to.
    Before,
    /// The reply.
    After,
}

impl Side {
    fn what(self) -> &'static str {
        match self {
            Self::Before => "what was agreed to",
            Self::After => "the reply",
        }
    }
}

/// What a turn is to whoever asks.
struct Lead {
    to: Option<Side>,
    /// What it costs the turn itself, and why; nothing where it says something besides.
    cost: Option<(f64, &'static str)>,
}

/// Takes from questions what they gained by asking what the cue asks, and from others, as from what
/// says nothing, a little; what they lead to is worth nearly as much as they were. Returns how many
/// there were.
pub(super) fn follow(
    engine: &MemoryEngine,
    cue: &Cue,
    read: &[(MemoryNumber, Memory)],
    scored: &mut Vec<Scored>,
) -> Result<usize> {
    let mut n_led = 0;
    for (number, memory) in read {
        let Some(own) = scored.iter_mut().find(|own| own.number == *number) else { continue };
        let Some(lead) = lead_of(cue, memory, own) else { continue };
        n_led += 1;
        let worth = LED_SHARE * own.score;
        let mut rest = 0.0;
        if let Some(side) = lead.to
            && let Some(target) = spoken_by_another(engine, cue, *number, side)?
        {
            let what = side.what();
            let led = own.led_to(target, worth, format!("{what} {worth:.3}"));
            if hand_over(scored, led, what) {
                // What it leads to stands above it.
                rest = (worth / LED_SHARE - worth).max(0.0);
            }
        }
        let Some((cost, what)) = lead.cost else { continue };
        let Some(own) = scored.iter_mut().find(|own| own.number == *number) else { continue };
        let cost = cost + rest;
        own.score -= cost;
        // What an assistant asks may be what the user then agrees to.
        own.is_led_away = lead.to != Some(Side::After) || memory.role == Role::User;
        own.reason.push_str(&format!(" − {what} {cost:.3}"));
    }
    Ok(n_led)
}

/// Gives what is led to its worth; false where it leads elsewhere itself.
fn hand_over(scored: &mut Vec<Scored>, led: Scored, what: &str) -> bool {
    let worth = led.score;
    match scored.iter_mut().find(|other| other.number == led.number) {
        Some(other) if other.is_led_away => return false,
        Some(other) if worth <= other.score => {}
        Some(other) => {
            other.score = worth;
            other.reason.push_str(&format!(" → {worth:.3}, {what}"));
        }
        None => scored.push(led),
    }
    true
}

fn lead_of(cue: &Cue, memory: &Memory, own: &Scored) -> Option<Lead> {
    let text = &memory.text;
    if is_chatter(cue, text) {
        let to = agrees(text).then_some(Side::Before);
        return Some(Lead { to, cost: Some((CHATTER_COST, "says nothing")) });
    }
    if only_asks_beside(cue, text) {
        let cost = match asks_the_same(cue, text) {
            true => (own.of_cue.max(0.0), "asks the same"),
            false => (QUESTION_COST, "asks"),
        };
        return Some(Lead { to: Some(Side::After), cost: Some(cost) });
    }
    if memory.role == Role::Assistant && ends_with_question_of(cue, text) {
        return Some(Lead { to: Some(Side::After), cost: None });
    }
    if memory.role != Role::User || !cue.phrases.is_empty() {
        return None;
    }
    let cost = match asks_among_others(cue, text) {
        Asks::Nothing => return None,
        Asks::Something => None,
        Asks::OfCue => Some((QUESTION_COST, "asks")),
    };
    Some(Lead { to: Some(Side::After), cost })
}

/// Returns the turn beside another where somebody else said it, in the same project, when the cue
/// may be answered by what was said then, and nothing took its place.
fn spoken_by_another(
    engine: &MemoryEngine,
    cue: &Cue,
    number: MemoryNumber,
    side: Side,
) -> Result<Option<MemoryNumber>> {
    engine.with_index(|index| {
        let catalogue = index.catalogue();
        let beside = match side {
            Side::Before => catalogue.previous(number),
            Side::After => catalogue.next(number),
        }?;
        let (own, other) = (catalogue.entry(number)?, catalogue.entry(beside)?);
        let (from, to) = cue.said_ms.unwrap_or((i64::MIN, i64::MAX));
        let to = to.min(cue.asked_at.as_millisecond());
        let is_meant = other.role != own.role
            && other.role != Role::System
            && (from..=to).contains(&other.turn_at_ms)
            && catalogue.project(beside) == catalogue.project(number)
            && catalogue.ended_at_ms(beside).is_none();
        is_meant.then_some(beside)
    })
}
