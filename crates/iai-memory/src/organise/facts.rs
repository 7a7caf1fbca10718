//! Takes facts from each memory, once: commands, names, stated preferences. Patterns are counted
//! from them.

mod taking;

pub(super) use taking::opposite_of;

use iai_store::{FactKind, Memory, MemoryNumber, StepProgress};
use serde_json::{Value, json};

use super::nearness::is_said;
use super::{Advance, Due, Effects, Shift, Step};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Memories read in one transaction.
const MEMORIES_PER_ADVANCE: usize = 64;
/// Facts kept of one memory.
const FACTS_MAX: usize = 16;
/// How facts are taken. By another rule they are taken again from everything.
const RULE: u64 = 2;

pub(super) const NAME: &str = "facts";

pub(super) struct Facts;

impl Step for Facts {
    fn name(&self) -> &'static str {
        NAME
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let mut progress = engine.read(|reader| Ok(reader.step(NAME)?))?;
        let is_other = progress.state.get("rule").and_then(Value::as_u64) != Some(RULE);
        if is_other {
            progress = StepProgress { state: json!({"rule": RULE}), ..StepProgress::default() };
        }
        let memories =
            engine.read(|reader| Ok(reader.after(progress.up_to, MEMORIES_PER_ADVANCE)?))?;
        if memories.is_empty() {
            return Ok(Advance::Nothing);
        }
        let mut facts: Vec<(MemoryNumber, Vec<(FactKind, String)>)> = Vec::new();
        let read = shift.one_by_one(&memories, |(number, memory)| {
            facts.push((*number, facts_of(memory)));
            Ok(())
        })?;
        let Some((last, _)) = read.last() else { return Ok(Advance::MadeWay) };
        progress.up_to = *last;
        let n_facts: usize = facts.iter().map(|(_, facts)| facts.len()).sum();
        engine.write(|writing| {
            if is_other {
                writing.drop_facts()?;
            }
            for (number, facts) in &facts {
                for (kind, name) in facts {
                    writing.note_fact(*number, *kind, name)?;
                }
            }
            Ok(writing.put_step(NAME, &progress, shift.now)?)
        })?;
        Ok(Advance::Did(Effects::from([("facts_taken", n_facts as u64)])))
    }
}

/// Returns the facts a memory shows, each once. Never looks at tags: those are ours, not the
/// user's.
pub(super) fn facts_of(memory: &Memory) -> Vec<(FactKind, String)> {
    if !is_said(memory) {
        return Vec::new();
    }
    let mut facts = taking::commands_run(&memory.provenance);
    facts.extend(taking::commands_in(&memory.text));
    if memory.role == iai_store::Role::User {
        facts.extend(taking::preferences_in(&memory.text));
    }
    facts.extend(taking::names_in(&memory.text));
    let mut distinct: Vec<(FactKind, String)> = Vec::new();
    for fact in facts {
        if distinct.len() < FACTS_MAX && !distinct.contains(&fact) {
            distinct.push(fact);
        }
    }
    distinct
}
