//! Keys: finds the master key, opens or makes the vault, unlocks database and spool. The only room
//! that sees key bytes; the file it keeps them in is described in `vault/envelope.rs`.

pub(crate) mod envelope;
pub(crate) mod key_file;
mod rotation;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hpke::kem::{Kem, X25519HkdfSha256};
use hpke::{Deserializable, Serializable};
use jiff::Timestamp;
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;
use zeroize::Zeroizing;

pub use key_file::{KeyFacts, KeyFileKind};
#[cfg(test)]
pub(crate) use rotation::stage_data_key;
pub use rotation::{DataKeyRotated, NewMaster, rotate_data_key};

use crate::error::{Result, StoreError};
use crate::exchange;
use crate::files::{self, Placed, StorePaths};
use crate::record::KeyOrigin;
use envelope::{Envelope, Kdf, Opening};

/// Thirty-two secret bytes, wiped when dropped.
pub(crate) type Secret = Zeroizing<[u8; 32]>;

/// What a person gave to open the store. A key file goes before a passphrase; with neither, the
/// first use makes a key file.
#[derive(Clone, Default)]
pub struct KeySource {
    /// The passphrase, if one was given; an empty one counts as none.
    pub passphrase: Option<Zeroizing<String>>,
}

/// What is known about the key without touching its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyStatus {
    /// The key file, if there is one.
    pub key_file: Option<KeyFacts>,
    /// Whether a passphrase was given.
    pub passphrase_set: bool,
    /// Whether a vault exists.
    pub vault_present: bool,
    /// What the vault was made with, when it can be read.
    pub vault_origin: Option<KeyOrigin>,
    /// A short name of the master key, one that tells nothing about it.
    pub key_id: Option<String>,
    /// How memories are encrypted.
    pub algorithm: &'static str,
}

const ALGORITHM: &str = "SQLCipher 4 (AES-256-CBC with HMAC-SHA512 per page); \
                         data key wrapped with ChaCha20-Poly1305";

/// Looks at key file, passphrase and vault, and opens none of them.
pub fn key_status(paths: &StorePaths, keys: &KeySource) -> KeyStatus {
    let paths = &exchange::current(paths);
    let envelope = Envelope::read(&paths.vault);
    let key_id = envelope.as_ref().ok().and_then(|found| Some(found.as_ref()?.key_id()));
    KeyStatus {
        key_file: key_file::look(&paths.key_file).ok().flatten(),
        passphrase_set: keys.given().is_some(),
        vault_present: !matches!(envelope, Ok(None)),
        key_id,
        vault_origin: envelope.ok().flatten().map(|envelope| envelope.origin()),
        algorithm: ALGORITHM,
    }
}

/// Makes a key file where there is none, and where no vault exists that it could not open.
pub fn create_key_file(paths: &StorePaths) -> Result<()> {
    if key_file::look(&paths.key_file)?.is_some() {
        return Err(StoreError::KeyExists { path: paths.key_file.clone() });
    }
    if files::length_of(&paths.vault)?.is_some() {
        return Err(StoreError::VaultExists { path: paths.vault.clone() });
    }
    files::ensure_folder(&paths.folder)?;
    key_file::create(&paths.key_file).map(drop)
}

/// Both halves of the spool's key, for whoever has to look into waiting files.
pub struct SpoolKeys {
    /// Opens what hooks sealed.
    pub secret: Zeroizing<[u8; 32]>,
    /// What must stand in the public file.
    pub public_line: String,
}

/// Opens the vault for the spool's key alone.
pub fn spool_keys(paths: &StorePaths, keys: &KeySource) -> Result<SpoolKeys> {
    let vault = Vault::open(paths, keys)?
        .ok_or_else(|| StoreError::NoStore { path: paths.folder.clone() })?;
    Ok(SpoolKeys { secret: vault.spool_secret(), public_line: vault.spool_public_line()? })
}

/// The opened vault.
pub(crate) struct Vault {
    store: Uuid,
    data_key: Secret,
    spool_secret: Secret,
}

/// Whether making a vault also made its key file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyMade {
    Now,
    Before,
}

impl Vault {
    /// Opens the vault, or returns nothing when there is none.
    pub(crate) fn open(paths: &StorePaths, keys: &KeySource) -> Result<Option<Self>> {
        Ok(Self::open_with_envelope(paths, keys)?.map(|(vault, _)| vault))
    }

