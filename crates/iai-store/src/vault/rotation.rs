//! New keys for an old store: a new master key around the same data key, or a new data key around
//! the same memories. Either is staged whole and committed by one rename.

use jiff::Timestamp;
use rusqlite::Connection;
use zeroize::Zeroizing;

use super::envelope::{Envelope, Kdf};
use super::{KeySource, Secret, Vault, master_of};
use crate::check::CheckDepth;
use crate::connection;
use crate::error::{Result, StoreError};
use crate::exchange::Staging;
use crate::files::{self, StorePaths};
use crate::reader::Reader;
use crate::record::{Counts, KeyOrigin};
use crate::store::Store;

/// What a store shall be opened with from now on.
pub enum NewMaster {
    /// A key file with freshly drawn bytes.
    KeyFile,
    /// Other words.
    Passphrase(Zeroizing<String>),
}

impl NewMaster {
    /// Takes a new passphrase, or draws a key file where there is none.
    pub fn from_words(words: Option<String>) -> Self {
        words.map_or(Self::KeyFile, |words| Self::Passphrase(words.into()))
    }
}

/// What a rotation of the data key encrypted anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataKeyRotated {
    /// The rows of the new database.
    pub counts: Counts,
}

impl Vault {
    /// Stages a new master key around the same data key. Returns the id of that key.
    ///
    /// The kind of master key stays: a passphrase beside a key file would never be asked for. Where
    /// the vault was lost or damaged meanwhile nobody knows its kind, and it is written again.
    pub(crate) fn stage_master<'a>(
        &self,
        paths: &'a StorePaths,
        new: &NewMaster,
        now: Timestamp,
    ) -> Result<(Staging<'a>, String)> {
        let origin = match Envelope::read(&paths.vault) {
            Ok(envelope) => envelope.map(|envelope| envelope.origin()),
            Err(StoreError::VaultDamaged { .. }) => None,
            Err(error) => return Err(error),
        };
        let (kdf, master) = match (new, origin) {
            (NewMaster::KeyFile, Some(KeyOrigin::File) | None) => {
                (None, Zeroizing::new(files::random()?))
            }
            (NewMaster::Passphrase(words), Some(KeyOrigin::Passphrase) | None)
                if !words.is_empty() =>
            {
                let kdf = Kdf::draw()?;
                let master = kdf.stretch(words)?;
                (Some(kdf), master)
            }
            (NewMaster::KeyFile | NewMaster::Passphrase(_), _) => {
                return Err(StoreError::refused("new key", KINDS_DIFFER));
            }
        };
        let staging = Staging::begin(paths)?;
        if kdf.is_none() {
            staging.put(&paths.key_file, &*master)?;
        }
        let key_id = self.stage(&staging, paths, (kdf, &master), now)?;
        Ok((staging, key_id))
    }

    /// Stages a vault file after opening it the way the next start will. Returns its key's id.
    fn stage(
        &self,
        staging: &Staging<'_>,
        paths: &StorePaths,
        (kdf, master): (Option<Kdf>, &Secret),
        now: Timestamp,
    ) -> Result<String> {
        let bytes = self.sealed(kdf, master, now)?;
        let envelope = Envelope::parse(&paths.vault, &bytes)?;
        let opened = Self::unwrap_from(&envelope, master)?;
        let is_same = opened.is_some_and(|opened| {
            *opened.data_key == *self.data_key && *opened.spool_secret == *self.spool_secret
        });
        assert!(is_same, "a vault that was just sealed opens with its key");
        staging.put(&paths.vault, &bytes)?;
        Ok(envelope.key_id())
    }

    /// Returns the same store and spool under a data key that nobody ever saw.
    fn with_new_data_key(&self) -> Result<Self> {
        Ok(Self {
            store: self.store,
            data_key: Zeroizing::new(files::random()?),
            spool_secret: self.spool_secret.clone(),
        })
    }

    /// Copies everything `from` holds into a new file under this vault's key.
    fn export_to(&self, from: &Connection, path: &std::path::Path) -> rusqlite::Result<()> {
        let mut attach = Zeroizing::new(String::with_capacity(128));
        attach.push_str("ATTACH DATABASE ? AS fresh KEY ");
        attach.push_str(&self.raw_key());
        from.execute(&attach, [path.to_string_lossy()])?;
        from.query_row("SELECT sqlcipher_export('fresh')", [], |_| Ok(()))?;
        for name in ["user_version", "application_id"] {
            let value: i64 = from.pragma_query_value(None, name, |row| row.get(0))?;
            from.pragma_update(Some("fresh"), name, value)?;
        }
        from.execute_batch("DETACH DATABASE fresh")
    }
}

const KINDS_DIFFER: &str = "a store that is opened with a key file gets a new key file, and one \
                            that is opened with a passphrase another passphrase";

/// Encrypts the whole store anew, under a data key drawn now. The caller owns the store, and nobody
/// has it open. The spool's key stays: what hooks sealed before can still be opened.
pub fn rotate_data_key(
    paths: &StorePaths,
    keys: &KeySource,
    now: Timestamp,
) -> Result<DataKeyRotated> {
    let (staging, counts) = stage_data_key(paths, keys, now)?;
    staging.commit()?;
    Ok(DataKeyRotated { counts })
}

/// Stages the store under a new data key. When this returns, nobody holds the old database, whose
/// name is about to go to another file.
pub(crate) fn stage_data_key<'a>(
    paths: &'a StorePaths,
    keys: &KeySource,
    now: Timestamp,
) -> Result<(Staging<'a>, Counts)> {
    let (store, _) = Store::open(paths, keys, now)?;
    store.checkpoint()?;
    let envelope = Envelope::read(&paths.vault)?
        .ok_or_else(|| StoreError::NoStore { path: paths.folder.clone() })?;
    let master = master_of(paths, keys, &envelope)?;
    let fresh = store.vault().with_new_data_key()?;
    let staging = Staging::begin(paths)?;
    let path = staging.path_for(&paths.database)?;
    drop(files::create_private(&path)?);
    store.read().run("encrypting the store anew", |c| fresh.export_to(c, &path))?;
    let counts = store.read().counts()?;
    let copy = Reader::of(connection::open_immutable(&path, &fresh)?, &path);
    let report = copy.check(CheckDepth::Sample)?;
    if copy.counts()? != counts || !report.is_clean() {
        staging.drop_staged()?;
        return Err(StoreError::Corrupt {
            what: "the copy under a new key (it differs from the store)".to_owned(),
            at: path,
        });
    }
    fresh.stage(&staging, paths, (envelope.kdf(), &master), now)?;
    Ok((staging, counts))
}
