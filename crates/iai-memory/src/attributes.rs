//! Takes from each memory what it is about, by rules and without a model: names, files, commands,
//! tools, the language. Who spoke, when and where is in the columns already and is not repeated.

mod calendar;
mod commands;
#[cfg(test)]
mod fuzz;
mod harvest;
mod language;
mod names;
mod numbers;
mod programs;
mod shapes;
mod spoken;
mod text;

use iai_store::{
    AttributeRole, Memory, MemoryNumber, NewAttribute, NewMemory, Reader, StepProgress,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::formality::Formality;
use crate::organise::{Advance, Due, Effects, Shift, Step};

pub(crate) use calendar::{month_of, weekday_of};
pub(crate) use commands::{asked_for, counted_in_line};
pub(crate) use language::language_of;
pub(crate) use numbers::number_of;
pub(crate) use spoken::commands_in_prose;

use harvest::Harvest;

/// Memories looked at in one transaction; with their rows a few milliseconds of work.
const MEMORIES_PER_ADVANCE: usize = 64;

/// How attributes are taken. By another rule they are taken again from everything.
const RULE: u64 = 2;

/// Gives every memory its attributes soon after it came in.
pub(crate) struct Attributes;

impl Step for Attributes {
    fn name(&self) -> &'static str {
        "attributes"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
        if !has_rule_of_today(&progress) {
            progress = StepProgress { state: json!({"rule": RULE}), ..StepProgress::default() };
        }
        let came_in =
            engine.read(|reader| Ok(reader.after(progress.up_to, MEMORIES_PER_ADVANCE)?))?;
        if came_in.is_empty() {
            return Ok(Advance::Nothing);
        }
        let mut taken: Vec<(MemoryNumber, Vec<NewAttribute>)> = Vec::with_capacity(came_in.len());
        let read = shift.one_by_one(&came_in, |(number, memory)| {
            taken.push((*number, taken_from(&Source::of(memory))));
            Ok(())
        })?;
        let Some((last, _)) = read.last() else { return Ok(Advance::MadeWay) };
        progress.up_to = *last;
        let n_given = engine.write(|writing| {
            let n_given = writing.put_attributes(&taken)?;
            writing.put_step(self.name(), &progress, shift.now)?;
            Ok(n_given)
        })?;
        Ok(Advance::Did(Effects::from([
            ("memories_read", read.len() as u64),
            ("attributes_given", n_given as u64),
        ])))
    }
}

/// Returns up to which memory the attributes are those of today's rule.
pub(crate) fn taken_up_to(reader: &Reader) -> Result<MemoryNumber> {
    let progress = reader.step(Attributes.name())?;
    Ok(if has_rule_of_today(&progress) { progress.up_to } else { MemoryNumber::new(0) })
}

fn has_rule_of_today(progress: &StepProgress) -> bool {
    progress.state.get("rule").and_then(Value::as_u64) == Some(RULE)
}

impl MemoryEngine {
    /// Looks at what came in and was not looked at yet, now instead of soon: what it is about, and
    /// how formal it is. Returns how many memories it was.
    pub fn look_at_what_came_in(&self, now: Timestamp) -> Result<u64> {
        let done = self.finish_steps(&[&Attributes, &Formality], now)?;
        let read = done.get(Attributes.name()).and_then(|effects| effects.get("memories_read"));
        Ok(read.copied().unwrap_or(0))
    }
}

/// What attributes are taken from.
pub(crate) struct Source<'a> {
    text: &'a str,
    /// Folders that files are named from.
    folders: [Option<&'a str>; 2],
    provenance: &'a Value,
}

impl<'a> Source<'a> {
    pub(crate) fn of(memory: &'a Memory) -> Self {
        Self {
            text: &memory.text,
            folders: [memory.cwd.as_deref(), memory.project.as_deref()],
            provenance: &memory.provenance,
        }
    }

    pub(crate) fn of_new(new: &'a NewMemory) -> Self {
        Self {
            text: &new.text,
            folders: [new.cwd.as_deref(), new.project.as_deref()],
            provenance: &new.provenance,
        }
    }
}

/// Returns the attributes of a memory: at most 32, what was done before what was said, names that
/// come up often before names that come up once.
pub(crate) fn taken_from(source: &Source<'_>) -> Vec<NewAttribute> {
    let mut harvest = Harvest::new(source.folders);
    for (field, role) in [
        ("tools", AttributeRole::Tool),
        ("files", AttributeRole::File),
        ("commands", AttributeRole::Command),
    ] {
        let named = source.provenance.get(field).and_then(Value::as_array);
        for name in named.into_iter().flatten().filter_map(Value::as_str) {
            match role {
                AttributeRole::Command => commands::each_in_line(name, &mut harvest),
                _ => harvest.add(role, name),
            }
        }
    }
    let language = language_of(source.text);
    // A manual names everything; what people talk about must stay rare enough to be telling.
    if source.provenance.get("taught").is_none() {
        text::read(source.text, language, &mut harvest);
    }
    if let Some(language) = language {
        harvest.add(AttributeRole::Lang, language);
    }
    harvest.into_attributes()
}

#[cfg(test)]
mod tests;
