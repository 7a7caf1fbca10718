//! Writes links, each memory's number of them bounded, and lets go of learned ones that faded.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{OptionalExtension, params};

use super::{Writing, weight};
use crate::error::{Result, StoreError};
use crate::reader::sql_limit;
use crate::record::link::{DAYS_TO_FADE_MAX, GRACE_DAYS, faded, sorted};
use crate::record::memory::Millis;
use crate::record::{Link, LinkKind, MemoryId, MemoryNumber, Strengthened, WEIGHT_MIN};

impl Writing<'_> {
    /// Stores a link, or refreshes its weight and time. Kinds without direction are stored with the
    /// smaller id first, weights are held between 0 and 1, and a contradiction ends its source.
    /// Where a kind has a most per memory, the weakest link makes room.
    pub fn link(&self, link: &Link) -> Result<()> {
        let weight = weight(link.weight)?;
        let (src, dst) = if link.kind.is_directed() {
            (link.src, link.dst)
        } else {
            sorted((link.src, link.dst))
        };
        let (src, dst) = self.numbers(src, dst)?;
        let times = (Millis(link.created_at), Millis(link.touched_at));
        self.reader.run("storing a link", |c| {
            c.prepare_cached(UPSERT_LINK)?
                .execute(params![src, dst, link.kind, weight, times.0, times.1])?;
            if link.kind == LinkKind::Contradicts {
                c.prepare_cached(
                    "UPDATE memory SET valid_to_ms = min(ifnull(valid_to_ms, ?2), ?2)
                      WHERE number = ?1",
                )?
                .execute(params![src, times.0])?;
            }
            Ok(())
        })?;
        if link.kind == LinkKind::Contradicts {
            self.changes.borrow_mut().ended.push((src, link.created_at.as_millisecond()));
        }
        if let Some(n_max) = link.kind.per_memory_max() {
            for end in [src, dst] {
                self.keep_strongest(end, link.kind, n_max, link.touched_at)?;
            }
        }
        Ok(())
    }

    /// Says that `new` took the place of `old` at this time.
    pub fn supersede(&self, old: MemoryId, new: MemoryId, at: Timestamp) -> Result<()> {
        self.link(&Link {
            src: old,
            dst: new,
            kind: LinkKind::Contradicts,
            weight: 1.0,
            created_at: at,
            touched_at: at,
        })
    }

    /// Strengthens the Hebbian link of a pair by `eta` of what is missing to 1, once per session.
    /// What it had lost since its last reinforcement stays lost.
    pub fn strengthen(
        &self,
        pair: (MemoryId, MemoryId),
        session: &str,
        eta: f64,
        now: Timestamp,
    ) -> Result<Strengthened> {
        let eta = weight(eta)?;
        let (src, dst) = sorted(pair);
        let (src_number, dst_number) = self.numbers(src, dst)?;
        let (before, first) = self.reader.run("strengthening a link", |c| {
            let before = c
                .prepare_cached(
                    "SELECT weight, touched_at_ms FROM link
                      WHERE src = ? AND dst = ? AND kind = 'hebbian'",
                )?
                .query_row([src_number, dst_number], |row| {
                    Ok(faded(row.get(0)?, row.get::<_, Millis>(1)?.0, now))
                })
                .optional()?;
            let noted = c
                .prepare_cached("INSERT OR IGNORE INTO link_session VALUES (?, ?, ?)")?
                .execute(params![src_number, dst_number, session])?;
            Ok((before.unwrap_or(0.0), noted == 1))
        })?;
        if !first {
            return Ok(Strengthened { weight: before, changed: false });
        }
        let weight = (before + eta * (1.0 - before)).clamp(0.0, 1.0);
        let kind = LinkKind::Hebbian;
        self.link(&Link { src, dst, kind, weight, created_at: now, touched_at: now })?;
        Ok(Strengthened { weight, changed: true })
    }

    /// Deletes learned links that have faded to nothing, at most `limit`; returns how many. No
    /// other link is touched, so that looking often forgets nothing sooner.
    pub fn prune_links(&self, now: Timestamp, limit: usize) -> Result<usize> {
        let mut n_pruned: usize = 0;
        for n_days in 0..=DAYS_TO_FADE_MAX {
            let touched_before = now - SignedDuration::from_hours(24 * (GRACE_DAYS + n_days));
            let weight_max = WEIGHT_MIN / faded(1.0, touched_before, now);
            n_pruned = n_pruned.saturating_add(self.prune(
                touched_before,
                weight_max,
                limit.saturating_sub(n_pruned),
            )?);
        }
        Ok(n_pruned)
    }

    /// Deletes at most `limit` links of a kind, all the same which; returns how many.
    pub fn drop_links(&self, kind: LinkKind, limit: usize) -> Result<usize> {
        self.reader.run("dropping links", |c| {
            c.prepare_cached(
                "DELETE FROM link WHERE (src, dst, kind) IN
                    (SELECT src, dst, kind FROM link WHERE kind = ? LIMIT ?)",
            )?
            .execute(params![kind, sql_limit(limit)])
        })
    }

    /// Deletes the links of a kind that begin at a memory.
    pub fn drop_links_from(&self, src: MemoryNumber, kind: LinkKind) -> Result<()> {
        self.reader.run("dropping links", |c| {
            c.prepare_cached("DELETE FROM link WHERE src = ? AND kind = ?")?
                .execute(params![src, kind])
                .map(drop)
        })
    }

    fn prune(&self, touched_before: Timestamp, weight_max: f64, limit: usize) -> Result<usize> {
        self.reader.run("pruning links", |c| {
            let pairs: Vec<(MemoryNumber, MemoryNumber)> = c
                .prepare_cached(
                    "SELECT src, dst FROM link
                      WHERE kind = 'hebbian' AND touched_at_ms <= ? AND weight < ? LIMIT ?",
                )?
                .query_map(params![Millis(touched_before), weight_max, sql_limit(limit)], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?
                .collect::<rusqlite::Result<_>>()?;
            for (src, dst) in &pairs {
                c.prepare_cached(
                    "DELETE FROM link WHERE src = ? AND dst = ? AND kind = 'hebbian'",
                )?
                .execute([src, dst])?;
                c.prepare_cached("DELETE FROM link_session WHERE src = ? AND dst = ?")?
                    .execute([src, dst])?;
            }
            Ok(pairs.len())
        })
    }

    /// Deletes the weakest links of a memory beyond the most of their kind.
    fn keep_strongest(
        &self,
        number: MemoryNumber,
        kind: LinkKind,
        n_max: usize,
        now: Timestamp,
    ) -> Result<()> {
        self.reader.run("bounding links", |c| {
            let mut links: Vec<(f64, MemoryNumber, MemoryNumber)> = c
                .prepare_cached(
                    "SELECT weight, touched_at_ms, src, dst FROM link WHERE src = ?1 AND kind = ?2
                      UNION ALL
                     SELECT weight, touched_at_ms, src, dst FROM link WHERE dst = ?1 AND kind = ?2",
                )?
                .query_map(params![number, kind], |row| {
                    let touched_at = row.get::<_, Millis>(1)?.0;
                    let weight = row.get(0)?;
                    let weight = if kind.fades() { faded(weight, touched_at, now) } else { weight };
                    Ok((weight, row.get(2)?, row.get(3)?))
                })?
                .collect::<rusqlite::Result<_>>()?;
            if links.len() <= n_max {
                return Ok(());
            }
            links.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            for (_, src, dst) in links.iter().skip(n_max) {
                c.prepare_cached("DELETE FROM link WHERE src = ? AND dst = ? AND kind = ?")?
                    .execute(params![src, dst, kind])?;
            }
            Ok(())
        })
    }

    fn numbers(&self, src: MemoryId, dst: MemoryId) -> Result<(MemoryNumber, MemoryNumber)> {
        if src == dst {
            return Err(StoreError::refused("link", format!("{src} cannot be linked to itself")));
        }
        Ok((self.number(src)?, self.number(dst)?))
    }
}

const UPSERT_LINK: &str = "
    INSERT INTO link (src, dst, kind, weight, created_at_ms, touched_at_ms)
    VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (src, dst, kind) DO UPDATE
       SET weight = excluded.weight,
           created_at_ms = min(created_at_ms, excluded.created_at_ms),
           touched_at_ms = max(touched_at_ms, excluded.touched_at_ms)";
