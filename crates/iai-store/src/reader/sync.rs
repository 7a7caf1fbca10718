//! Reads what the store knows about other machines.

use rusqlite::{OptionalExtension as _, Row, params};
use zeroize::Zeroizing;

use super::{Reader, memories_from, memory_of, sql_limit};
use crate::error::Result;
use crate::reader::export::memory_row;
use crate::record::memory::Millis;
use crate::record::{
    ExportedDeed, ExportedMemory, LinkKind, Memory, MemoryId, MemoryNumber, SyncChange, SyncEntry,
    SyncErasure, SyncMachine, SyncNote, SyncPeer, SyncProject, SyncVault, VaultNumber,
};

/// What is never sent: what this program made of memories, what was taught from files of this
/// machine, and what a check says to itself.
const CARRIED: &str = "ifnull(json_extract(m.provenance, '$.generated'), 0) <> 1
    AND s.host NOT IN ('iai-mcp', 'taught')
    AND NOT (length(s.name) = 23 AND s.name GLOB 'doctor-*'
             AND s.name NOT GLOB 'doctor-*[^0-9a-f]*')";

impl Reader {
    /// Returns who this machine is, once it has a vault.
    pub fn sync_machine(&self) -> Result<Option<SyncMachine>> {
        self.run("reading who this machine is", |c| {
            c.prepare_cached("SELECT id, name, secret, clock FROM sync_machine")?
                .query_row([], |row| {
                    Ok(SyncMachine {
                        id: row.get(0)?,
                        name: row.get(1)?,
                        secret: Zeroizing::new(row.get(2)?),
                        clock: unsigned(row, 3)?,
                    })
                })
                .optional()
        })
    }

    /// Returns every vault, the oldest first.
    pub fn sync_vaults(&self) -> Result<Vec<SyncVault>> {
        self.run("reading the vaults", |c| {
            c.prepare_cached(&format!("{VAULTS} ORDER BY number"))?
                .query_map([], vault_of)?
                .collect()
        })
    }

    /// Returns one vault.
    pub fn sync_vault(&self, vault: VaultNumber) -> Result<Option<SyncVault>> {
        self.run("reading a vault", |c| {
            c.prepare_cached(&format!("{VAULTS} WHERE number = ?"))?
                .query_row([vault], vault_of)
                .optional()
        })
    }

    /// Returns the keys of a vault and their epochs, in a fixed order.
    pub fn sync_keys(&self, vault: VaultNumber) -> Result<Vec<(u32, Zeroizing<[u8; 32]>)>> {
        self.run("reading the keys of a vault", |c| {
            c.prepare_cached("SELECT epoch, key FROM sync_key WHERE vault = ? ORDER BY epoch, key")?
                .query_map([vault], |row| Ok((row.get(0)?, Zeroizing::new(row.get(1)?))))?
                .collect()
        })
    }

    /// Returns the projects of a team's vault.
    pub fn sync_projects(&self, vault: VaultNumber) -> Result<Vec<SyncProject>> {
        self.run("reading the projects of a vault", |c| {
            c.prepare_cached("SELECT name, path FROM sync_project WHERE vault = ? ORDER BY name")?
                .query_map([vault], |row| Ok(SyncProject { name: row.get(0)?, path: row.get(1)? }))?
                .collect()
        })
    }

    /// Returns the other machines of a vault.
    pub fn sync_peers(&self, vault: VaultNumber) -> Result<Vec<SyncPeer>> {
        self.run("reading the machines of a vault", |c| {
            c.prepare_cached(
                "SELECT machine, counter, head, epoch, heard_at_ms, trouble FROM sync_peer
                  WHERE vault = ? ORDER BY machine",
            )?
            .query_map([vault], peer_of)?
            .collect()
        })
    }

    /// Returns what machines said about themselves and about keys: in which entry, and the words.
    pub fn sync_membership(&self, vault: VaultNumber) -> Result<Vec<([u8; 16], u64, String)>> {
        self.run("reading who belongs to a vault", |c| {
            c.prepare_cached(
                "SELECT machine, counter, text FROM sync_membership WHERE vault = ?
                  ORDER BY machine, counter",
            )?
            .query_map([vault], |row| Ok((row.get(0)?, unsigned(row, 1)?, row.get(2)?)))?
            .collect()
        })
    }

