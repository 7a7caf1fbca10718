//! A real PostgreSQL for the tests: a cluster of its own in a temporary folder, which goes when
//! the test process does, however that ends.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use super::*;
use crate::sync::remote;

/// Names what is left out on purpose: `IAI_TESTS_WITHOUT="postgresql pgbouncer"`.
const WITHOUT: &str = "IAI_TESTS_WITHOUT";
const OWNER: &str = "owner";
const PASSWORD: &str = "secret";
/// Where systems keep what is not for everybody's path, the newest last.
const FOLDERS: [&str; 4] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/sbin",
];

/// A server that runs.
pub(super) struct Cluster {
    folder: PathBuf,
    pub(super) port: u16,
    _watchdog: Watchdog,
}

/// A process that waits for its input to end, which it does when this is dropped or the tests are
/// killed, and then cleans up.
struct Watchdog(Child);

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

impl Cluster {
    /// The one for everybody, who each make a database in it; none if it is left out on purpose.
    pub(super) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        SHARED.get_or_init(Self::new).as_ref()
    }

    /// One to stop and to start.
    pub(super) fn new() -> Option<Self> {
        let initdb = program("initdb", "postgresql")?;
        // Kept until the watchdog deletes it.
        let folder = tempfile::Builder::new().prefix("iai-pg-").tempdir().unwrap().keep();
        give_away(&folder);
        fs::write(folder.join("password"), PASSWORD).unwrap();
        make_certificates(&folder);
        for name in fs::read_dir(&folder).unwrap() {
            give_away(&name.unwrap().path());
        }
        let data = folder.join("data");
        let mut command = as_servant(&initdb);
        command.args(["--no-sync", "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale"]);
        command.args([&format!("--username={OWNER}"), "--wal-segsize=1", "-D"]).arg(&data);
        command.arg(format!("--pwfile={}", folder.join("password").display()));
        succeed(&mut command);
        let watchdog = watch_over(&folder);
        let port = free_port();
        let mut cluster = Self { folder, port, _watchdog: watchdog };
        cluster.configure();
        cluster.pg_ctl(&["-w", "-t", "60", "start"]);
        Some(cluster)
    }

    fn configure(&mut self) {
        let Self { folder, port, .. } = self;
        let folder = folder.display();
        let settings = format!(
            "port = {port}\nlisten_addresses = 'localhost'\nunix_socket_directories = '{folder}'\n\
             fsync = off\nmax_connections = 60\nshared_buffers = 32MB\nssl = on\n\
             ssl_cert_file = '{folder}/server.crt'\nssl_key_file = '{folder}/server.key'\n\
             log_statement = 'all'\nlog_min_duration_statement = -1\n"
        );
        let path = self.folder.join("data/postgresql.conf");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(path, before + &settings).unwrap();
    }

    pub(super) fn pg_ctl(&self, words: &[&str]) {
        let mut command = as_servant(&program("pg_ctl", "postgresql").unwrap());
        command.arg("-D").arg(self.folder.join("data")).arg("-l").arg(self.folder.join("log"));
        succeed(command.args(words));
    }

    /// What the server has written about itself.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The owner's address of a database.
    pub(super) fn owner(&self, database: &str) -> String {
        format!("postgres://{OWNER}:{PASSWORD}@localhost:{}/{database}", self.port)
    }

    /// Makes a database, and returns the owner's address of it.
    pub(super) fn database(&self) -> String {
        let name = format!("d{}", new_vault().to_string().replace('-', ""));
        sql(&self.owner("postgres"), &format!("create database {name}")).unwrap();
        self.owner(&name)
    }

    /// Makes a database for a vault, and returns the address that its machines use.
    pub(super) fn prepared(&self, vault: VaultId) -> String {
        let prepared = remote::set_up(&self.database(), vault).unwrap();
        assert_eq!(prepared.notes, Vec::<String>::new());
        prepared.address
    }
}

/// Runs SQL by the server's own program; what it prints, or what it complains about.
pub(super) fn sql(address: &str, script: &str) -> Result<String, String> {
    let mut psql = command(program("psql", "postgresql").unwrap());
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", script]);
    let output = psql.output().unwrap();
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned());
    }
    Err(String::from_utf8(output.stderr).unwrap())
}

/// A PgBouncer that runs before a server, with one user.
pub(super) struct Bouncer {
    pub(super) address: String,
    _watchdog: Watchdog,
}

impl Bouncer {
    /// Gives out connections by transaction, few of them.
    pub(super) fn before(cluster: &Cluster, address: &str) -> Option<Self> {
        let pgbouncer = program("pgbouncer", "pgbouncer")?;
        let port = free_port();
        let user = address.strip_prefix("postgres://").unwrap().split_once('@').unwrap().0;
        let (name, password) = user.split_once(':').unwrap();
        let folder = tempfile::Builder::new().prefix("iai-pgb-").tempdir_in(&cluster.folder);
        let folder = folder.unwrap().keep();
        let users = folder.join("users");
        fs::write(&users, format!("\"{name}\" \"{password}\"\n")).unwrap();
        let settings = folder.join("pgbouncer.ini");
        fs::write(
            &settings,
            format!(
                "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
                 listen_port = {port}\nunix_socket_dir =\nauth_type = scram-sha-256\n\
                 auth_file = {}\npool_mode = transaction\ndefault_pool_size = 2\n",
                cluster.port,
                users.display()
            ),
        )
        .unwrap();
        for path in [&folder, &users, &settings] {
            give_away(path);
        }
        let mut servant = as_servant(&pgbouncer);
        servant.arg(&settings);
        let mut watchdog = watchdog("\"$@\" & pid=$!; cat; kill $pid; wait $pid", &servant);
        wait_for(&mut watchdog, "process up");
        let address = address.replace(&format!(":{}/", cluster.port), &format!(":{port}/"));
        Some(Self { address, _watchdog: watchdog })
    }
}

