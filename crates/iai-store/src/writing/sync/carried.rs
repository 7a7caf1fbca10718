//! What entries carried, and what has to be erased because it was forgotten.

use rusqlite::params;

use super::super::{Writing, held};
use crate::error::Result;
use crate::record::memory::Millis;
use crate::record::{ExportedMemory, MemoryId, MemoryNumber, SyncErasure, VaultNumber};

impl Writing<'_> {
    /// Notes that an entry carried a memory.
    pub fn note_sync_carried(
        &self,
        vault: VaultNumber,
        memory: MemoryNumber,
        (machine, counter): ([u8; 16], u64),
        stamp: u64,
    ) -> Result<()> {
        let (counter, stamp) = (held("counter", counter)?, held("stamp", stamp)?);
        self.reader.run("noting what an entry carried", |c| {
            c.prepare_cached("INSERT OR IGNORE INTO sync_carried VALUES (?, ?, ?, ?, ?)")?
                .execute(params![memory, vault, machine, counter, stamp])
                .map(drop)
        })
    }

    /// Takes what stands beside a memory's words from an earlier telling of it, if this one is the
    /// earliest. Where and when it was said stays as it is here: the index knows it too.
    pub fn take_earlier_telling(
        &self,
        vault: VaultNumber,
        told: &ExportedMemory,
        stamp: (u64, [u8; 16]),
    ) -> Result<()> {
        let (at, by) = (held("stamp", stamp.0)?, stamp.1);
        let memory = &told.memory;
        self.reader.run("taking over an earlier telling", |c| {
            let earlier = c
                .prepare_cached(
                    "SELECT 1 FROM sync_carried c JOIN memory m ON m.number = c.memory
                      WHERE m.uuid = ?1 AND c.vault = ?2 AND (c.stamp, c.machine) < (?3, ?4)",
                )?
                .exists(params![memory.id, vault, at, by])?;
            if earlier {
                return Ok(());
            }
            c.prepare_cached(
                "UPDATE memory SET captured_at_ms = ?2, stored_at_ms = ?3, language = ?4, cue = ?5,
                                   tags = ?6, provenance = ?7
                  WHERE uuid = ?1",
            )?
            .execute(params![
                memory.id,
                Millis(memory.captured_at),
                Millis(memory.stored_at),
                memory.language,
                memory.cue,
                told.tags,
                told.provenance
            ])
            .map(drop)
        })
    }

    /// Notes that entries have to be erased because what they carried is gone here.
    pub fn note_sync_erasure(&self, vault: VaultNumber, erasure: &SyncErasure) -> Result<()> {
        let counter = held("counter", erasure.counter)?;
        self.reader.run("noting what has to be erased", |c| {
            c.prepare_cached(
                "INSERT OR IGNORE INTO sync_erase (vault, machine, counter, memory)
                 VALUES (?, ?, ?, ?)",
            )?
            .execute(params![vault, erasure.machine, counter, erasure.memory])
            .map(drop)
        })
    }

    /// Notes in which entry of this machine a forgetting is told.
    pub fn note_sync_told(&self, vault: VaultNumber, memory: MemoryId, told_in: u64) -> Result<()> {
        let told_in = held("counter", told_in)?;
        self.reader.run("noting what was told", |c| {
            c.prepare_cached(
                "UPDATE sync_erase SET told_in = ?3
                  WHERE vault = ?1 AND memory = ?2 AND told_in IS NULL",
            )?
            .execute(params![vault, memory, told_in])
            .map(drop)
        })?;
        self.note_sync_gone(vault, memory)
    }

    /// Lets go of erasures that the remote has done.
    pub fn drop_sync_erasures(&self, vault: VaultNumber, done: &[SyncErasure]) -> Result<()> {
        self.reader.run("noting what was erased", |c| {
            let mut delete = c.prepare_cached(
                "DELETE FROM sync_erase WHERE vault = ? AND machine = ? AND counter = ?",
            )?;
            for erasure in done {
                delete.execute(params![vault, erasure.machine, erasure.counter.cast_signed()])?;
            }
            Ok(())
        })
    }

    /// Notes that a vault's log says that a memory is gone.
    pub fn note_sync_gone(&self, vault: VaultNumber, memory: MemoryId) -> Result<()> {
        self.reader.run("noting what is gone", |c| {
            c.prepare_cached("INSERT OR IGNORE INTO sync_gone VALUES (?, ?)")?
                .execute(params![vault, memory])?;
            c.prepare_cached("DELETE FROM sync_waiting WHERE vault = ? AND needs = ?")?
                .execute(params![vault, memory])
                .map(drop)
        })
    }

    /// Notes that a forgetting names an entry: its payload may be missing, and need not be erased
    /// by this machine.
    pub fn note_sync_named(
        &self,
        vault: VaultNumber,
        machine: [u8; 16],
        counter: u64,
    ) -> Result<()> {
        let counter = held("counter", counter)?;
        self.note_erased(vault, machine, counter, "is_named")?;
        self.reader.run("noting what another erases", |c| {
            c.prepare_cached(
                "DELETE FROM sync_carried WHERE vault = ? AND machine = ? AND counter = ?",
            )?
            .execute(params![vault, machine, counter])
            .map(drop)
        })
    }

    /// Notes that an entry was read without its payload.
    pub fn note_sync_met(&self, vault: VaultNumber, machine: [u8; 16], counter: u64) -> Result<()> {
        self.note_erased(vault, machine, held("counter", counter)?, "is_met")
    }

    /// Lets entries of a machine after `counter` carry nothing any more: they do not count for
    /// those who read a new key first, so that what they brought is told again by whoever has it.
    pub fn uncarry_sync(&self, vault: VaultNumber, machine: [u8; 16], counter: u64) -> Result<()> {
        let counter = held("counter", counter)?;
        let n_gone = self.reader.run("looking for what does not count", |c| {
            c.prepare_cached(
                "DELETE FROM sync_carried WHERE vault = ? AND machine = ? AND counter > ?",
            )?
            .execute(params![vault, machine, counter])
        })?;
        if n_gone == 0 {
            return Ok(());
        }
        self.reader.run("telling it again", |c| {
            c.prepare_cached("UPDATE sync_vault SET memory = 0 WHERE number = ?")?
                .execute([vault])
                .map(drop)
        })?;
        self.note_all_changes()
    }

    fn note_erased(
        &self,
        vault: VaultNumber,
        machine: [u8; 16],
        counter: i64,
        what: &str,
    ) -> Result<()> {
        self.reader.run("noting an entry without its payload", |c| {
            c.prepare_cached("INSERT OR IGNORE INTO sync_erased VALUES (?, ?, ?, 0, 0)")?
                .execute(params![vault, machine, counter])?;
            c.prepare_cached(&format!(
                "UPDATE sync_erased SET {what} = 1 WHERE vault = ? AND machine = ? AND counter = ?"
            ))?
            .execute(params![vault, machine, counter])
            .map(drop)
        })
    }
}
