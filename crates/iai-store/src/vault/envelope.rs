//! The vault file: the data key wrapped by the master key, the spool key wrapped by the data key.
//! Which master key is offered is decided by `vault.rs`.

use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce};
use hkdf::Hkdf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::Secret;
use crate::error::{Result, StoreError};
use crate::files::{self, SmallFile};
use crate::record::KeyOrigin;

/// The vault format this program writes and the highest it reads.
const VERSION: u32 = 1;
/// A vault is under one kibibyte; more is not a vault.
const VAULT_BYTES_MAX: u64 = 64 * 1024;

/// How much of the key check names a key.
const KEY_ID_BYTES: usize = 4;

// What a vault may ask of Argon2id. The floor keeps a changed file from asking for a cheap hash,
// the ceiling keeps it from taking the machine down.
const KDF_MEMORY_KIB: u32 = 64 * 1024;
const KDF_MEMORY_KIB_MIN: u32 = 8 * 1024;
const KDF_MEMORY_KIB_MAX: u32 = 1024 * 1024;
const KDF_PASSES: u32 = 3;
const KDF_PASSES_MAX: u32 = 16;
const KDF_LANES: u32 = 1;
const KDF_LANES_MAX: u32 = 8;

/// The keys inside, or the news that the master key is another.
pub(crate) enum Opening {
    Opened { data_key: Secret, spool_secret: Secret },
    WrongKey,
}

/// A vault file that was read and believed, still closed.
pub(crate) struct Envelope {
    path: std::path::PathBuf,
    bytes: Vec<u8>,
    body: Body,
    origin: KeyOrigin,
}

/// The file: the checksum tells rotten bytes from a wrong key.
#[derive(Serialize, Deserialize)]
struct OnDisk {
    vault: Box<RawValue>,
    sha256: String,
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    version: u32,
    store: String,
    created_at: Timestamp,
    /// Present when a passphrase is the master key, absent when a key file is.
    kdf: Option<Kdf>,
    key_check: String,
    data_key: Sealed,
    spool_key: Sealed,
}

/// How a passphrase becomes a key.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kdf {
    algorithm: String,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    nonce: String,
    sealed: String,
}

