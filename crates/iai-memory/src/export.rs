//! Everything that is ground state as lines of JSON, and back: `docs/export-format.md`.
//!
//! The same store gives the same bytes, so that an export of an import can be compared with the
//! file it came from.

mod lines;

use iai_store::{ExportChoice, Inserted, StoreError};
use serde::Serialize;

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::standing::Consent;
use crate::trust::distrust;
pub(crate) use lines::Line;
use lines::LineError;

/// What an export held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExportTold {
    /// How many memories.
    pub memories: u64,
    /// How many lines in all, the first and the last included.
    pub lines: u64,
}

/// What became of lines that were taken back in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportTold {
    /// Memories that were stored.
    pub stored: u64,
    /// Memories that were there.
    pub known: u64,
    /// Memories that were forgotten on purpose, and stay so.
    pub forgotten: u64,
    /// What would be told to every session and gives orders to the assistant, and is not pinned
    /// nor told: memories by their ids, or `identity`.
    pub untold: Vec<String>,
    /// Lines that could not be taken: which of the given ones, counted from 0, and why.
    pub problems: Vec<(usize, String)>,
    /// Whether the last line of an export was among them.
    pub is_ended: bool,
    /// Whether the first line says that this is for another program. Nothing was taken then.
    pub is_newer: bool,
}

impl MemoryEngine {
    /// Hands over an export line by line, all of it as of one moment. An error of `each` ends it.
    pub fn export_lines(
        &self,
        choice: &ExportChoice,
        each: &mut dyn FnMut(&str) -> std::io::Result<()>,
    ) -> Result<ExportTold> {
        let mut told = ExportTold::default();
        let mut put = |line: &Line| -> Result<()> {
            told.lines += 1;
            told.memories += u64::from(matches!(line, Line::Memory(_)));
            each(&line.to_text()?).map_err(|error| MemoryError::bad("export", error.to_string()))
        };
        self.read(|reader| {
            reader.at_one_moment(|| {
                put(&Line::head(choice))?;
                if *choice == ExportChoice::default() {
                    if let Some((text, updated_at)) = reader.export_identity()? {
                        put(&Line::Identity { text, updated_at })?;
                    }
                    for (knob, value, updated_at) in reader.export_profile()? {
                        put(&Line::Profile { knob, value, updated_at })?;
                    }
                }
                reader.export_memories(choice, &mut |memory| put(&Line::of_memory(memory)?))?;
                reader.export_deeds(choice, &mut |deed| put(&Line::of_deed(deed)))
            })
        })?;
        let (lines, memories) = (told.lines + 1, told.memories);
        let end = Line::End { memories, lines }.to_text()?;
        each(&end).map_err(|error| MemoryError::bad("export", error.to_string()))?;
        Ok(ExportTold { memories, lines })
    }

    /// Takes lines of an export in, in one transaction. A line that cannot be taken is told, and
    /// the others are. Somebody else may have made the file: what gives orders to the assistant is
    /// not put before every session without the user's consent.
    pub fn import_lines(&self, lines: &[&str], consent: Consent) -> Result<ImportTold> {
        let read: Vec<Result<Line, LineError>> =
            lines.iter().map(|line| Line::parse(line)).collect();
        let is_newer =
            |line: &Result<Line, LineError>| matches!(line, Err(LineError::Newer { .. }));
        if let Some(place) = read.iter().position(is_newer) {
            let why = read.get(place).and_then(|line| line.as_ref().err()).map(ToString::to_string);
            let problems = vec![(place, why.unwrap_or_default())];
            return Ok(ImportTold { problems, is_newer: true, ..ImportTold::default() });
        }
        self.remember(|writing| {
            let mut told = ImportTold::default();
            for (place, line) in read.iter().enumerate() {
                let taken = match line {
                    Ok(line) => match untold(writing, line, consent)? {
                        Some(name) => {
                            told.untold.push(name);
                            Ok(())
                        }
                        None => take(writing, line, &mut told),
                    },
                    Err(error) => Err(LineError::Unreadable(error.to_string())),
                };
                match taken {
                    Ok(()) => {}
                    // The store itself is in trouble: nothing of this is kept.
                    Err(LineError::Store(error)) => return Err(error.into()),
                    Err(error) => told.problems.push((place, error.to_string())),
                }
            }
            Ok(told)
        })
    }
}

/// Names what a line would have told to every session, where nobody consented to its orders.
fn untold(
    writing: &iai_store::Writing<'_>,
    line: &Line,
    consent: Consent,
) -> Result<Option<String>> {
    let (name, text) = match line {
        // Who said already who they are keeps it, and what is pinned was pinned by somebody who
        // said yes.
        Line::Identity { text, .. } if writing.read().export_identity()?.is_none() => {
            ("identity".to_owned(), text.clone())
        }
        Line::Pin { memory, .. } if writing.read().exported_pin(*memory)?.is_none() => {
            let text = writing.memory(*memory)?.map(|memory| memory.text);
            (memory.to_string(), text.unwrap_or_default())
        }
        _ => return Ok(None),
    };
    let is_untold = consent == Consent::NotAsked && distrust(&text).is_some();
    Ok(is_untold.then_some(name))
}

fn take(
    writing: &iai_store::Writing<'_>,
    line: &Line,
    told: &mut ImportTold,
) -> Result<(), LineError> {
    let done = match line {
        Line::Head { .. } => Ok(()),
        Line::End { .. } => {
            told.is_ended = true;
            Ok(())
        }
        Line::Identity { text, updated_at } => writing.import_identity(text, *updated_at),
        Line::Profile { knob, value, updated_at } => {
            writing.import_profile(knob, value, *updated_at)
        }
        Line::Memory(memory) => {
            writing.import_memory(&memory.to_exported()?).map(|inserted| match inserted {
                Inserted::New(_) => told.stored += 1,
                Inserted::Known(_) => told.known += 1,
                Inserted::Forgotten(_) => told.forgotten += 1,
            })
        }
        Line::Link { .. } | Line::LinkSession { .. } | Line::Pin { .. } | Line::Use { .. } => {
            writing.import_deed(&line.to_deed()?)
        }
    };
    match done {
        Err(StoreError::Refused { what, why }) => {
            Err(LineError::Unreadable(format!("the {what} was refused: {why}")))
        }
        Err(StoreError::NoMemory { id }) => {
            Err(LineError::Unreadable(format!("it names the memory {id}, which is not there")))
        }
        other => other.map_err(LineError::Store),
    }
}

#[cfg(test)]
mod fuzz;
