//! What a failure of PostgreSQL means for somebody who syncs: try later, or change something.

use std::error::Error as StdError;

use deadpool_postgres::PoolError;
use iai_sync::{EntryName, MachineId, RemoteError};
use tokio_postgres::Error;

/// Raised by `iai_sync.append` when the chain that is kept goes another way.
const FORKED: &str = "IS001";
/// The chain that is kept ends too early.
const GAP: &str = "IS002";
pub(super) const UNKNOWN_VAULT: &str = "IS003";
const TOO_MANY_INVITATIONS: &str = "IS004";

/// Returns at which entry `append` found another chain.
pub(super) fn fork(error: &Error) -> Option<u64> {
    detail(error, FORKED)
}

/// Returns why `append` did not keep entries, where it is about the chain.
pub(super) fn gap(error: &Error, machine: MachineId, counter: u64) -> Option<RemoteError> {
    detail(error, GAP).map(|head| super::gap(EntryName { machine, counter }, head))
}

fn detail(error: &Error, code: &str) -> Option<u64> {
    let told = error.as_db_error().filter(|told| told.code().code() == code)?;
    told.detail()?.parse().ok()
}

/// Whether a connection that lay in the pool turned out to be dead: another may live.
pub(super) fn is_stale(error: &Error) -> bool {
    let is_io = |source: &(dyn StdError + 'static)| source.is::<std::io::Error>();
    let code = error.code().map(tokio_postgres::error::SqlState::code);
    error.is_closed()
        || code.is_some_and(|code| code.starts_with("57P"))
        || (code.is_none() && error.source().is_some_and(is_io))
}

/// Says what a failure of the pool means.
pub(super) fn of_pool(error: PoolError) -> RemoteError {
    match error {
        PoolError::Backend(error) => of_server(&error),
        PoolError::Timeout(_) => RemoteError::Away("PostgreSQL does not answer".to_owned()),
        other => RemoteError::Away(format!("PostgreSQL: {other}")),
    }
}

/// Says what a failure of the server, or of the way there, means.
pub(super) fn of_server(error: &Error) -> RemoteError {
    if let Some(told) = error.as_db_error() {
        return judge(told.code().code(), told.message());
    }
    let whole = whole(error);
    let is_tls = sources(error).any(|source| source.is::<rustls::Error>())
        || whole.contains("TLS")
        || sources(error).any(|source| source.to_string().contains("invalid peer certificate"));
    if is_tls {
        let told = "the server could not prove who it is; if its certificate was made by yourself, \
                    name the one that signed it with `sslrootcert=/path/ca.pem` in the address";
        return RemoteError::Refused(format!("PostgreSQL: {whole}: {told}"));
    }
    if whole.starts_with("authentication error") || whole.starts_with("invalid configuration") {
        let told = "the address needs a user and a password that the server takes";
        return RemoteError::Refused(format!("PostgreSQL: {whole}: {told}"));
    }
    if sources(error).any(is_kept_off_the_network) {
        let told = "a service keeps this daemon off the network: say \"sync_network\": true in \
                    config.json and run `iai-mcp daemon install`";
        return RemoteError::Refused(format!("PostgreSQL: {whole}: {told}"));
    }
    RemoteError::Away(format!("PostgreSQL: {whole}"))
}

/// What the kernel says where `RestrictAddressFamilies` or a filter of calls stands in the way.
fn is_kept_off_the_network(source: &(dyn StdError + 'static)) -> bool {
    let error = source.downcast_ref::<std::io::Error>();
    error.and_then(std::io::Error::raw_os_error).is_some_and(|code| {
        [rustix::io::Errno::AFNOSUPPORT, rustix::io::Errno::PERM]
            .iter()
            .any(|known| known.raw_os_error() == code)
    })
}

/// Judges a code of the server, as appendix A of its manual lists them.
fn judge(code: &str, message: &str) -> RemoteError {
    let away = |hint: &str| RemoteError::Away(format!("PostgreSQL: {message}{hint}"));
    let refused = |hint: &str| RemoteError::Refused(format!("PostgreSQL: {message}{hint}"));
    match code {
        "42501" => refused(
            ": this user may not do that; an owner of the schema `iai_sync` can prepare a place \
             with `iai-mcp sync setup`",
        ),
        "3D000" => refused(": make the database first, or name another in the address"),
        "42P01" | "42883" | "3F000" | "42703" => refused(
            ": the database is not prepared, or not by this version; `iai-mcp sync setup` does it",
        ),
        "53100" => away(": its disk is full; what was to be sent waits here"),
        "53300" => {
            away(": it has no connection left; PgBouncer in front of it makes one serve many")
        }
        "57014" => away(": it took too long"),
        "25006" => away(": it only reads at the moment (a standby?)"),
        UNKNOWN_VAULT => refused(
            ": the vault is not kept here, or not for this user; `iai-mcp sync setup` prepares it",
        ),
        TOO_MANY_INVITATIONS => refused(": they expire by themselves"),
        _ => match code.get(..2).unwrap_or_default() {
            "28" => {
                refused(": check user and password in the address, and the server's pg_hba.conf")
            }
            "23" | "22" | "42" => refused(""),
            "XX" if code != "XX000" => {
                RemoteError::Damaged(format!("PostgreSQL: {message}: its files are damaged"))
            }
            _ => away(""),
        },
    }
}

fn sources<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    let below = |error: &&'a (dyn StdError + 'static)| inner(*error);
    std::iter::successors(Some(error), below)
}

/// An I/O error hides what it carries from `source`.
fn inner<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(carried) => Some(carried),
        None => error.source(),
    }
}

/// Returns the error and what caused it, once each.
fn whole(error: &Error) -> String {
    let mut told = String::new();
    for source in sources(error).map(ToString::to_string) {
        if told.is_empty() {
            told = source;
        } else if !told.contains(&source) {
            told = format!("{told}: {source}");
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_says_whether_to_wait_or_to_act() {
        for (code, want) in [
            ("28P01", "refused"),
            ("28000", "refused"),
            ("42501", "refused"),
            ("3D000", "refused"),
            ("42P01", "refused"),
            ("IS003", "refused"),
            ("IS004", "refused"),
            ("23514", "refused"),
            ("08006", "away"),
            ("25006", "away"),
            ("40001", "away"),
            ("53100", "away"),
            ("53300", "away"),
            ("55P03", "away"),
            ("57014", "away"),
            ("57P01", "away"),
            ("57P03", "away"),
            ("58030", "away"),
            ("XX000", "away"),
            ("XX001", "damaged"),
        ] {
            let found = match judge(code, "words") {
                RemoteError::Away(_) => "away",
                RemoteError::Refused(_) => "refused",
                RemoteError::Damaged(_) => "damaged",
            };
            assert_eq!(found, want, "{code}");
        }
    }
}