impl Envelope {
    /// Reads the vault file, or returns nothing when there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        match files::read_small(path, VAULT_BYTES_MAX)? {
            None => Ok(None),
            Some(SmallFile::TooLong) => Err(damaged(path, "it is far too long")),
            Some(SmallFile::Whole(bytes)) => Self::parse(path, &bytes).map(Some),
        }
    }

    /// Believes the bytes of a vault file, or says what is wrong with them.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let disk: OnDisk =
            serde_json::from_slice(bytes).map_err(|_| damaged(path, "it is not a vault file"))?;
        if hex_sha256(disk.vault.get()) != disk.sha256 {
            return Err(damaged(path, "its checksum does not match"));
        }
        let unknown = |_| damaged(path, "its fields are not those of a vault");
        let VersionOnly { version } = serde_json::from_str(disk.vault.get()).map_err(unknown)?;
        if version > VERSION {
            return Err(StoreError::Newer {
                path: path.to_owned(),
                found: version,
                known: VERSION,
            });
        }
        let body: Body = serde_json::from_str(disk.vault.get()).map_err(unknown)?;
        if body.version == 0 || Uuid::try_parse(&body.store).is_err() {
            return Err(damaged(path, "its fields are not those of a vault"));
        }
        let origin = if body.kdf.is_some() { KeyOrigin::Passphrase } else { KeyOrigin::File };
        Ok(Self { path: path.to_owned(), bytes: bytes.to_vec(), body, origin })
    }

    /// Returns the file as it was read.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns how its passphrase becomes a key; nothing when a key file is the master.
    pub(crate) fn kdf(&self) -> Option<Kdf> {
        self.body.kdf.clone()
    }

    /// Returns a short name of the master key, by which people tell keys apart.
    pub(crate) fn key_id(&self) -> String {
        let check = decode::<32>(&self.body.key_check).unwrap_or_default();
        check.iter().take(KEY_ID_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn origin(&self) -> KeyOrigin {
        self.origin
    }

    pub(crate) fn store(&self) -> Uuid {
        Uuid::try_parse(&self.body.store).expect("parse checked the store id")
    }

    /// Turns a passphrase into the master key, the way this vault asks for.
    pub(crate) fn stretch(&self, words: &str) -> Result<Secret> {
        let kdf = self.body.kdf.as_ref().ok_or_else(|| self.damaged("it has no key derivation"))?;
        kdf.params().ok_or_else(|| self.damaged("its key derivation is out of bounds"))?;
        kdf.stretch(words)
    }

    pub(crate) fn open(&self, master: &Secret) -> Result<Opening> {
        let store = self.store();
        if decode::<32>(&self.body.key_check) != Some(key_check(master, store)) {
            return Ok(Opening::WrongKey);
        }
        let wrap = derive(master, store, WRAP_DATA_KEY);
        let data_key = unwrap(&wrap, &self.body.data_key, &bound_to(store, WRAP_DATA_KEY))
            .ok_or_else(|| self.damaged("its data key does not open"))?;
        let wrap = derive(&data_key, store, WRAP_SPOOL_KEY);
        let spool_secret = unwrap(&wrap, &self.body.spool_key, &bound_to(store, WRAP_SPOOL_KEY))
            .ok_or_else(|| self.damaged("its spool key does not open"))?;
        Ok(Opening::Opened { data_key, spool_secret })
    }

    fn damaged(&self, reason: &'static str) -> StoreError {
        damaged(&self.path, reason)
    }
}

/// Returns the bytes of a new vault file.
pub(crate) fn seal(
    store: Uuid,
    kdf: Option<Kdf>,
    master: &Secret,
    keys: &Opening,
    now: Timestamp,
) -> Result<Vec<u8>> {
    let Opening::Opened { data_key, spool_secret } = keys else {
        return Err(StoreError::refused("vault", "there are no keys to seal"));
    };
    let data_wrap = derive(master, store, WRAP_DATA_KEY);
    let spool_wrap = derive(data_key, store, WRAP_SPOOL_KEY);
    let body = Body {
        version: VERSION,
        store: store.to_string(),
        created_at: now,
        kdf,
        key_check: STANDARD.encode(key_check(master, store)),
        data_key: wrap(&data_wrap, data_key, &bound_to(store, WRAP_DATA_KEY))?,
        spool_key: wrap(&spool_wrap, spool_secret, &bound_to(store, WRAP_SPOOL_KEY))?,
    };
    on_disk(&body).map_err(|error| StoreError::refused("vault", error.to_string()))
}

fn on_disk(body: &Body) -> serde_json::Result<Vec<u8>> {
    let vault = serde_json::value::to_raw_value(body)?;
    let sha256 = hex_sha256(vault.get());
    let mut bytes = serde_json::to_vec(&OnDisk { vault, sha256 })?;
    bytes.push(b'\n');
    Ok(bytes)
}

impl Kdf {
    /// Draws the parameters of a new vault; a salt must never repeat for one passphrase.
    pub(crate) fn draw() -> Result<Self> {
        Ok(Self {
            algorithm: "argon2id".to_owned(),
            memory_kib: KDF_MEMORY_KIB,
            passes: KDF_PASSES,
            lanes: KDF_LANES,
            salt: STANDARD.encode(files::random::<16>()?),
        })
    }

    /// `Argon2id[memory, passes, lanes](passphrase, salt)`, version 0x13, thirty-two bytes.
    pub(crate) fn stretch(&self, words: &str) -> Result<Secret> {
        let (params, salt) = self
            .params()
            .ok_or_else(|| StoreError::refused("key derivation", "it is out of bounds"))?;
        let mut key = Secret::default();
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(words.as_bytes(), &salt, &mut *key)
            .map_err(|error| StoreError::refused("passphrase", error.to_string()))?;
        Ok(key)
    }

    fn params(&self) -> Option<(Params, [u8; 16])> {
        let bounded = self.algorithm == "argon2id"
            && (KDF_MEMORY_KIB_MIN..=KDF_MEMORY_KIB_MAX).contains(&self.memory_kib)
            && (1..=KDF_PASSES_MAX).contains(&self.passes)
            && (1..=KDF_LANES_MAX).contains(&self.lanes);
        if !bounded {
            return None;
        }
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(32)).ok()?;
        Some((params, decode::<16>(&self.salt)?))
    }
}