    /// Opens the vault and returns the file it was opened from beside it.
    pub(crate) fn open_with_envelope(
        paths: &StorePaths,
        keys: &KeySource,
    ) -> Result<Option<(Self, Envelope)>> {
        let mut n_tries_left = OPENINGS_MAX;
        loop {
            n_tries_left -= 1;
            let found = Self::try_open(paths, keys);
            // Vault and key are two files: a rotation may have come between reading the one and
            // the other. Stretching a passphrase takes long, and no second file is read for it.
            let is_mixed = matches!(
                found,
                Err(StoreError::WrongKey { origin: KeyOrigin::File, .. }
                    | StoreError::KeyMissing { .. })
            );
            if !is_mixed || n_tries_left == 0 {
                return found;
            }
        }
    }

    fn try_open(paths: &StorePaths, keys: &KeySource) -> Result<Option<(Self, Envelope)>> {
        let current = exchange::current(paths);
        let Some(envelope) = Envelope::read(&current.vault)? else {
            return Ok(None);
        };
        let master = master_of(&current, keys, &envelope)?;
        Self::unwrap_from(&envelope, &master)?
            .ok_or_else(|| wrong_key(&current, &envelope, envelope.origin()))
            .map(|vault| Some((vault, envelope)))
    }

    /// Opens an envelope; nothing when the master key is another.
    pub(crate) fn unwrap_from(envelope: &Envelope, master: &Secret) -> Result<Option<Self>> {
        Ok(match envelope.open(master)? {
            Opening::WrongKey => None,
            Opening::Opened { data_key, spool_secret } => {
                Some(Self { store: envelope.store(), data_key, spool_secret })
            }
        })
    }

    /// Makes the vault of a new store, and its key file when nothing else was given.
    pub(crate) fn create(
        paths: &StorePaths,
        keys: &KeySource,
        now: Timestamp,
    ) -> Result<(Self, KeyMade)> {
        let (kdf, master, made) = match offered(paths, keys)? {
            Some(Offered::File) => (None, key_file::load(&paths.key_file)?, KeyMade::Before),
            Some(Offered::Passphrase(words)) => {
                let kdf = Kdf::draw()?;
                let master = kdf.stretch(words)?;
                (Some(kdf), master, KeyMade::Before)
            }
            None => (None, key_file::create(&paths.key_file)?, KeyMade::Now),
        };
        let vault = Self {
            store: uuid::Builder::from_random_bytes(files::random()?).into_uuid(),
            data_key: Zeroizing::new(files::random()?),
            spool_secret: draw_spool_secret()?,
        };
        let bytes = vault.sealed(kdf, &master, now)?;
        match files::place_new(&paths.vault, &bytes)? {
            Placed::Now => Ok((vault, made)),
            // Somebody else made this store in the same moment; their keys are the ones that count.
            Placed::Before => Err(StoreError::Busy),
        }
    }

    /// Returns the bytes of a vault file that this master key opens.
    fn sealed(&self, kdf: Option<Kdf>, master: &Secret, now: Timestamp) -> Result<Vec<u8>> {
        let keys = Opening::Opened {
            data_key: self.data_key.clone(),
            spool_secret: self.spool_secret.clone(),
        };
        envelope::seal(self.store, kdf, master, &keys, now)
    }

    /// Returns a key that is bound to one file by fresh bytes in `salt`.
    pub(crate) fn key_for(&self, salt: &[u8], label: &str) -> Secret {
        envelope::derive_salted(&self.data_key, salt, label)
    }

    /// Returns the name drawn for this store.
    pub(crate) fn store(&self) -> Uuid {
        self.store
    }

    pub(crate) fn spool_secret(&self) -> Secret {
        self.spool_secret.clone()
    }

    /// Returns the one line of `spool.pub`: the key, and its checksum in blanks, a tab for each bit
    /// that is 1 and a space for each that is 0, which programs before 0.10 pass over.
    pub(crate) fn spool_public_line(&self) -> Result<String> {
        let secret = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(&*self.spool_secret)
            .map_err(|error| StoreError::refused("spool key", error.to_string()))?;
        let public = X25519HkdfSha256::sk_to_pk(&secret).to_bytes();
        let hash = Sha256::digest(public);
        let bits = hash.iter().take(4).flat_map(|byte| (0..8).map(move |n| byte >> n & 1));
        let checksum: String = bits.map(|bit| if bit == 1 { '\t' } else { ' ' }).collect();
        Ok(format!("iai-spool-x25519:v1:{}{checksum}\n", STANDARD.encode(public)))
    }

