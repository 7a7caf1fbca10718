//! The place between the homes: a server or a folder, and what may happen to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::process;

const DATABASE: &str = "memory";
const AWAY_MAX: Duration = Duration::from_millis(2500);
const SEARCH_DEADLINE: Duration = Duration::from_mins(10);
/// What our remote makes in a folder.
const INSIDE: &str = "iai-sync-1";
const CUT: &str = "select pg_terminate_backend(pid) from pg_stat_activity
    where usename <> 'owner' and datname = 'memory'";
/// What the costliest statements of the everyday touched per call: of all homes together, in the
/// first half and in the second. What grows with history costs more there.
const COSTS: &str = r"
    with half as (
        select query, sum(calls) as calls,
            round(sum(shared_blks_hit + shared_blks_read) / sum(calls), 1) as pages,
            round((sum(total_exec_time) / sum(calls))::numeric, 3) as milliseconds
        from pg_stat_statements where query like '%iai_sync.%' group by query
        having 20 <= sum(calls) order by sum(total_exec_time) desc limit 5)
    select rpad(left(trim(regexp_replace(h.query, '\s+', ' ', 'g')), 48), 48) as statement,
        f.calls as first_calls, f.pages as pages, f.milliseconds as ms,
        h.calls as then_calls, h.pages as pages, h.milliseconds as ms
    from half h left join first_half f using (query)";
/// Keeps what was counted so far, and begins to count anew.
const FIRST_HALF: &str = "
    create table first_half as select query, sum(calls) as calls,
        round(sum(shared_blks_hit + shared_blks_read) / sum(calls), 1) as pages,
        round((sum(total_exec_time) / sum(calls))::numeric, 3) as milliseconds
    from pg_stat_statements where query like '%iai_sync.%' group by query;
    select pg_stat_statements_reset()";

/// Where the log is kept.
pub(super) struct Place {
    kind: Kind,
    /// One thing happens at a time.
    turn: Mutex<()>,
}

enum Kind {
    Server(Cluster),
    Folder(PathBuf),
}

impl Place {
    pub(super) fn start(is_folder: bool) -> Result<Self, String> {
        let kind = if is_folder {
            let folder = std::env::temp_dir().join(format!("iai-s-{}", std::process::id()));
            fs::create_dir(&folder).map_err(|error| format!("cannot make a folder: {error}"))?;
            Kind::Folder(folder)
        } else {
            let cluster = Cluster::start()?;
            cluster.sql("postgres", &format!("create database {DATABASE}"))?;
            cluster.sql(DATABASE, "create extension pg_stat_statements")?;
            Kind::Server(cluster)
        };
        Ok(Self { kind, turn: Mutex::default() })
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the address with which the first home begins.
    pub(super) fn address(&self) -> String {
        match &self.kind {
            Kind::Server(cluster) => cluster.address(DATABASE),
            Kind::Folder(folder) => folder.display().to_string(),
        }
    }

    /// Returns an address for a home that joins, by which it alone can be kept out.
    pub(super) fn address_of(&self, number: usize) -> Result<Option<String>, String> {
        let Kind::Server(cluster) = &self.kind else { return Ok(None) };
        let make = format!(
            "create role home_{number} login in role iai_sync_member;
             insert into iai_sync.member select 'home_{number}', vault from iai_sync.vault"
        );
        cluster.sql(DATABASE, &make)?;
        Ok(Some(cluster.address(DATABASE).replacen("owner", &format!("home_{number}"), 1)))
    }

    /// Keeps one home out, or lets it in again. The first home and a folder are reached by all.
    pub(super) fn seclude(&self, number: usize, is_out: bool) {
        let Kind::Server(cluster) = &self.kind else { return };
        let limit = if is_out { 0 } else { -1 };
        let script = format!(
            "alter role home_{number} connection limit {limit};
             select pg_terminate_backend(pid) from pg_stat_activity
                where usename = 'home_{number}'"
        );
        let _turn = self.turn();
        // There is no such role for the first one, and nobody to be kept out of a server that is away.
        drop(cluster.sql(DATABASE, &script));
    }

    /// Lets something happen, and says what.
    pub(super) fn disturb(&self, dice: &mut Dice) -> Result<&'static str, String> {
        let _turn = self.turn();
        match &self.kind {
            Kind::Folder(folder) => {
                let (inside, away) = (folder.join(INSIDE), folder.join("elsewhere"));
                let failed = |error| format!("cannot move the folder: {error}");
                fs::rename(&inside, &away).map_err(failed)?;
                process::pause(dice.time_below(AWAY_MAX));
                fs::rename(&away, &inside).map_err(failed)?;
                Ok("folder away")
            }
            Kind::Server(cluster) if dice.one_in(2) => {
                let how = if dice.one_in(2) { "fast" } else { "immediate" };
                cluster.end(how)?;
                process::pause(dice.time_below(AWAY_MAX));
                cluster.begin()?;
                Ok("server stopped")
            }
            Kind::Server(cluster) => cluster.sql(DATABASE, CUT).map(|_| "connections cut"),
        }
    }

    /// Puts everything right.
    pub(super) fn mend(&self, n_homes: usize) {
        for number in 0..n_homes {
            self.seclude(number, false);
        }
    }

    /// Returns those words that stand in what is kept, as they are or as a dump writes bytes.
    /// `scratch` is a folder for this.
    pub(super) fn leaked(&self, words: &[String], scratch: &Path) -> Result<Vec<String>, String> {
        let failed = |error| format!("cannot write into {}: {error}", scratch.display());
        let kept = match &self.kind {
            Kind::Server(cluster) => {
                let path = scratch.join("dump");
                fs::write(&path, cluster.dump(DATABASE)?).map_err(failed)?;
                path
            }
            Kind::Folder(folder) => folder.clone(),
        };
        let hex = |word: &String| word.bytes().map(|byte| format!("{byte:02x}")).collect();
        let sought: Vec<String> = words.iter().flat_map(|word| [word.clone(), hex(word)]).collect();
        let list = scratch.join("words");
        fs::write(&list, sought.join("\n")).map_err(failed)?;
        let mut grep = process::command("grep");
        grep.args(["-r", "-a", "-o", "-h", "-F", "-f"]).args([&list, &kept]);
        let finished = process::capture(grep, SEARCH_DEADLINE)?;
        match finished.status.code() {
            Some(1) => Ok(Vec::new()),
            Some(0) => Ok(finished.stdout.lines().map(str::to_owned).collect()),
            _ => Err(format!("searching for words: {}", finished.stderr)),
        }
    }

    /// Half of the time is over: from now on costs are counted anew.
    pub(super) fn count_anew(&self) -> Result<(), String> {
        let Kind::Server(cluster) = &self.kind else { return Ok(()) };
        let _turn = self.turn();
        cluster.sql(DATABASE, FIRST_HALF).map(drop)
    }

    /// Returns what the costliest statements touched per call, of a server.
    pub(super) fn costs(&self) -> Option<String> {
        let Kind::Server(cluster) = &self.kind else { return None };
        cluster.table(DATABASE, COSTS).ok()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Kind::Folder(folder) = &self.kind
            && let Err(error) = fs::remove_dir_all(folder)
        {
            println!("{} is still there: {error}", folder.display());
        }
    }
}
