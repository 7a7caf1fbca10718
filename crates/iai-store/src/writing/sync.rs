//! Writes what the store knows about other machines.

mod carried;

use jiff::Timestamp;
use rusqlite::params;

use super::{Writing, held};
use crate::error::Result;
use crate::record::memory::Millis;
use crate::record::{
    LinkKind, MemoryId, MemoryNumber, NewVault, SyncEntry, SyncMachine, SyncPeer, SyncVault,
    SyncWaiting, VaultNumber,
};

impl Writing<'_> {
    /// Says who this machine is, over what was said before.
    pub fn put_sync_machine(&self, machine: &SyncMachine) -> Result<()> {
        let clock = held("stamp", machine.clock)?;
        self.reader.run("storing who this machine is", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO sync_machine VALUES (1, ?, ?, ?, ?)")?
                .execute(params![machine.id, machine.name, machine.secret.as_slice(), clock])
                .map(drop)
        })
    }

    /// Keeps the latest stamp that was given or seen.
    pub fn set_sync_clock(&self, clock: u64) -> Result<()> {
        let clock = held("stamp", clock)?;
        self.reader.run("keeping the clock", |c| {
            c.prepare_cached("UPDATE sync_machine SET clock = max(clock, ?)")?
                .execute([clock])
                .map(drop)
        })
    }

    /// Adds a vault. Everything that is stored and fits will be looked at for sending.
    pub fn add_sync_vault(&self, new: &NewVault, now: Timestamp) -> Result<VaultNumber> {
        let vault = self.reader.run("storing a vault", |c| {
            c.prepare_cached(
                "INSERT INTO sync_vault (id, name, kind, address, counter, head, memory,
                                         change, joined_at_ms)
                 VALUES (?, ?, ?, ?, 0, zeroblob(32), 0,
                         ifnull((SELECT max(number) FROM sync_change), 0), ?) RETURNING number",
            )?
            .query_row(params![new.id, new.name, new.kind, new.address, Millis(now)], |row| {
                row.get(0)
            })
        })?;
        for (epoch, key) in &new.keys {
            self.put_sync_key(vault, *epoch, key)?;
        }
        for project in &new.projects {
            self.put_sync_project(vault, &project.name, &project.path)?;
        }
        self.note_all_changes()?;
        Ok(vault)
    }

    /// Lets go of a vault and of everything noted about it. What it brought stays.
    pub fn drop_sync_vault(&self, vault: VaultNumber) -> Result<()> {
        self.reader.run("leaving a vault", |c| {
            c.prepare_cached("DELETE FROM sync_vault WHERE number = ?")?.execute([vault])?;
            c.execute("DELETE FROM sync_machine WHERE NOT EXISTS (SELECT 1 FROM sync_vault)", [])?;
            let nobody = "NOT EXISTS (SELECT 1 FROM sync_vault)";
            c.execute(&format!("DELETE FROM sync_change WHERE {nobody}"), [])?;
            c.execute(&format!("DELETE FROM sync_value WHERE {nobody}"), []).map(drop)
        })
    }

    /// Gives a vault another place for its log.
    pub fn set_sync_address(&self, vault: VaultNumber, address: &str) -> Result<()> {
        self.reader.run("changing where a vault is kept", |c| {
            c.prepare_cached("UPDATE sync_vault SET address = ? WHERE number = ?")?
                .execute(params![address, vault])
                .map(drop)
        })
    }

    /// Says what is wrong with a vault, or that its log was reached.
    pub fn set_sync_trouble(
        &self,
        vault: VaultNumber,
        trouble: Option<&str>,
        now: Timestamp,
    ) -> Result<()> {
        self.reader.run("noting how a vault is", |c| {
            c.prepare_cached(
                "UPDATE sync_vault SET trouble = ?2,
                        heard_at_ms = CASE WHEN ?2 IS NULL THEN ?3 ELSE heard_at_ms END
                  WHERE number = ?1",
            )?
            .execute(params![vault, trouble, Millis(now)])
            .map(drop)
        })
    }

    /// Adds a key.
    pub fn put_sync_key(&self, vault: VaultNumber, epoch: u32, key: &[u8; 32]) -> Result<()> {
        self.reader.run("storing a key of a vault", |c| {
            c.prepare_cached("INSERT OR IGNORE INTO sync_key VALUES (?, ?, ?)")?
                .execute(params![vault, epoch, key])
                .map(drop)
        })
    }

    /// Gives up the keys of an epoch that nobody else has heard of.
    pub fn withdraw_sync_keys(&self, vault: VaultNumber, epoch: u32) -> Result<()> {
        self.reader.run("giving up a key", |c| {
            c.prepare_cached("DELETE FROM sync_key WHERE vault = ? AND epoch = ?")?
                .execute(params![vault, epoch])
                .map(drop)
        })
    }

    /// Keeps what a machine said about itself or about keys.
    pub fn put_sync_membership(
        &self,
        vault: VaultNumber,
        (machine, counter): ([u8; 16], u64),
        text: &str,
    ) -> Result<()> {
        let counter = held("counter", counter)?;
        self.reader.run("noting who belongs to a vault", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO sync_membership VALUES (?, ?, ?, ?)")?
                .execute(params![vault, machine, counter, text])
                .map(drop)
        })
    }

    /// Says where a project of a team's vault is on this machine; what was said in it will be
    /// looked at for sending.
    pub fn put_sync_project(&self, vault: VaultNumber, name: &str, path: &str) -> Result<()> {
        self.reader.run("storing a project of a vault", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO sync_project VALUES (?, ?, ?)")?
                .execute(params![vault, name, path])?;
            c.prepare_cached("UPDATE sync_vault SET memory = 0 WHERE number = ?")?
                .execute([vault])
                .map(drop)
        })
    }

    /// Writes down how far another machine's chain was read.
    pub fn put_sync_peer(&self, vault: VaultNumber, peer: &SyncPeer) -> Result<()> {
        let counter = held("counter", peer.counter)?;
        self.reader.run("noting another machine", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO sync_peer VALUES (?, ?, ?, ?, ?, ?, ?)")?
                .execute(params![
                    vault,
                    peer.machine,
                    counter,
                    peer.head,
                    peer.epoch,
                    peer.heard_at.map(Millis),
                    peer.trouble
                ])
                .map(drop)
        })
    }

    /// Puts entries at the end of this machine's chain, to be sent; and how far was looked.
    pub fn push_sync_entries(&self, vault: &SyncVault, entries: &[SyncEntry]) -> Result<()> {
        let counter = held("counter", vault.counter)?;
        let change = held("change", vault.change)?;
        self.reader.run("noting what is to be sent", |c| {
            let mut insert =
                c.prepare_cached("INSERT INTO sync_outbox VALUES (?, ?, ?, ?, ?, ?)")?;
            for entry in entries {
                insert.execute(params![
                    vault.number,
                    entry.counter.cast_signed(),
                    entry.epoch,
                    entry.previous,
                    entry.digest,
                    entry.payload
                ])?;
            }
            c.prepare_cached(
                "UPDATE sync_vault SET counter = ?2, head = ?3, memory = ?4, change = ?5
                  WHERE number = ?1",
            )?
            .execute(params![
                vault.number,
                counter,
                vault.head,
                vault.memory,
                change
            ])?;
            c.prepare_cached(
                "DELETE FROM sync_change WHERE number <= (SELECT min(change) FROM sync_vault)",
            )?
            .execute([])
            .map(drop)
        })
    }

    /// Lets go of entries that the remote keeps, up to this one.
    pub fn drop_sync_sent(&self, vault: VaultNumber, up_to: u64) -> Result<()> {
        let up_to = held("counter", up_to)?;
        self.reader.run("noting what was sent", |c| {
            c.prepare_cached("DELETE FROM sync_outbox WHERE vault = ? AND counter <= ?")?
                .execute(params![vault, up_to])
                .map(drop)
        })
    }

    /// Notes the stamp of a value unless a later one is known; tells whether it is the latest.
    pub fn note_sync_value(&self, name: &str, stamp: (u64, [u8; 16])) -> Result<bool> {
        let at = held("stamp", stamp.0)?;
        self.reader.run("noting a stamp", |c| {
            c.prepare_cached(
                "INSERT INTO sync_value VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE
                    SET stamp = excluded.stamp, machine = excluded.machine
                  WHERE (stamp, machine) < (excluded.stamp, excluded.machine)",
            )?
            .execute(params![name, at, stamp.1])
            .map(|n| 0 < n)
        })
    }

    /// Keeps an operation that cannot be done yet.
    pub fn put_sync_waiting(&self, vault: VaultNumber, waiting: &SyncWaiting) -> Result<()> {
        let counter = held("counter", waiting.counter)?;
        self.reader.run("keeping an operation for later", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO sync_waiting VALUES (?, ?, ?, ?, ?)")?
                .execute(params![vault, waiting.machine, counter, waiting.needs, waiting.text])
                .map(drop)
        })
    }

    /// Takes out the operations that waited for a memory; or, without one, those that waited for a
    /// newer program.
    pub fn take_sync_waiting(
        &self,
        vault: VaultNumber,
        needs: Option<MemoryId>,
    ) -> Result<Vec<SyncWaiting>> {
        self.reader.run("taking up what waited", |c| {
            c.prepare_cached(
                "DELETE FROM sync_waiting WHERE vault = ? AND needs IS ?
                 RETURNING machine, counter, needs, text",
            )?
            .query_map(params![vault, needs], |row| {
                Ok(SyncWaiting {
                    machine: row.get(0)?,
                    counter: row.get::<_, i64>(1)?.cast_unsigned(),
                    needs: row.get(2)?,
                    text: row.get(3)?,
                })
            })?
            .collect()
        })
    }

    /// Runs `work`, whose changes come from others and are not told again.
    pub fn apply_from_others<T, E: From<crate::StoreError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let set = |sql: &'static str| {
            self.reader.run("marking what comes from others", |c| {
                c.prepare_cached(sql)?.execute([]).map(drop)
            })
        };
        set("INSERT OR IGNORE INTO sync_applying VALUES (1)")?;
        // An error takes the whole transaction back, and the mark with it.
        let done = work()?;
        set("DELETE FROM sync_applying")?;
        Ok(done)
    }

    /// Begins this machine's chain in a vault anew, under the name it has by now. What the remote
    /// has of the old chain, up to `n_kept`, is another machine's from now on; what it has not is
    /// looked at for sending again.
    pub fn restart_sync_chain(
        &self,
        vault: VaultNumber,
        old: &SyncPeer,
        n_kept: u64,
    ) -> Result<()> {
        let n_kept = held("counter", n_kept)?;
        self.put_sync_peer(vault, old)?;
        self.reader.run("beginning a new chain", |c| {
            c.prepare_cached("DELETE FROM sync_outbox WHERE vault = ?")?.execute([vault])?;
            c.prepare_cached(
                "UPDATE sync_erase SET told_in = NULL WHERE vault = ? AND told_in > ?",
            )?
            .execute(params![vault, n_kept])?;
            // Under these names the remote has somebody else's entries, or will.
            for table in ["sync_carried", "sync_membership", "sync_erase"] {
                c.prepare_cached(&format!(
                    "DELETE FROM {table} WHERE vault = ? AND machine = ? AND counter > ?"
                ))?
                .execute(params![vault, old.machine, n_kept])?;
            }
            c.prepare_cached(
                "UPDATE sync_vault SET counter = 0, head = zeroblob(32), memory = 0
                  WHERE number = ?",
            )?
            .execute([vault])
            .map(drop)
        })?;
        self.note_all_changes()
    }

    /// Drops a value of the profile.
    pub fn drop_profile(&self, knob: &str) -> Result<()> {
        self.reader.run("taking a knob back", |c| {
            c.prepare_cached("DELETE FROM profile WHERE knob = ?")?.execute([knob]).map(drop)
        })
    }

    /// Joins a link with what is known of it: the earlier beginning, and the weight of the later
    /// touch. Whatever the order, the result is the same.
    pub fn join_link(&self, link: &crate::record::Link) -> Result<()> {
        let known = self.reader.exported_link(link.kind, link.src, link.dst)?;
        let mut joined = *link;
        if let Some(crate::record::ExportedDeed::Link { weight, touched_at, .. }) = known
            && (touched_at, weight.to_bits()) > (link.touched_at, link.weight.to_bits())
        {
            joined.weight = weight;
        }
        self.link(&joined)
    }

    /// Returns the memories that replaced another, by number.
    pub fn replacements_of(&self, memory: MemoryId) -> Result<Vec<MemoryNumber>> {
        self.reader.run("looking for what replaced a memory", |c| {
            c.prepare_cached(
                "SELECT l.dst FROM link l JOIN memory m ON m.number = l.src
                  WHERE m.uuid = ? AND l.kind = ? ORDER BY l.dst",
            )?
            .query_map(params![memory, LinkKind::Contradicts], |row| row.get(0))?
            .collect()
        })
    }

    /// Notes everything there is for a chain that begins, each as of when it came to be: beginning
    /// a chain changes nothing, and must not win over what others changed since.
    fn note_all_changes(&self) -> Result<()> {
        self.reader.run("noting everything as changed", |c| {
            c.execute_batch(
                "INSERT INTO sync_change (what, at_ms)
                 SELECT 'identity', updated_at_ms FROM identity;
                 INSERT INTO sync_change (what, name, at_ms)
                 SELECT 'profile', knob, updated_at_ms FROM profile;
                 INSERT INTO sync_change (what, src, at_ms)
                 SELECT 'pin', m.uuid, p.pinned_at_ms
                   FROM pin p JOIN memory m ON m.number = p.memory;
                 INSERT INTO sync_change (what, name, src, dst, at_ms)
                 SELECT 'link', l.kind, a.uuid, b.uuid, l.touched_at_ms FROM link l
                   JOIN memory a ON a.number = l.src JOIN memory b ON b.number = l.dst
                  WHERE l.kind = 'contradicts' OR l.kind = 'hebbian';",
            )
        })
    }
}
