//! A PostgreSQL started for a task: a cluster of its own in a folder, and both go with it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::{process, settings};

const DEADLINE: Duration = Duration::from_mins(30);
/// Where Debian keeps servers, the newest last.
const SERVERS: &str = "ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1";
/// What is left out on purpose is named here, as for the tests.
const WITHOUT: &str = "IAI_TESTS_WITHOUT";

/// Says why there is no server to be had on purpose; nothing where there has to be one.
pub(crate) fn left_out() -> Option<String> {
    let names = settings::command_line(WITHOUT).unwrap_or_default();
    names.iter().any(|name| name == "postgresql").then(|| format!("{WITHOUT} names postgresql"))
}

/// A server in a folder of its own; both go with this.
pub(crate) struct Cluster {
    pub(crate) folder: PathBuf,
    programs: PathBuf,
    port: u16,
}

impl Cluster {
    /// Starts one on a free port, which counts what statements touch.
    pub(crate) fn start() -> Result<Self, String> {
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
        cluster.begin()?;
        Ok(cluster)
    }

    /// Starts the server, the first time or after `end`.
    pub(crate) fn begin(&self) -> Result<(), String> {
        let log = format!("--log={}/log", self.folder.display());
        self.server("pg_ctl", &["-w", "-t", "60", &log, "start"])
    }

    /// Ends the server: `fast`, or `immediate` as a power cut would.
    pub(crate) fn end(&self, how: &str) -> Result<(), String> {
        self.server("pg_ctl", &["-w", "-m", how, "stop"])
    }

    /// Returns everything that a database holds, as text.
    pub(crate) fn dump(&self, database: &str) -> Result<String, String> {
        let mut dump = process::command(self.programs.join("pg_dump"));
        dump.args(["--inserts", "-d", &self.address(database)]);
        succeed(dump)
    }

    /// The address of a database for whoever owns the server.
    pub(crate) fn address(&self, database: &str) -> String {
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

    /// Runs statements, and returns what they print.
    pub(crate) fn sql(&self, database: &str, script: &str) -> Result<String, String> {
        let mut psql = self.psql(database, script);
        psql.args(["-q", "-A", "-t"]);
        succeed(psql)
    }

    /// Runs a query, and returns its rows as people read them.
    pub(crate) fn table(&self, database: &str, query: &str) -> Result<String, String> {
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
        if let Err(error) = self.end("immediate") {
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
