//! PostgreSQL as a remote: one table of entries, spread by vault, behind row-level security.
//!
//! Every statement is unnamed and carries its types, and nothing is left in a session, so that
//! PgBouncer may give each of them another one. The one exception listens
//! (`postgres_waiting.rs`), and does without where that does not work.

use std::time::Duration;

use deadpool_postgres::{Client, Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use iai_sync::{Appended, Entry, EntryName, Head, MachineId, Remote, RemoteError, VaultId};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, NoTls, Row};
use uuid::Uuid;

use super::postgres_address::{self as address, Address, Protection};
use super::postgres_errors as errors;
use super::postgres_schema as schema;
use super::postgres_tls::Tls;
use super::postgres_waiting::{About, Waiting};

/// Until a connection stands, with TLS and password.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Until a statement is answered.
const STATEMENT_MAX: Duration = Duration::from_secs(30);
/// One works; another is there when it turns out to be dead.
const CONNECTIONS_MAX: usize = 2;
/// What one statement carries, so that it is short and a lost one costs little.
const APPENDED_MAX: usize = 1000;
const APPENDED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Rows that are looked at for one answer, whatever the limit in bytes.
const FETCHED_MAX: i64 = 2000;

/// A PostgreSQL server that keeps the logs of vaults.
pub(crate) struct PostgresRemote {
    address: Address,
    /// None before the first use.
    line: Option<Line>,
    waiting: Waiting,
    about: About,
}

/// A way to the server.
struct Line {
    runtime: Runtime,
    pool: Pool,
}

impl PostgresRemote {
    /// Understands an address; nothing is connected yet.
    pub(super) fn new(address: &str) -> Result<Self, RemoteError> {
        Ok(Self {
            address: address::parse(address)?,
            line: None,
            waiting: Waiting::default(),
            about: About::default(),
        })
    }

    #[cfg(test)]
    pub(super) fn is_told(&self) -> bool {
        matches!(self.waiting, Waiting::Listening(_))
    }

    /// Returns how much room the tables take, with their indexes, those of other vaults too.
    pub(super) fn kept_bytes(&mut self) -> Result<Option<u64>, RemoteError> {
        const SIZE: &str = "
            select pg_total_relation_size('iai_sync.entry')
                + pg_total_relation_size('iai_sync.head')";
        let rows = self.rows(async |client| client.query_typed(SIZE, &[]).await)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let n_bytes: i64 = row.try_get(0).map_err(|error| unexpected(&error))?;
        Ok(u64::try_from(n_bytes).ok())
    }

    /// Runs statements on a connection of the pool, once more if it turns out to have died there.
    pub(super) fn run<T>(
        &mut self,
        work: impl AsyncFn(&mut Client) -> Result<T, Error>,
    ) -> Result<Result<T, Error>, RemoteError> {
        self.checked()?;
        self.run_unchecked(work)
    }

    /// Runs statements without asking for the schema: they may be the ones that make it.
    #[expect(clippy::needless_pass_by_value, reason = "written where it is handed over")]
    pub(super) fn run_unchecked<T>(
        &mut self,
        work: impl AsyncFn(&mut Client) -> Result<T, Error>,
    ) -> Result<Result<T, Error>, RemoteError> {
        let line = self.line()?;
        line.runtime.block_on(async {
            loop {
                let mut client = get(&line.pool).await?;
                let is_used = 0 < Object::metrics(&client).recycle_count;
                match timeout(STATEMENT_MAX, work(&mut client)).await {
                    Ok(Err(error)) if is_used && errors::is_stale(&error) => {
                        drop(Object::take(client));
                    }
                    Ok(Err(error)) if errors::is_stale(&error) => {
                        drop(Object::take(client));
                        return Ok(Err(error));
                    }
                    Ok(done) => return Ok(done),
                    Err(_) => {
                        // Its answer may still come; nobody must take it for another one.
                        drop(Object::take(client));
                        let told = "PostgreSQL does not answer a statement in time".to_owned();
                        return Err(RemoteError::Away(told));
                    }
                }
            }
        })
    }

