//! Sync through a real PostgreSQL that is started for this, and through a folder: what goes in and
//! out, and from the server's own counts what a statement touches when little and when much is
//! there. A cost that grows with history shows as a second table that differs from the first.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{process, repository, stamp};

const DEADLINE: Duration = Duration::from_mins(30);
const LITTLE: u64 = 10_000;
const MUCH: u64 = 1_000_000;
/// Where Debian keeps servers, and the users who may run one if we are root.
const SERVERS: &str = "ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1";
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

/// A server in a folder of its own; both go with this.
struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    port: u16,
}

impl Cluster {
    fn start() -> Result<Self, String> {
        let programs = shell(SERVERS)?;
        if programs.is_empty() {
            return Err("no PostgreSQL: on Debian `apt install postgresql` has it".to_owned());
        }
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0));
        let port = listener.and_then(|listener| listener.local_addr());
        let port = port.map_err(|error| format!("no free port: {error}"))?.port();
        let folder = PathBuf::from(shell("mktemp -d")?);
        let cluster = Self { folder, programs: PathBuf::from(programs), port };
        let at = cluster.folder.display();
        shell(&format!("[ \"$(id -u)\" != 0 ] || chown postgres {at}"))?;
        cluster
            .server("initdb", &["--auth=trust", "--username=owner", "--no-locale", "-E", "UTF8"])?;
        let settings = format!(
            "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{at}'\n\
             shared_buffers = 256MB\nmax_wal_size = 2GB\n\
             shared_preload_libraries = 'pg_stat_statements'\n"
        );
        let path = cluster.folder.join("data/postgresql.conf");
        let written = std::fs::read_to_string(&path)
            .and_then(|before| std::fs::write(&path, before + &settings));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let log = format!("--log={at}/log");
        cluster.server("pg_ctl", &["-w", "-t", "60", &log, "start"])?;
        Ok(cluster)
    }

    fn address(&self, database: &str) -> String {
        format!("postgres://owner@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs one of the server's programs over its data; root has somebody else do it.
    fn server(&self, name: &str, words: &[&str]) -> Result<(), String> {
        let is_root = shell("id -u")? == "0";
        let mut command = if is_root {
            let mut setpriv = process::command("setpriv");
            setpriv.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
            setpriv.arg(self.programs.join(name));
            setpriv
        } else {
            process::command(self.programs.join(name))
        };
        command.current_dir("/").arg("-D").arg(self.folder.join("data")).args(words);
        succeed(command).map(|_| ())
    }

    fn sql(&self, database: &str, script: &str) -> Result<String, String> {
        let mut psql = self.psql(database, script);
        psql.args(["-q", "-A", "-t"]);
        succeed(psql)
    }

    fn table(&self, database: &str, query: &str) -> Result<String, String> {
        succeed(self.psql(database, query))
    }

    fn psql(&self, database: &str, script: &str) -> Command {
        let mut psql = process::command(self.programs.join("psql"));
        psql.args(["-X", "-v", "ON_ERROR_STOP=1", "-d", &self.address(database)]);
        for statement in script.split(';') {
            psql.args(["-c", statement]);
        }
        psql
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.server("pg_ctl", &["-w", "-m", "immediate", "stop"]) {
            println!("the server is still there: {error}");
        }
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            println!("{} is still there: {error}", self.folder.display());
        }
    }
}

fn shell(script: &str) -> Result<String, String> {
    let mut command = process::command("sh");
    command.args(["-c", script]);
    succeed(command)
}

fn succeed(command: Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let finished = process::capture(command, DEADLINE)?;
    if finished.status.success() {
        return Ok(finished.stdout.trim().to_owned());
    }
    Err(format!("{name}: {}{}", finished.stdout, finished.stderr))
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