const WRAP_DATA_KEY: &str = "iai-mcp data key wrap 1";
const WRAP_SPOOL_KEY: &str = "iai-mcp spool key wrap 1";

/// `hkdf-sha256[salt = store id](key, label)`; a label must never serve two purposes.
pub(crate) fn derive(key: &Secret, store: Uuid, label: &str) -> Secret {
    let mut derived = Secret::default();
    Hkdf::<Sha256>::new(Some(store.as_bytes()), &**key)
        .expand(label.as_bytes(), &mut *derived)
        .expect("thirty-two bytes are one block of HKDF-SHA256");
    derived
}

/// `hkdf-sha256[salt](key, label)`; the salt holds fresh bytes, so that no two files share a key.
pub(crate) fn derive_salted(key: &Secret, salt: &[u8], label: &str) -> Secret {
    let mut derived = Secret::default();
    Hkdf::<Sha256>::new(Some(salt), &**key)
        .expand(label.as_bytes(), &mut *derived)
        .expect("thirty-two bytes are one block of HKDF-SHA256");
    derived
}

/// `hkdf-sha256[salt = store id](master, "check")`: says whether a key fits and nothing about it.
fn key_check(master: &Secret, store: Uuid) -> [u8; 32] {
    *derive(master, store, "iai-mcp key check 1")
}

/// The associated data: a wrapped key moved to another store, version or field does not open.
fn bound_to(store: Uuid, label: &str) -> Vec<u8> {
    let mut bytes = VERSION.to_le_bytes().to_vec();
    bytes.extend_from_slice(store.as_bytes());
    bytes.extend_from_slice(label.as_bytes());
    bytes
}

/// `seal[key, nonce, bound](secret)`: ChaCha20-Poly1305. `nonce` must never repeat under one `key`;
/// it is drawn fresh, and a key wraps one secret per vault written.
fn wrap(key: &Secret, secret: &Secret, bound: &[u8]) -> Result<Sealed> {
    let nonce: [u8; 12] = files::random()?;
    let sealed = ChaCha20Poly1305::new((&**key).into())
        .encrypt(&Nonce::from(nonce), Payload { msg: &**secret, aad: bound })
        .map_err(|error| StoreError::refused("key", error.to_string()))?;
    Ok(Sealed { nonce: STANDARD.encode(nonce), sealed: STANDARD.encode(sealed) })
}

/// `open[key, nonce, bound](sealed)`: nothing when the bytes were changed or belong elsewhere.
fn unwrap(key: &Secret, sealed: &Sealed, bound: &[u8]) -> Option<Secret> {
    let nonce: [u8; 12] = decode(&sealed.nonce)?;
    let bytes = STANDARD.decode(&sealed.sealed).ok()?;
    let opened = ChaCha20Poly1305::new((&**key).into())
        .decrypt(&Nonce::from(nonce), Payload { msg: &bytes, aad: bound })
        .map(Zeroizing::new)
        .ok()?;
    let mut secret = Secret::default();
    if opened.len() != secret.len() {
        return None;
    }
    secret.copy_from_slice(&opened);
    Some(secret)
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    STANDARD.decode(text).ok()?.try_into().ok()
}