    /// Hands SQLCipher `hkdf(data key, "database")` as a raw key, so that it derives none itself.
    pub(crate) fn unlock(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut pragma = Zeroizing::new(String::with_capacity(96));
        pragma.push_str("PRAGMA key = ");
        pragma.push_str(&self.raw_key());
        connection.execute_batch(&pragma)
    }

    /// Returns `"x'…'"`, the way SQLCipher takes a raw key.
    fn raw_key(&self) -> Zeroizing<String> {
        let key = envelope::derive(&self.data_key, self.store, "iai-mcp database key 1");
        let mut written = Zeroizing::new(String::with_capacity(72));
        written.push_str("\"x'");
        for byte in key.iter() {
            for nibble in [byte >> 4, byte & 15] {
                written.push(char::from_digit(nibble.into(), 16).unwrap_or('0'));
            }
        }
        written.push_str("'\"");
        written
    }
}

impl KeySource {
    pub(crate) fn given(&self) -> Option<&str> {
        self.passphrase.as_ref().map(|words| words.as_str()).filter(|words| !words.is_empty())
    }
}

/// How often vault and key are read before a key that does not fit is believed to be wrong.
const OPENINGS_MAX: u32 = 3;

/// Finds the master key a vault asks for.
pub(crate) fn master_of(
    paths: &StorePaths,
    keys: &KeySource,
    envelope: &Envelope,
) -> Result<Secret> {
    let origin = envelope.origin();
    let Some(offered) = offered(paths, keys)? else {
        return Err(match origin {
            KeyOrigin::File => StoreError::KeyMissing { path: paths.key_file.clone() },
            KeyOrigin::Passphrase => StoreError::PassphraseMissing { path: paths.vault.clone() },
        });
    };
    if offered.origin() != origin {
        return Err(wrong_key(paths, envelope, offered.origin()));
    }
    match offered {
        Offered::File => key_file::load(&paths.key_file),
        Offered::Passphrase(words) => envelope.stretch(words),
    }
}

fn wrong_key(paths: &StorePaths, envelope: &Envelope, offered: KeyOrigin) -> StoreError {
    StoreError::WrongKey { path: paths.vault.clone(), origin: envelope.origin(), offered }
}

enum Offered<'a> {
    File,
    Passphrase(&'a str),
}

impl Offered<'_> {
    fn origin(&self) -> KeyOrigin {
        match self {
            Self::File => KeyOrigin::File,
            Self::Passphrase(_) => KeyOrigin::Passphrase,
        }
    }
}

fn offered<'a>(paths: &StorePaths, keys: &'a KeySource) -> Result<Option<Offered<'a>>> {
    if key_file::look(&paths.key_file)?.is_some() {
        return Ok(Some(Offered::File));
    }
    Ok(keys.given().map(Offered::Passphrase))
}

/// Derives an HPKE key pair from fresh bytes: drawing them here turns a failing system into an
/// error, where the generator of the crate would panic.
fn draw_spool_secret() -> Result<Secret> {
    let seed: Secret = Zeroizing::new(files::random()?);
    let (secret, _) = X25519HkdfSha256::derive_keypair(&*seed);
    let mut bytes = Secret::default();
    secret.write_exact(&mut *bytes);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_line_fits_the_secret() {
        let secret = draw_spool_secret().unwrap();
        let vault =
            Vault { store: Uuid::nil(), data_key: Secret::default(), spool_secret: secret.clone() };
        let line = vault.spool_public_line().unwrap();
        let encoded = line.strip_prefix("iai-spool-x25519:v1:").unwrap().trim_end();
        let bytes = STANDARD.decode(encoded).unwrap();
        assert_eq!(bytes.len(), 32);
        let private = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(&*secret).unwrap();
        assert_eq!(X25519HkdfSha256::sk_to_pk(&private).to_bytes().as_slice(), bytes);
    }

    #[test]
    fn an_empty_passphrase_is_no_passphrase() {
        for (words, expect) in [(None, false), (Some(""), false), (Some("x"), true)] {
            let keys =
                KeySource { passphrase: words.map(|words| Zeroizing::new(words.to_owned())) };
            assert_eq!(keys.given().is_some(), expect, "{words:?}");
        }
    }
}
