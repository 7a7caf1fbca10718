//! The schema `iai_sync`: made, followed up and recognised.

use deadpool_postgres::Client;
use iai_sync::RemoteError;
use tokio_postgres::{Error, GenericClient};

/// The form of the schema that this version makes and knows.
const FORM: i32 = 1;
/// Each form follows the one before it.
const FORMS: [&str; 1] = [include_str!("postgres_schema.sql")];
/// Who changes the schema holds this; any number that nobody else uses.
const LOCK: &str = "select pg_advisory_xact_lock(7307770481193386337)";

/// What is there of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Nothing.
    None,
    /// Made by some version.
    Some {
        /// Its number.
        version: i32,
        /// The oldest form that a program may know and still work with it.
        oldest_known: i32,
    },
}

/// Looks which form there is.
pub(super) async fn form(client: &impl GenericClient) -> Result<Form, Error> {
    const IS_THERE: &str = "select to_regclass('iai_sync.schema_version') is not null";
    const VERSION: &str = "select version, oldest_known from iai_sync.schema_version";
    let is_there: bool = client.query_typed_one(IS_THERE, &[]).await?.try_get(0)?;
    if !is_there {
        return Ok(Form::None);
    }
    let row = client.query_typed_one(VERSION, &[]).await?;
    Ok(Form::Some { version: row.try_get(0)?, oldest_known: row.try_get(1)? })
}

/// Says whether this version may work with that form.
pub(super) fn check(form: Form) -> Result<(), RemoteError> {
    let refused = |told: String| Err(RemoteError::Refused(format!("PostgreSQL: {told}")));
    match form {
        Form::None => {
            refused("the database is not prepared: `iai-mcp sync setup` does it".to_owned())
        }
        Form::Some { oldest_known, .. } if FORM < oldest_known => refused(format!(
            "a newer version of iai-mcp has prepared this database (form {oldest_known}, this one \
             knows {FORM}): update this machine; what was to be sent waits here"
        )),
        Form::Some { version, .. } if version < FORM => refused(format!(
            "an older version of iai-mcp has prepared this database (form {version}, this one \
             needs {FORM}): its owner follows up with `iai-mcp sync setup`"
        )),
        Form::Some { .. } => Ok(()),
    }
}

/// Makes the schema, or what it lacks. Several may do so at once.
pub(super) async fn ensure(client: &mut Client) -> Result<Form, Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK).await?;
    let version = match form(&*transaction).await? {
        Form::None => 0,
        Form::Some { version, .. } => version,
    };
    let known = usize::try_from(version).unwrap_or(usize::MAX);
    for next in FORMS.iter().skip(known) {
        transaction.batch_execute(next).await?;
    }
    let form = form(&*transaction).await?;
    transaction.commit().await?;
    Ok(form)
}
