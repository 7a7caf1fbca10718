//! Sync through a real PostgreSQL that is started for this, and through a folder: what goes in and
//! out, and from the server's own counts what a statement touches when little and when much is
//! there. A cost that grows with history shows as a second table that differs from the first.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cluster::Cluster;
use crate::{process, repository, stamp};

const DEADLINE: Duration = Duration::from_mins(30);
const LITTLE: u64 = 10_000;
const MUCH: u64 = 1_000_000;
/// What a statement touched per call, of those that the everyday repeats.
const TOUCHED: &str = r"
    select rpad(left(trim(regexp_replace(query, '\s+', ' ', 'g')), 56), 56) as statement, calls,
        round((shared_blks_hit + shared_blks_read)::numeric / calls, 1) as pages,
        round(wal_bytes / calls) as wal_bytes, round(mean_exec_time::numeric, 3) as milliseconds
    from pg_stat_statements where query like '%iai_sync.%' and 100 <= calls order by 1";

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// How much history the second table is about.
    pub(crate) n_much: u64,
    /// The program; built for release without.
    pub(crate) binary: Option<PathBuf>,
}

impl Ask {
    pub(crate) fn parse(flags: &[&str]) -> Option<Self> {
        let mut ask = Self { n_much: MUCH, binary: None };
        for pair in flags.chunks(2) {
            match pair {
                ["--entries", n] => ask.n_much = n.parse().ok().filter(|n| LITTLE < *n)?,
                ["--binary", path] => ask.binary = Some(PathBuf::from(path)),
                _ => return None,
            }
        }
        Some(ask)
    }
}

pub(crate) fn run(ask: &Ask) -> Result<(), String> {
    let program = match &ask.binary {
        Some(path) => path.clone(),
        None => stamp::stamped_copy(&repository::build_release()?)?,
    };
    let cluster = Cluster::start()?;
    for n_entries in [LITTLE, ask.n_much] {
        println!("\n== PostgreSQL with {n_entries} entries");
        let name = format!("with_{n_entries}");
        cluster.sql("postgres", &format!("create database {name}"))?;
        let vault =
            cluster.sql(&name, "create extension pg_stat_statements; select gen_random_uuid()")?;
        let address = cluster.address(&name);
        measure(&program, &address, &vault, n_entries)?;
        // What is written for the first time is paid for by then, not by the everyday.
        cluster.sql(&name, "vacuum analyze; checkpoint")?;
        cluster.sql(&name, "select pg_stat_statements_reset()")?;
        measure(&program, &address, &vault, 0)?;
        println!("{}", cluster.table(&name, TOUCHED)?);
    }
    println!("\n== folder with {LITTLE} entries");
    let folder = cluster.folder.join("shared");
    std::fs::create_dir(&folder).map_err(|error| format!("cannot make a folder: {error}"))?;
    let vault = cluster.sql("postgres", "select gen_random_uuid()")?;
    measure(&program, &folder.to_string_lossy(), &vault, LITTLE)
}

fn measure(program: &Path, address: &str, vault: &str, n_entries: u64) -> Result<(), String> {
    let mut bench = process::command(program);
    bench.args(["bench", "sync", "--address", address, "--vault", vault]);
    bench.args(["--n", &n_entries.to_string()]);
    let finished = process::finish(bench, DEADLINE)?;
    finished.status.success().then_some(()).ok_or("the bench failed; see above".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_how_much_and_with_what() {
        let plain = Ask { n_much: MUCH, binary: None };
        assert_eq!(Ask::parse(&[]), Some(plain));
        let given = Ask { n_much: 20_000, binary: Some("x".into()) };
        assert_eq!(Ask::parse(&["--entries", "20000", "--binary", "x"]), Some(given));
        for odd in [&["--entries"][..], &["--entries", "10"], &["--runs", "3"], &["x"]] {
            assert_eq!(Ask::parse(odd), None, "{odd:?}");
        }
    }
}
