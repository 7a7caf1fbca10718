//! The address of a PostgreSQL server: who, where, and whether the way there is safe.
//!
//! Stricter than `libpq`: to another machine only with TLS and a certificate that was verified,
//! unless the address itself says `sslmode=disable&insecure=yes`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use iai_sync::RemoteError;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

const CONNECT_MAX: Duration = Duration::from_secs(10);
/// A server that is gone without a word is noticed within minutes, not hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
const KEEPALIVE_RETRIES: u32 = 4;
const UNANSWERED_MAX: Duration = Duration::from_secs(30);
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// How a connection is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Protection {
    /// Not at all: it stays on this machine, or the user insists.
    None,
    /// TLS; the certificate is verified by what the system trusts, or by what stands in a file.
    Verified(Option<PathBuf>),
}

/// An address, understood.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) protection: Protection,
}

/// Whether an address is one of PostgreSQL.
pub(super) fn is_postgres(address: &str) -> bool {
    SCHEMES.iter().any(|scheme| address.starts_with(scheme))
}

/// Understands an address, or says what is wrong with it.
pub(super) fn parse(address: &str) -> Result<Address, RemoteError> {
    let parts = Parts::of(address).ok_or_else(|| refused("the address is not whole"))?;
    let parameter = |name: &str| parts.parameters.iter().rev().find(|(key, _)| *key == name);
    let mode = parameter("sslmode").map(|(_, value)| *value);
    let mut config: Config = parts
        .without(&["sslmode", "sslrootcert", "insecure"])
        .parse()
        .map_err(|error| refused(&format!("the address is not understood: {error}")))?;
    let is_near = is_near(&config);
    let is_accepted = matches!(parameter("insecure"), Some((_, "yes")));
    let roots = parameter("sslrootcert").map(|(_, path)| *path).filter(|path| *path != "system");
    let verified = Protection::Verified(roots.map(|path| PathBuf::from(decoded(path))));
    let protection = match mode {
        Some("disable") if is_near || is_accepted => Protection::None,
        Some("disable") => {
            return Err(refused(
                "without TLS everybody on the way sees the password and can pose as the server; \
                 leave out `sslmode=disable`, or add `insecure=yes` if the network is your own",
            ));
        }
        None | Some("prefer" | "allow") if is_near && roots.is_none() => Protection::None,
        None | Some("prefer" | "allow" | "require" | "verify-ca" | "verify-full") => verified,
        Some(other) => return Err(refused(&format!("`sslmode={other}` is unknown"))),
    };
    config
        .ssl_mode(match protection {
            Protection::None => SslMode::Disable,
            Protection::Verified(_) => SslMode::Require,
        })
        .application_name("iai-mcp")
        .connect_timeout(CONNECT_MAX)
        .keepalives_idle(KEEPALIVE_IDLE)
        .keepalives_interval(KEEPALIVE_INTERVAL)
        .keepalives_retries(KEEPALIVE_RETRIES)
        .tcp_user_timeout(UNANSWERED_MAX);
    Ok(Address { config, protection })
}

/// Returns the address of another user on the same server.
pub(super) fn for_role(
    address: &str,
    role: &str,
    password: &str,
    database: &str,
) -> Option<String> {
    let parts = Parts::of(address)?;
    let told = |(key, value): &&(&str, &str)| {
        !matches!(*key, "user" | "password" | "dbname") || value.is_empty()
    };
    let parameters: Vec<String> =
        parts.parameters.iter().filter(told).map(|(key, value)| format!("{key}={value}")).collect();
    let question = if parameters.is_empty() { "" } else { "?" };
    let (hosts, database) = (parts.hosts, encoded(database));
    Some(format!(
        "postgres://{role}:{password}@{hosts}/{database}{question}{}",
        parameters.join("&")
    ))
}

/// Returns an address as it may be shown: without its password.
pub(super) fn without_password(address: &str) -> String {
    let Some(parts) = Parts::of(address) else { return "postgres://…".to_owned() };
    let user = parts.user.split_once(':').map_or(parts.user, |(user, _)| user);
    let at = if user.is_empty() { "" } else { "@" };
    let shown: Vec<String> = parts
        .parameters
        .iter()
        .filter(|(key, _)| *key != "password")
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let question = if shown.is_empty() { "" } else { "?" };
    let (hosts, database) = (parts.hosts, parts.database);
    format!("postgres://{user}{at}{hosts}/{database}{question}{}", shown.join("&"))
}