    /// Makes sure, once, that the schema is one that this version knows.
    fn checked(&mut self) -> Result<(), RemoteError> {
        if self.line.is_some() {
            return Ok(());
        }
        let form = self.run_unchecked(async |client| schema::form(&***client).await);
        let verdict = form
            .and_then(|form| form.map_err(|error| errors::of_server(&error)))
            .and_then(schema::check);
        if verdict.is_err() {
            self.line = None;
        }
        verdict
    }

    fn line(&mut self) -> Result<&Line, RemoteError> {
        if self.line.is_none() {
            self.line = Some(Line::new(&self.address)?);
        }
        self.line.as_ref().ok_or_else(|| RemoteError::Away("no connection".to_owned()))
    }

    fn rows(
        &mut self,
        work: impl AsyncFn(&mut Client) -> Result<Vec<Row>, Error>,
    ) -> Result<Vec<Row>, RemoteError> {
        self.run(work)?.map_err(|error| errors::of_server(&error))
    }
}

impl Line {
    fn new(address: &Address) -> Result<Self, RemoteError> {
        let away = |error: &dyn std::fmt::Display| RemoteError::Away(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| away(&error))?;
        let config = address.config.clone();
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match &address.protection {
            Protection::None => Manager::from_config(config, NoTls, recycling),
            Protection::Verified(roots) => {
                Manager::from_config(config, Tls::new(roots.as_deref())?, recycling)
            }
        };
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS_MAX)
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .build()
            .map_err(|error| away(&error))?;
        Ok(Self { runtime, pool })
    }
}

async fn get(pool: &Pool) -> Result<Client, RemoteError> {
    match timeout(CONNECT_MAX, pool.get()).await {
        Ok(client) => client.map_err(errors::of_pool),
        Err(_) => Err(RemoteError::Away("PostgreSQL does not take the connection".to_owned())),
    }
}

impl Remote for PostgresRemote {
    fn heads(&mut self, vault: VaultId) -> Result<Vec<Head>, RemoteError> {
        const HEADS: &str =
            "select machine, counter from iai_sync.head where vault = $1 and 0 < counter";
        self.about.vaults.insert(vault);
        let id = uuid(vault.as_bytes());
        let rows =
            self.rows(async |client| client.query_typed(HEADS, &[(&id, Type::UUID)]).await)?;
        rows.iter().map(|row| read_head(row).map_err(|error| unexpected(&error))).collect()
    }