fn hex_sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn damaged(path: &Path, reason: &'static str) -> StoreError {
    StoreError::VaultDamaged { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn master(byte: u8) -> Secret {
        Zeroizing::new([byte; 32])
    }

    fn sealed() -> Vec<u8> {
        let keys = Opening::Opened { data_key: master(2), spool_secret: master(3) };
        seal(Uuid::from_bytes([9; 16]), None, &master(1), &keys, Timestamp::UNIX_EPOCH).unwrap()
    }

    fn check(bytes: &[u8], key: u8, expect: &str) {
        let opened = Envelope::parse(Path::new("/v"), bytes).and_then(|e| e.open(&master(key)));
        let found = match opened {
            Ok(Opening::Opened { data_key, spool_secret }) => {
                assert_eq!((*data_key, *spool_secret), ([2; 32], [3; 32]));
                "opened".to_owned()
            }
            Ok(Opening::WrongKey) => "wrong key".to_owned(),
            Err(error) => format!("{error:?}"),
        };
        assert!(found.contains(expect), "{found} instead of {expect}");
    }

    /// Changes the inside of a vault and gives it a fresh checksum.
    fn forged(change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
        let disk: OnDisk = serde_json::from_slice(&sealed()).unwrap();
        let mut body = serde_json::from_str(disk.vault.get()).unwrap();
        change(&mut body);
        let vault = serde_json::value::to_raw_value(&body).unwrap();
        let sha256 = hex_sha256(vault.get());
        serde_json::to_vec(&OnDisk { vault, sha256 }).unwrap()
    }

    #[test]
    fn a_vault_tells_its_key_from_others() {
        check(&sealed(), 1, "opened");
        check(&sealed(), 4, "wrong key");
        assert_ne!(sealed(), sealed(), "nonces are fresh");
    }

    #[test]
    fn no_flipped_bit_and_no_cut_looks_like_a_wrong_key() {
        let good = sealed();
        for byte_idx in 0..good.len() {
            let mut bad = good.clone();
            bad[byte_idx] ^= 1 << (byte_idx % 8);
            let found = Envelope::parse(Path::new("/v"), &bad);
            // The newline at the end may become another blank, which JSON does not mind.
            if byte_idx + 1 < good.len() {
                assert!(matches!(found, Err(StoreError::VaultDamaged { .. })), "byte {byte_idx}");
            }
            check(&good[..byte_idx.min(good.len() - 2)], 1, "VaultDamaged");
        }
    }

    #[test]
    fn forged_fields_do_not_open() {
        check(&forged(|body| body["version"] = 2.into()), 1, "Newer");
        check(&forged(|body| body["version"] = 0.into()), 1, "VaultDamaged");
        check(&forged(|body| body["extra"] = 0.into()), 1, "VaultDamaged");
        check(&forged(|body| body["store"] = "x".into()), 1, "VaultDamaged");
        let other = Uuid::nil().to_string();
        check(&forged(|body| body["store"] = other.into()), 1, "wrong key");
        check(&forged(|b| b["spool_key"] = b["data_key"].clone()), 1, "spool key does not open");
        check(&forged(|b| b["data_key"]["nonce"] = "".into()), 1, "data key does not open");
        check(&forged(|b| b["data_key"]["sealed"] = "AAAA".into()), 1, "data key does not open");
    }

    #[test]
    fn a_key_derivation_has_bounds() {
        let good = || Kdf::draw().unwrap();
        for (kdf, expect) in [
            (good(), true),
            (Kdf { memory_kib: KDF_MEMORY_KIB_MIN - 1, ..good() }, false),
            (Kdf { memory_kib: KDF_MEMORY_KIB_MAX + 1, ..good() }, false),
            (Kdf { passes: 0, ..good() }, false),
            (Kdf { passes: KDF_PASSES_MAX + 1, ..good() }, false),
            (Kdf { lanes: 0, ..good() }, false),
            (Kdf { lanes: KDF_LANES_MAX + 1, ..good() }, false),
            (Kdf { salt: "AAAA".to_owned(), ..good() }, false),
            (Kdf { algorithm: "md5".to_owned(), ..good() }, false),
        ] {
            assert_eq!(kdf.params().is_some(), expect);
        }
    }
}