/// Reads what a process writes until it says that it is ready, and then only keeps it going.
fn wait_for(watchdog: &mut Watchdog, word: &str) {
    let mut lines = BufReader::new(watchdog.0.stderr.take().unwrap()).lines();
    let mut before = Vec::new();
    loop {
        let line = lines.next().unwrap_or_else(|| panic!("it ended: {before:?}")).unwrap();
        if line.contains(word) {
            break;
        }
        before.push(line);
    }
    thread::spawn(move || lines.for_each(drop));
}

/// A file system of a few megabytes; none where nobody may mount one.
pub(super) struct Tiny {
    pub(super) path: PathBuf,
    _watchdog: Watchdog,
}

impl Tiny {
    pub(super) fn new(cluster: &Cluster, size: &str) -> Option<Self> {
        let path = cluster.folder.join(format!("tiny-{}", new_vault()));
        fs::create_dir(&path).unwrap();
        let mut mount = command("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&path);
        let mounted = mount.stderr(Stdio::null()).status();
        if !mounted.is_ok_and(|status| status.success()) {
            println!("skipped: nobody may mount a tmpfs here");
            return None;
        }
        give_away(&path);
        let mut unmount = command("umount");
        unmount.arg("-l").arg(&path);
        Some(Self { path, _watchdog: watchdog("cat; \"$@\"", &unmount) })
    }
}

impl Tiny {
    pub(super) fn grow(&self, size: &str) {
        let mut mount = command("mount");
        succeed(mount.args(["-o", &format!("remount,size={size}")]).arg(&self.path));
    }
}

fn watch_over(folder: &Path) -> Watchdog {
    let mut stop = as_servant(&program("pg_ctl", "postgresql").unwrap());
    stop.args(["-m", "immediate", "-w", "stop", "-D"]).arg(folder.join("data"));
    let script = format!("cat; \"$@\" >/dev/null; rm -rf '{}'", folder.display());
    watchdog(&script, &stop)
}

fn watchdog(script: &str, with: &Command) -> Watchdog {
    let mut shell = command("sh");
    // Whoever interrupts the tests does not interrupt what cleans up behind them.
    shell.args(["-c", &format!("trap '' INT; {script}"), "sh"]);
    shell.arg(with.get_program()).args(with.get_args());
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    Watchdog(shell.spawn().unwrap())
}

/// An authority, and a certificate of it for `localhost` and nobody else.
fn make_certificates(folder: &Path) {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    for name in ["ca", "stranger"] {
        let (to, secret) = (format!("{name}.pem"), format!("{name}.key"));
        let mut openssl = openssl(folder, &["req", "-x509", "-days", "3650", "-subj", "/CN=test"]);
        succeed(openssl.args(key).args(["-keyout", &secret, "-out", &to]));
    }
    let mut request = openssl(folder, &["req", "-subj", "/CN=server", "-out", "server.csr"]);
    succeed(request.args(key).args(["-keyout", "server.key"]));
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let sign = ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key"];
    let mut sign = openssl(folder, &sign);
    let rest = ["-CAcreateserial", "-days", "3650", "-extfile", "names", "-out", "server.crt"];
    succeed(sign.args(rest));
}

fn openssl(folder: &Path, words: &[&str]) -> Command {
    let mut openssl = command("openssl");
    openssl.current_dir(folder).args(words);
    openssl
}

/// Returns where a program is; none if what it belongs to is left out on purpose.
#[expect(clippy::disallowed_methods, reason = "what is left out is said by whoever runs the tests")]
fn program(name: &str, package: &str) -> Option<PathBuf> {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    if without.split_whitespace().any(|left_out| left_out == package) {
        println!("skipped: {WITHOUT} names {package}");
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(FOLDERS.iter().flat_map(|pattern| matching(pattern)));
    let found = folders.iter().map(|folder| folder.join(name)).rfind(|path| path.is_file());
    Some(found.unwrap_or_else(|| {
        panic!(
            "{name} is not there: on Debian `apt-get install {package}` has it; \
             {WITHOUT}={package} leaves these tests out"
        )
    }))
}

/// Returns the folders that a pattern with one star names, the largest number last.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (around, start) = before.rsplit_once('/').unwrap();
    let names = fs::read_dir(around).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(start)).collect();
    names.sort_by_key(|name| {
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u32>().unwrap_or(0)
    });
    names.into_iter().map(|name| PathBuf::from(format!("{around}/{name}{after}"))).collect()
}

/// PostgreSQL does not run as root: somebody without rights does.
fn as_servant(program: &Path) -> Command {
    let Some((user, group)) = servant() else { return command(program) };
    let mut setpriv = command("setpriv");
    setpriv.args([format!("--reuid={user}"), format!("--regid={group}")]);
    setpriv.args(["--clear-groups", "--"]).arg(program);
    // Wherever the tests run, a servant may not be able to be.
    setpriv.current_dir("/");
    setpriv
}

fn give_away(path: &Path) {
    if let Some((user, group)) = servant() {
        chown(path, Some(user), Some(group)).unwrap();
    }
}

/// Returns who runs servers if the tests run as root.
fn servant() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").map_or(1, |facts| facts.uid()) != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let numbers = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(str::parse);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    };
    Some(numbers("postgres").or_else(|| numbers("nobody")).unwrap_or((65_534, 65_534)))
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn succeed(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {told}");
}

#[expect(clippy::disallowed_methods, reason = "a real server is what is tested against")]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}