    fn fetch(
        &mut self,
        vault: VaultId,
        machine: MachineId,
        counter: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Entry>, RemoteError> {
        // Lengths are added up without reading the payloads that do not fit any more.
        const FETCH: &str = "
            select counter, epoch, previous, digest, payload from (
                select *, sum(coalesce(octet_length(payload), 0)) over (order by counter) as so_far
                from (
                    select * from iai_sync.entry
                    where vault = $1 and machine = $2 and $3 < counter
                    order by counter limit $4
                ) as next
            ) as sized where so_far <= $5 or counter = $3 + 1 order by counter";
        let Ok(after) = i64::try_from(counter) else { return Ok(Vec::new()) };
        let limit = i64::try_from(limit_bytes).unwrap_or(i64::MAX);
        let (id, chain) = (uuid(vault.as_bytes()), uuid(machine.as_bytes()));
        let rows = self.rows(async |client| {
            let types = [Type::UUID, Type::UUID, Type::INT8, Type::INT8, Type::INT8];
            let values: [&(dyn ToSql + Sync); 5] = [&id, &chain, &after, &FETCHED_MAX, &limit];
            let parameters: Vec<_> = values.into_iter().zip(types).collect();
            client.query_typed(FETCH, &parameters).await
        })?;
        let entries: Result<Vec<Entry>, Error> =
            rows.iter().map(|row| read_entry(row, machine)).collect();
        without_gap(entries.map_err(|error| unexpected(&error))?, machine, counter)
    }

    fn append(&mut self, vault: VaultId, entries: &[Entry]) -> Result<Appended, RemoteError> {
        let Some(machine) = super::chain_of(entries)? else { return Ok(Appended::Kept) };
        self.about.vaults.insert(vault);
        self.about.own.insert(machine);
        for part in parts(entries) {
            let batch = Batch::of(vault, machine, part)?;
            let appended = self.run(async |client| batch.send(client).await)?;
            if let Err(error) = appended {
                if let Some(counter) = errors::fork(&error) {
                    return Ok(Appended::Forked(EntryName { machine, counter }));
                }
                let first = part.first().map_or(0, |entry| entry.name.counter);
                let gap = errors::gap(&error, machine, first);
                return Err(gap.unwrap_or_else(|| errors::of_server(&error)));
            }
        }
        Ok(Appended::Kept)
    }

    fn erase(&mut self, vault: VaultId, entries: &[EntryName]) -> Result<(), RemoteError> {
        const ERASE: &str = "
            update iai_sync.entry as e set payload = null
            from unnest($2, $3) as named (machine, counter)
            where e.vault = $1 and e.machine = named.machine and e.counter = named.counter
                and e.payload is not null";
        let id = uuid(vault.as_bytes());
        for part in entries.chunks(APPENDED_MAX) {
            let machines: Vec<Uuid> =
                part.iter().map(|entry| uuid(entry.machine.as_bytes())).collect();
            let counters: Vec<i64> =
                part.iter().map(|entry| signed(entry.counter)).collect::<Result<_, _>>()?;
            self.rows(async |client| {
                let parameters: [(&(dyn ToSql + Sync), Type); 3] = [
                    (&id, Type::UUID),
                    (&machines, Type::UUID_ARRAY),
                    (&counters, Type::INT8_ARRAY),
                ];
                client.query_typed(ERASE, &parameters).await
            })?;
        }
        Ok(())
    }

    fn put_invitation(
        &mut self,
        name: &str,
        sealed: &[u8],
        expires_ms: i64,
    ) -> Result<(), RemoteError> {
        const PUT: &str = "select iai_sync.put_invitation($1, $2, $3)";
        let put = self.rows(async |client| {
            let parameters: [(&(dyn ToSql + Sync), Type); 3] =
                [(&name, Type::TEXT), (&sealed, Type::BYTEA), (&expires_ms, Type::INT8)];
            client.query_typed(PUT, &parameters).await
        });
        put.map(|_| ())
    }

    fn take_invitation(&mut self, name: &str, now_ms: i64) -> Result<Option<Vec<u8>>, RemoteError> {
        const TAKE: &str = "select iai_sync.take_invitation($1, $2)";
        let rows = self.rows(async |client| {
            let parameters: [(&(dyn ToSql + Sync), Type); 2] =
                [(&name, Type::TEXT), (&now_ms, Type::INT8)];
            client.query_typed(TAKE, &parameters).await
        })?;
        let Some(row) = rows.first() else { return Ok(None) };
        row.try_get(0).map_err(|error| unexpected(&error))
    }

    fn wait(&mut self, patience: Duration) -> Result<(), RemoteError> {
        self.checked()?;
        let Some(line) = &self.line else { return Ok(()) };
        let waited = self.waiting.wait(&self.address, &line.pool, &self.about, patience);
        line.runtime.block_on(waited)
    }
}

/// A part of a chain as arrays, which one statement takes.
struct Batch<'a> {
    vault: Uuid,
    machine: Uuid,
    first: i64,
    epochs: Vec<i64>,
    previouses: Vec<&'a [u8]>,
    digests: Vec<&'a [u8]>,
    payloads: Vec<Option<&'a [u8]>>,
    last_hash: Vec<u8>,
}