/// The pieces of an address, as they were written.
struct Parts<'a> {
    /// And the password, behind a colon.
    user: &'a str,
    hosts: &'a str,
    database: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Parts<'a> {
    fn of(address: &'a str) -> Option<Self> {
        let rest = SCHEMES.iter().find_map(|scheme| address.strip_prefix(scheme))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        // A password may hold anything but these two, so the last `@` before the path counts.
        let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = place.rsplit_once('@').unwrap_or(("", place));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let parameters = pairs.map(|pair| pair.split_once('=')).collect::<Option<Vec<_>>>()?;
        Some(Self { user, hosts, database, parameters })
    }

    fn without(&self, names: &[&str]) -> String {
        let Self { user, hosts, database, parameters } = self;
        let at = if user.is_empty() { "" } else { "@" };
        let kept: Vec<String> = parameters
            .iter()
            .filter(|(key, _)| !names.contains(key))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let question = if kept.is_empty() { "" } else { "?" };
        format!("postgres://{user}{at}{hosts}/{database}{question}{}", kept.join("&"))
    }
}

/// Whether every way leads to this very machine.
fn is_near(config: &Config) -> bool {
    let is_loopback = |name: &str| {
        name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let hosts = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => is_loopback(name),
        Host::Unix(_) => true,
    });
    // A numeric address goes before the name.
    let numbers = config.get_hostaddrs();
    if numbers.is_empty() { hosts } else { numbers.iter().all(IpAddr::is_loopback) }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let code = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        if let (b'%', Some(code)) = (first, code) {
            bytes.push(code);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let mut told = String::new();
    for byte in text.bytes() {
        if plain(&byte) {
            told.push(char::from(byte));
        } else {
            told.push_str(&format!("%{byte:02X}"));
        }
    }
    told
}

fn refused(told: &str) -> RemoteError {
    RemoteError::Refused(format!("PostgreSQL: {told}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_another_machine_is_verified() {
        let system = Some(Protection::Verified(None));
        let file = Some(Protection::Verified(Some(PathBuf::from("/etc/ca 1.pem"))));
        let none = Some(Protection::None);
        for (address, want) in [
            ("postgres://host/db", &system),
            ("postgresql://u:p@host:5433/db?sslmode=require", &system),
            ("postgres://host/db?sslmode=prefer", &system),
            ("postgres://host/db?sslmode=verify-full&sslrootcert=/etc/ca%201.pem", &file),
            ("postgres://host/db?sslrootcert=/etc/ca%201.pem", &file),
            ("postgres://host/db?sslrootcert=system", &system),
            ("postgres://host/db?sslmode=disable", &None),
            ("postgres://host/db?insecure=yes", &system),
            ("postgres://host/db?sslmode=disable&insecure=yes", &none),
            ("postgres://host/db?sslmode=sometimes", &None),
            ("postgres://host/db?nonsense=1", &None),
            ("postgres://host/db?nonsense", &None),
            ("postgres://localhost/db", &none),
            ("postgres://127.0.0.1,[::1]/db", &none),
            ("postgres://localhost/db?sslmode=require", &system),
            ("postgres://localhost,host/db", &system),
            ("postgres://localhost/db?hostaddr=10.0.0.1", &system),
            ("postgres://host/db?hostaddr=127.0.0.1", &none),
            ("postgres://%2Fvar%2Frun%2Fpostgresql/db", &none),
            ("postgres:///db?host=/var/run/postgresql", &none),
        ] {
            let found = parse(address).ok().map(|address| address.protection);
            assert_eq!(found, *want, "{address}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (address, want) in [
            (
                "postgres://u:p%40ss@host:1/db?sslmode=require",
                "postgres://u@host:1/db?sslmode=require",
            ),
            ("postgresql://host", "postgres://host/"),
            ("postgres://u@h/d?password=secret&x=1", "postgres://u@h/d?x=1"),
            ("postgres://u:a@b@h/d", "postgres://u@h/d"),
            ("postgres://u:p@h/d?nonsense", "postgres://…"),
        ] {
            assert_eq!(without_password(address), want);
        }
    }

    #[test]
    fn another_user_of_the_same_server_has_the_same_way() {
        let address = "postgresql://owner:secret@a,b:2?user=owner&sslrootcert=/ca.pem";
        let restricted = for_role(address, "member", "word", "my db").unwrap();
        assert_eq!(restricted, "postgres://member:word@a,b:2/my%20db?sslrootcert=/ca.pem");
        let parsed = parse(&restricted).unwrap();
        assert_eq!(parsed.config.get_user(), Some("member"));
        assert_eq!(parsed.config.get_dbname(), Some("my db"));
        assert_eq!(parsed.protection, Protection::Verified(Some(PathBuf::from("/ca.pem"))));
    }
}
