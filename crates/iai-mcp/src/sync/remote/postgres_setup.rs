//! Prepares a database for a vault, as somebody who owns it, and leaves behind a user who can do
//! nothing but sync that vault.

use deadpool_postgres::Client;
use iai_sync::{Remote as _, RemoteError, VaultId};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Error, GenericClient};
use uuid::Uuid;

use super::Prepared;
use super::postgres::PostgresRemote;
use super::postgres_address as address;
use super::postgres_errors as errors;
use super::postgres_schema as schema;

const GRANTS: &str = include_str!("postgres_grants.sql");
const PASSWORD_BYTES: usize = 24;

/// Who was asked, and where.
struct Owner {
    role: String,
    database: String,
    may_make_roles: bool,
}

/// Makes the schema or follows it up, and prepares it for a vault. Done again, it gives the vault's
/// user a new password: addresses that were given out before do not work any more.
pub(super) fn set_up(given: &str, vault: VaultId) -> Result<Prepared, RemoteError> {
    let mut owner = PostgresRemote::new(given)?;
    if let Some(prepared) = already(&mut owner, given, vault) {
        return Ok(prepared);
    }
    let server = |error: Error| errors::of_server(&error);
    let form = owner.run_unchecked(async |client| schema::ensure(client).await)?;
    schema::check(form.map_err(server)?)?;
    let asked = owner.run(async |client| register(client, vault).await)?.map_err(server)?;
    let mut notes = Vec::new();
    if asked.may_make_roles {
        match restricted(&mut owner, given, &asked, vault) {
            Ok(address) => return Ok(Prepared { address, notes }),
            Err(error) => notes.push(format!("no user was made for the vault alone: {error}")),
        }
    } else {
        notes.push(format!(
            "`{}` may not make users: it is used as it is, and every machine of the vault can do \
             in `{}` what it can",
            asked.role, asked.database
        ));
    }
    let joined = owner.run(async |client| add_member(&***client, &asked.role, vault).await)?;
    joined.map_err(server)?;
    Ok(Prepared { address: given.to_owned(), notes })
}

/// A user who is only a member of the vault prepares nothing, and need not.
fn already(owner: &mut PostgresRemote, given: &str, vault: VaultId) -> Option<Prepared> {
    const IS_MEMBER: &str = "
        select exists (select from iai_sync.member where vault = $1 and role = current_user)
            and not has_table_privilege('iai_sync.vault', 'insert')";
    let id = Uuid::from_bytes(*vault.as_bytes());
    let told = owner.run_unchecked(async |client| {
        let row = client.query_typed_one(IS_MEMBER, &[(&id, Type::UUID)]).await?;
        row.try_get::<_, bool>(0)
    });
    matches!(told, Ok(Ok(true))).then(|| Prepared {
        address: given.to_owned(),
        notes: vec!["the database was prepared for this vault before".to_owned()],
    })
}

async fn register(client: &mut Client, vault: VaultId) -> Result<Owner, Error> {
    const VAULT: &str = "insert into iai_sync.vault (vault) values ($1) on conflict do nothing";
    const WHO: &str = "
        select rolname::text, current_database()::text, rolsuper or rolcreaterole
        from pg_roles where rolname = current_user";
    let id = Uuid::from_bytes(*vault.as_bytes());
    client.execute_typed(VAULT, &[(&id, Type::UUID)]).await?;
    let row = client.query_typed_one(WHO, &[]).await?;
    Ok(Owner { role: row.try_get(0)?, database: row.try_get(1)?, may_make_roles: row.try_get(2)? })
}

async fn add_member(client: &impl GenericClient, role: &str, vault: VaultId) -> Result<u64, Error> {
    const MEMBER: &str = "
        insert into iai_sync.member (role, vault) values ($1::text::name, $2)
        on conflict do nothing";
    let id = Uuid::from_bytes(*vault.as_bytes());
    client.execute_typed(MEMBER, &[(&role, Type::TEXT), (&id, Type::UUID)]).await
}

/// Makes the vault's own user, and tries whether the server lets it in.
fn restricted(
    owner: &mut PostgresRemote,
    given: &str,
    asked: &Owner,
    vault: VaultId,
) -> Result<String, RemoteError> {
    let mut random = [0; PASSWORD_BYTES];
    getrandom::fill(&mut random)
        .map_err(|error| RemoteError::Away(format!("no random numbers: {error}")))?;
    let password: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let role = format!("iai_sync_{}", Uuid::from_bytes(*vault.as_bytes()).simple());
    // Hashed here: the server, and its log, never see the password itself.
    let verifier = postgres_protocol::password::scram_sha_256(password.as_bytes());
    let script = role_script(&role, &verifier);
    let made = owner.run(async |client| {
        let transaction = client.transaction().await?;
        transaction.batch_execute(&script).await?;
        add_member(&*transaction, &role, vault).await?;
        transaction.commit().await
    })?;
    made.map_err(|error| match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => RemoteError::Refused(error.to_string()),
        _ => errors::of_server(&error),
    })?;
    let address = address::for_role(given, &role, &password, &asked.database)
        .ok_or_else(|| RemoteError::Refused("the address is not whole".to_owned()))?;
    PostgresRemote::new(&address)?.heads(vault)?;
    Ok(address)
}

/// The name and the verifier hold nothing that would end a string.
fn role_script(role: &str, verifier: &str) -> String {
    format!(
        "select pg_advisory_xact_lock(7307770481193386337);
        do $$ begin
            -- Roles belong to all databases, so somebody may make it at the same time elsewhere.
            create role iai_sync_member nologin;
        exception when duplicate_object or unique_violation then
            null;
        end $$;
        do $$ begin
            if not exists (select from pg_roles where rolname = '{role}') then
                create role {role} login in role iai_sync_member;
            end if;
            if not has_database_privilege('{role}', current_database(), 'connect') then
                execute format('grant connect on database %I to iai_sync_member',
                    current_database());
            end if;
        end $$;
        alter role {role} login password '{verifier}';
        alter role {role} set statement_timeout = '30s';
        alter role {role} set lock_timeout = '10s';
        alter role {role} set idle_in_transaction_session_timeout = '60s';
        {GRANTS}"
    )
}