impl<'a> Batch<'a> {
    fn of(vault: VaultId, machine: MachineId, entries: &'a [Entry]) -> Result<Self, RemoteError> {
        let last_hash = entries.last().map(|last| last.hash(vault).to_vec());
        Ok(Self {
            vault: uuid(vault.as_bytes()),
            machine: uuid(machine.as_bytes()),
            first: signed(entries.first().map_or(0, |first| first.name.counter))?,
            epochs: entries.iter().map(|entry| i64::from(entry.epoch)).collect(),
            previouses: entries.iter().map(|entry| &entry.previous[..]).collect(),
            digests: entries.iter().map(|entry| &entry.digest[..]).collect(),
            payloads: entries.iter().map(|entry| entry.payload.as_deref()).collect(),
            last_hash: last_hash.unwrap_or_default(),
        })
    }

    async fn send(&self, client: &Client) -> Result<Vec<Row>, Error> {
        const APPEND: &str = "select iai_sync.append($1, $2, $3, $4, $5, $6, $7, $8)";
        let parameters: [(&(dyn ToSql + Sync), Type); 8] = [
            (&self.vault, Type::UUID),
            (&self.machine, Type::UUID),
            (&self.first, Type::INT8),
            (&self.epochs, Type::INT8_ARRAY),
            (&self.previouses, Type::BYTEA_ARRAY),
            (&self.digests, Type::BYTEA_ARRAY),
            (&self.payloads, Type::BYTEA_ARRAY),
            (&self.last_hash, Type::BYTEA),
        ];
        client.query_typed(APPEND, &parameters).await
    }
}

/// Cuts entries into parts that one statement carries.
fn parts(entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    let mut rest = entries;
    std::iter::from_fn(move || {
        let mut n_bytes = 0usize;
        let fits = |entry: &&Entry| {
            n_bytes = n_bytes.saturating_add(entry.payload.as_ref().map_or(0, Vec::len));
            n_bytes <= APPENDED_BYTES_MAX
        };
        let n = rest.iter().take(APPENDED_MAX).take_while(fits).count().max(1);
        let (part, after) = rest.split_at_checked(n)?;
        rest = after;
        Some(part)
    })
}

fn read_head(row: &Row) -> Result<Head, Error> {
    let (machine, counter): (Uuid, i64) = (row.try_get(0)?, row.try_get(1)?);
    let machine = MachineId::from_bytes(machine.into_bytes());
    Ok(Head { machine, counter: u64::try_from(counter).unwrap_or(0) })
}

fn read_entry(row: &Row, machine: MachineId) -> Result<Entry, Error> {
    let (counter, epoch): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    let fixed = |index: usize| -> Result<[u8; 32], Error> {
        // The table takes no other length; one that came all the same is no hash of anything.
        Ok(<[u8; 32]>::try_from(row.try_get::<_, &[u8]>(index)?).unwrap_or_default())
    };
    Ok(Entry {
        name: EntryName { machine, counter: u64::try_from(counter).unwrap_or(0) },
        epoch: u32::try_from(epoch).unwrap_or(u32::MAX),
        previous: fixed(2)?,
        digest: fixed(3)?,
        payload: row.try_get(4)?,
    })
}

/// Leaves out what stands behind a gap, which a server has only if it has lost something.
fn without_gap(
    mut entries: Vec<Entry>,
    machine: MachineId,
    counter: u64,
) -> Result<Vec<Entry>, RemoteError> {
    let follows = |(entry, expected): &(&Entry, u64)| entry.name.counter == *expected;
    let next = counter.saturating_add(1);
    let n_whole = entries.iter().zip(next..).take_while(follows).count();
    if n_whole == 0 && !entries.is_empty() {
        let told = format!("PostgreSQL has lost entry {next} of {machine}, but has later ones");
        return Err(RemoteError::Damaged(told));
    }
    entries.truncate(n_whole);
    Ok(entries)
}

fn uuid(bytes: &[u8; 16]) -> Uuid {
    Uuid::from_bytes(*bytes)
}

fn signed(counter: u64) -> Result<i64, RemoteError> {
    let told = || RemoteError::Refused(format!("{counter} is no number of an entry"));
    i64::try_from(counter).map_err(|_| told())
}

fn unexpected(error: &Error) -> RemoteError {
    RemoteError::Damaged(format!("PostgreSQL answers something else than was asked: {error}"))
}