    /// Returns the entries that wait to be sent, in order, up to about so many bytes.
    pub fn sync_outbox(&self, vault: VaultNumber, limit_bytes: usize) -> Result<Vec<SyncEntry>> {
        let mut n_bytes: usize = 0;
        self.run("reading what waits to be sent", |c| {
            let mut statement = c.prepare_cached(
                "SELECT counter, epoch, previous, digest, payload FROM sync_outbox
                  WHERE vault = ? ORDER BY counter",
            )?;
            let mut rows = statement.query([vault])?;
            let mut entries = Vec::new();
            while n_bytes < limit_bytes
                && entries.len() < ENTRIES_MAX
                && let Some(row) = rows.next()?
            {
                let entry = entry_of(row)?;
                n_bytes = n_bytes.saturating_add(entry.payload.as_ref().map_or(0, Vec::len));
                entries.push(entry);
            }
            Ok(entries)
        })
    }

    /// Counts the entries that wait to be sent.
    pub fn n_sync_outbox(&self, vault: VaultNumber) -> Result<u64> {
        self.run("counting what waits to be sent", |c| {
            c.prepare_cached("SELECT count(*) FROM sync_outbox WHERE vault = ?")?
                .query_row([vault], |row| unsigned(row, 0))
        })
    }

    /// Counts operations that cannot be done yet: for want of a memory, and of a newer program.
    pub fn n_sync_waiting(&self, vault: VaultNumber) -> Result<(u64, u64)> {
        self.run("counting what waits", |c| {
            c.prepare_cached(
                "SELECT count(needs), count(*) - count(needs) FROM sync_waiting WHERE vault = ?",
            )?
            .query_row([vault], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))
        })
    }

    /// Returns memories after a number that this vault has not carried, in the order they came,
    /// and the number up to which all have been looked at.
    pub fn sync_memories(
        &self,
        vault: &SyncVault,
        limit: usize,
    ) -> Result<(Vec<(MemoryNumber, ExportedMemory)>, MemoryNumber)> {
        let looked = self.run("looking for memories to send", |c| {
            c.prepare_cached(
                "SELECT ifnull(max(number), ?1) FROM
                    (SELECT number FROM memory WHERE number > ?1 ORDER BY number LIMIT ?2)",
            )?
            .query_row(params![vault.memory, sql_limit(limit)], |row| row.get(0))
        })?;
        let sql = format!(
            "{} WHERE m.number > ?1 AND m.number <= ?2 AND {CARRIED}
                  AND NOT EXISTS (SELECT 1 FROM sync_carried c
                                   WHERE c.memory = m.number AND c.vault = ?3)
                ORDER BY m.number",
            numbered_memories()
        );
        let found = self.run("reading memories to send", |c| {
            c.prepare_cached(&sql)?
                .query_map(params![vault.memory, looked, vault.number], |row| {
                    Ok((row.get("number")?, memory_row(row)?))
                })?
                .collect()
        })?;
        Ok((found, looked))
    }

    /// Hands over every memory that could be sent, a few at a time.
    pub fn sync_all_memories(&self, at_once: usize, each: &mut dyn FnMut(Memory)) -> Result<()> {
        let sql = format!(
            "{} WHERE m.number > ? AND {CARRIED} ORDER BY m.number LIMIT ?",
            numbered_memories()
        );
        let mut after = MemoryNumber::new(0);
        loop {
            let found: Vec<(MemoryNumber, Memory)> =
                self.run("reading what could be sent", |c| {
                    c.prepare_cached(&sql)?
                        .query_map(params![after, sql_limit(at_once)], |row| {
                            Ok((row.get("number")?, memory_of(row)?))
                        })?
                        .collect()
                })?;
            let Some((last, _)) = found.last() else { return Ok(()) };
            after = *last;
            found.into_iter().for_each(|(_, memory)| each(memory));
        }
    }

    /// Returns memories that are here though a vault's log says they are gone.
    pub fn sync_gone_here(&self, limit: usize) -> Result<Vec<MemoryId>> {
        self.run("looking for what should be gone", |c| {
            c.prepare_cached(
                "SELECT DISTINCT m.uuid FROM sync_gone g JOIN memory m ON m.uuid = g.memory
                  WHERE NOT EXISTS (SELECT 1 FROM forget_pending p WHERE p.memory = m.number)
                  LIMIT ?",
            )?
            .query_map([sql_limit(limit)], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns what changed after a number, in order.
    pub fn sync_changes(&self, after: u64, limit: usize) -> Result<Vec<SyncNote>> {
        self.run("reading what changed", |c| {
            c.prepare_cached(
                "SELECT number, what, name, src, dst, at_ms FROM sync_change WHERE number > ?
                  ORDER BY number LIMIT ?",
            )?
            .query_map(params![after.cast_signed(), sql_limit(limit)], |row| {
                Ok(SyncNote {
                    number: unsigned(row, 0)?,
                    change: change_of(row)?,
                    since: row.get::<_, Option<Millis>>(5)?.map(|at| at.0),
                })
            })?
            .collect()
        })
    }

    /// Returns what has to be erased at the remote and was not told yet.
    pub fn sync_untold(&self, vault: VaultNumber, limit: usize) -> Result<Vec<SyncErasure>> {
        self.run("reading what was forgotten", |c| {
            c.prepare_cached(
                "SELECT machine, counter, memory FROM sync_erase
                  WHERE vault = ? AND told_in IS NULL ORDER BY memory, machine, counter LIMIT ?",
            )?
            .query_map(params![vault, sql_limit(limit)], erasure_of)?
            .collect()
        })
    }

    /// Returns what has to be erased at the remote, and was told by an entry that has arrived.
    pub fn sync_to_erase(&self, vault: VaultNumber, limit: usize) -> Result<Vec<SyncErasure>> {
        self.run("reading what has to be erased", |c| {
            c.prepare_cached(
                "SELECT machine, counter, memory FROM sync_erase e
                  WHERE vault = ?1 AND told_in IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM sync_outbox o
                                     WHERE o.vault = ?1 AND o.counter = e.told_in)
                  ORDER BY machine, counter LIMIT ?2",
            )?
            .query_map(params![vault, sql_limit(limit)], erasure_of)?
            .collect()
        })
    }

    /// Tells whether a vault's log says that a memory is gone.
    pub fn is_sync_gone(&self, vault: VaultNumber, memory: MemoryId) -> Result<bool> {
        self.run("looking for what is gone", |c| {
            c.prepare_cached("SELECT 1 FROM sync_gone WHERE vault = ? AND memory = ?")?
                .exists(params![vault, memory])
        })
    }

    /// Tells whether somebody else of a team said something.
    pub fn is_of_team(&self, number: MemoryNumber) -> Result<bool> {
        self.run("asking who said something", |c| {
            c.prepare_cached(
                "SELECT 1 FROM sync_carried c JOIN sync_vault v ON v.number = c.vault
                  WHERE c.memory = ? AND v.kind = 'team'
                    AND c.machine IS NOT (SELECT id FROM sync_machine)",
            )?
            .exists([number])
        })
    }

    /// Tells whether a vault has carried a memory.
    pub fn is_sync_carried(&self, vault: VaultNumber, memory: MemoryId) -> Result<bool> {
        self.run("looking for what was carried", |c| {
            c.prepare_cached(
                "SELECT 1 FROM sync_carried c JOIN memory m ON m.number = c.memory
                  WHERE m.uuid = ? AND c.vault = ?",
            )?
            .exists(params![memory, vault])
        })
    }

    /// Returns entries that were read without their payload though no forgetting names them.
    pub fn sync_withheld(&self, vault: VaultNumber) -> Result<Vec<([u8; 16], u64)>> {
        self.run("looking for what is withheld", |c| {
            c.prepare_cached(
                "SELECT machine, counter FROM sync_erased
                  WHERE vault = ? AND is_met = 1 AND is_named = 0",
            )?
            .query_map([vault], |row| Ok((row.get(0)?, unsigned(row, 1)?)))?
            .collect()
        })
    }

    /// Returns a pin as an export tells it.
    pub fn exported_pin(&self, memory: MemoryId) -> Result<Option<ExportedDeed>> {
        self.run("reading a pin", |c| {
            c.prepare_cached(
                "SELECT m.uuid, x.reach, x.pinned_at_ms
                   FROM pin x JOIN memory m ON m.number = x.memory
                  WHERE m.uuid = ?",
            )?
            .query_row([memory], super::export::pin_row)
            .optional()
        })
    }

    /// Returns a link as an export tells it.
    pub fn exported_link(
        &self,
        kind: LinkKind,
        src: MemoryId,
        dst: MemoryId,
    ) -> Result<Option<ExportedDeed>> {
        self.run("reading a link", |c| {
            c.prepare_cached(
                "SELECT a.uuid, b.uuid, x.kind, x.weight, x.created_at_ms, x.touched_at_ms
                   FROM memory a, memory b
                   JOIN link x ON x.src = a.number AND x.dst = b.number AND x.kind = ?3
                  WHERE a.uuid = ?1 AND b.uuid = ?2",
            )?
            .query_row(params![src, dst, kind], super::export::link_row)
            .optional()
        })
    }
}

/// Entries sent at once.
const ENTRIES_MAX: usize = 1000;

const VAULTS: &str = "
    SELECT number, id, name, kind, address, counter, head, memory, change, joined_at_ms,
           trouble, heard_at_ms FROM sync_vault";

/// Memories, each with its number behind its own columns.
fn numbered_memories() -> String {
    memories_from("memory m").replacen("FROM memory m", ", m.number FROM memory m", 1)
}

fn vault_of(row: &Row<'_>) -> rusqlite::Result<SyncVault> {
    Ok(SyncVault {
        number: row.get(0)?,
        id: row.get(1)?,
        name: row.get(2)?,
        kind: row.get(3)?,
        address: row.get(4)?,
        counter: unsigned(row, 5)?,
        head: row.get(6)?,
        memory: row.get(7)?,
        change: unsigned(row, 8)?,
        joined_at: row.get::<_, Millis>(9)?.0,
        trouble: row.get(10)?,
        heard_at: row.get::<_, Option<Millis>>(11)?.map(|at| at.0),
    })
}

fn peer_of(row: &Row<'_>) -> rusqlite::Result<SyncPeer> {
    Ok(SyncPeer {
        machine: row.get(0)?,
        counter: unsigned(row, 1)?,
        head: row.get(2)?,
        epoch: row.get(3)?,
        heard_at: row.get::<_, Option<Millis>>(4)?.map(|at| at.0),
        trouble: row.get(5)?,
    })
}

fn entry_of(row: &Row<'_>) -> rusqlite::Result<SyncEntry> {
    Ok(SyncEntry {
        counter: unsigned(row, 0)?,
        epoch: row.get(1)?,
        previous: row.get(2)?,
        digest: row.get(3)?,
        payload: row.get(4)?,
    })
}

fn erasure_of(row: &Row<'_>) -> rusqlite::Result<SyncErasure> {
    Ok(SyncErasure { machine: row.get(0)?, counter: unsigned(row, 1)?, memory: row.get(2)? })
}

fn change_of(row: &Row<'_>) -> rusqlite::Result<SyncChange> {
    Ok(match row.get_ref(1)?.as_str()? {
        "pin" => SyncChange::Pin(row.get(3)?),
        "profile" => SyncChange::Profile(row.get(2)?),
        "identity" => SyncChange::Identity,
        "forget" => SyncChange::Forget(row.get(3)?),
        _ => SyncChange::Link { kind: row.get(2)?, src: row.get(3)?, dst: row.get(4)? },
    })
}

/// Counts are never negative: the schema says so.
fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}
