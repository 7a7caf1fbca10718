//! The keys of a vault, one an epoch, and the pair of a machine that a new one is sealed to.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hpke::aead::ChaCha20Poly1305;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable as _, Kem, OpModeR, OpModeS, Serializable as _};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::entry::EntryName;
use crate::name::{MachineId, VaultId};
use crate::operation::Operation;

const KEY_BYTES: usize = 32;
const FINGERPRINT_DOMAIN: &[u8] = b"iai-mcp sync key name 1";
const BOX_INFO: &[u8] = b"iai-mcp sync rekey 1";
const SHARE_BYTES: usize = 32;

/// Why a key could not be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// A machine said hello with something else.
    #[error("the public key of machine {0} is malformed")]
    BadPublicKey(MachineId),
    /// It was sealed to another machine, for another vault or epoch, or altered.
    #[error("the vault's new key does not open with this machine's key")]
    CannotOpen,
    /// What was kept is not what was given to be kept.
    #[error("the kept keys of the vault are damaged")]
    Damaged,
}

/// The operating system gave no random bytes.
#[derive(Debug, Error)]
#[error("no random bytes: {0}")]
pub struct RandomError(#[from] getrandom::Error);

/// Draws random bytes.
pub fn random<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// What seals the entries of a vault in one epoch.
#[derive(Clone, PartialEq, Eq)]
pub struct SyncKey(Zeroizing<[u8; KEY_BYTES]>);

impl SyncKey {
    /// Takes random bytes, or those that were kept.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Returns the secret itself, to be kept or shown as words.
    pub fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Returns eight bytes by which keys are told apart and that say nothing about them.
    pub fn fingerprint(&self) -> [u8; 8] {
        let mut hash = Sha256::new();
        hash.update(FINGERPRINT_DOMAIN);
        hash.update(self.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        *digest.first_chunk().expect("a digest has more than eight bytes")
    }
}

impl fmt::Debug for SyncKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SyncKey(…)")
    }
}

/// Every key a vault ever had, as far as this machine knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VaultKeys {
    /// By epoch; more than one where two machines made a new key apart, by fingerprint.
    epochs: BTreeMap<u32, Vec<SyncKey>>,
}

impl VaultKeys {
    /// Begins a vault.
    pub fn founded(key: SyncKey) -> Self {
        let mut keys = Self::default();
        keys.insert(1, key);
        keys
    }

    /// Takes in a key; one that is there already changes nothing.
    pub fn insert(&mut self, epoch: u32, key: SyncKey) {
        let keys = self.epochs.entry(epoch).or_default();
        if !keys.contains(&key) {
            keys.push(key);
            keys.sort_by_key(SyncKey::fingerprint);
        }
    }

    /// Gives up the keys of an epoch that nobody else has heard of.
    pub fn withdraw(&mut self, epoch: u32) {
        self.epochs.remove(&epoch);
    }

    /// Returns the keys of an epoch.
    pub fn at(&self, epoch: u32) -> &[SyncKey] {
        self.epochs.get(&epoch).map_or(&[], Vec::as_slice)
    }

    /// Returns the epoch and the key that entries are sealed with from now on: every machine that
    /// has the same keys takes the same.
    pub fn current(&self) -> Option<(u32, &SyncKey)> {
        let (epoch, keys) = self.epochs.last_key_value()?;
        Some((*epoch, keys.first()?))
    }

    /// Returns all of them, oldest epoch first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &SyncKey)> {
        self.epochs.iter().flat_map(|(epoch, keys)| keys.iter().map(|key| (*epoch, key)))
    }

    /// Returns them as the encrypted store keeps them: `epoch (u32, little-endian) ‖ key`, each.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let n_bytes = self.iter().count() * (4 + KEY_BYTES);
        let mut bytes = Zeroizing::new(Vec::with_capacity(n_bytes));
        for (epoch, key) in self.iter() {
            bytes.extend_from_slice(&epoch.to_le_bytes());
            bytes.extend_from_slice(key.as_bytes());
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        let mut keys = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (epoch, after) = rest.split_first_chunk().ok_or(KeyError::Damaged)?;
            let (key, after) = after.split_first_chunk().ok_or(KeyError::Damaged)?;
            keys.insert(u32::from_le_bytes(*epoch), SyncKey::from_bytes(*key));
            rest = after;
        }
        Ok(keys)
    }
}

/// A machine's own pair: others seal new keys to it. Its public half is in the machine's hello.
pub struct MachineKey(<X25519HkdfSha256 as Kem>::PrivateKey);

impl fmt::Debug for MachineKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MachineKey(…)")
    }
}

impl MachineKey {
    /// Takes random bytes, or those that were kept.
    pub fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Self {
        let key = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(bytes);
        Self(key.expect("any thirty-two bytes are an X25519 key"))
    }

    /// Returns the secret itself, to be kept.
    pub fn to_bytes(&self) -> Zeroizing<[u8; KEY_BYTES]> {
        Zeroizing::new(self.0.to_bytes().into())
    }

    /// Returns the public half, as a hello has it.
    pub fn public(&self) -> String {
        BASE64.encode(X25519HkdfSha256::sk_to_pk(&self.0).to_bytes())
    }

    /// Opens the box that a rekey has for this machine; none has been made for it when it is out.
    pub fn open_rekey(
        &self,
        vault: VaultId,
        machine: MachineId,
        rekey: &Operation,
    ) -> Result<Option<(u32, SyncKey)>, KeyError> {
        let Operation::Rekey { epoch, boxes, .. } = rekey else { return Ok(None) };
        let Some((_, sealed)) = boxes.iter().find(|(name, _)| *name == machine) else {
            return Ok(None);
        };
        let key = self.open_box(&bound(vault, machine, *epoch), sealed);
        key.map(|key| Some((*epoch, key))).ok_or(KeyError::CannotOpen)
    }

    fn open_box(&self, bound: &[u8], sealed: &str) -> Option<SyncKey> {
        let bytes = BASE64.decode(sealed).ok()?;
        let (share, sealed) = bytes.split_at_checked(SHARE_BYTES)?;
        let share = <X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(share).ok()?;
        let key = hpke::single_shot_open::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
            &OpModeR::Base,
            &self.0,
            &share,
            BOX_INFO,
            sealed,
            bound,
        );
        let key = Zeroizing::new(key.ok()?);
        Some(SyncKey::from_bytes(key.as_slice().try_into().ok()?))
    }
}

/// Makes the operation that gives every staying machine the vault's next key.
///
/// `staying` are machines and their public keys, this one among them; `revoked` are those that are
/// out, each with the last entry of theirs that counts.
pub fn rekey(
    vault: VaultId,
    (epoch, key): (u32, &SyncKey),
    staying: &[(MachineId, String)],
    revoked: Vec<EntryName>,
) -> Result<Operation, KeyError> {
    let boxes = staying
        .iter()
        .map(|(machine, public)| {
            let sealed = seal_box(&bound(vault, *machine, epoch), public, key)
                .ok_or(KeyError::BadPublicKey(*machine))?;
            Ok((*machine, sealed))
        })
        .collect::<Result<_, _>>()?;
    Ok(Operation::Rekey { epoch, boxes, revoked })
}

/// `HPKE[X25519, HKDF-SHA256, ChaCha20-Poly1305](public, bound, key)`: RFC 9180, base mode, a fresh
/// share each. Who made it is known by the entry it stands in.
fn seal_box(bound: &[u8], public: &str, key: &SyncKey) -> Option<String> {
    let public = BASE64.decode(public).ok()?;
    let public = <X25519HkdfSha256 as Kem>::PublicKey::from_bytes(&public).ok()?;
    let (share, sealed) = hpke::single_shot_seal::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
        &OpModeS::Base,
        &public,
        BOX_INFO,
        key.as_bytes(),
        bound,
    )
    .ok()?;
    let mut bytes = share.to_bytes().to_vec();
    bytes.extend_from_slice(&sealed);
    Some(BASE64.encode(bytes))
}

/// The associated data: a box moved to another vault, machine or epoch does not open.
fn bound(vault: VaultId, machine: MachineId, epoch: u32) -> Vec<u8> {
    let mut bytes = vault.as_bytes().to_vec();
    bytes.extend_from_slice(machine.as_bytes());
    bytes.extend_from_slice(&epoch.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(byte: u8) -> (MachineId, MachineKey) {
        (MachineId::from_bytes([byte; 16]), MachineKey::from_bytes(&[byte; 32]))
    }

    #[test]
    fn a_new_key_is_for_those_who_stay() {
        let vault = VaultId::from_bytes([9; 16]);
        let ((one, one_key), (two, two_key), (out, out_key)) = (machine(1), machine(2), machine(3));
        let new = SyncKey::from_bytes([4; 32]);
        let staying = [(one, one_key.public()), (two, two_key.public())];
        let last = EntryName { machine: out, counter: 7 };
        let operation = rekey(vault, (2, &new), &staying, vec![last]).unwrap();
        for (name, key) in [(one, &one_key), (two, &two_key)] {
            let opened = key.open_rekey(vault, name, &operation).unwrap();
            assert_eq!(opened, Some((2, new.clone())));
        }
        assert_eq!(out_key.open_rekey(vault, out, &operation), Ok(None));
        assert_eq!(out_key.open_rekey(vault, one, &operation), Err(KeyError::CannotOpen));
        let elsewhere = VaultId::from_bytes([8; 16]);
        assert_eq!(one_key.open_rekey(elsewhere, one, &operation), Err(KeyError::CannotOpen));
        let Operation::Rekey { boxes, revoked, .. } = operation else { panic!("no rekey") };
        let later = Operation::Rekey { epoch: 3, boxes, revoked };
        assert_eq!(one_key.open_rekey(vault, one, &later), Err(KeyError::CannotOpen));
    }

    #[test]
    fn a_malformed_public_key_is_named() {
        let (one, _) = machine(1);
        for public in ["", "AAAA", "not base64", &"A".repeat(44)] {
            let staying = [(one, public.to_owned())];
            let error = rekey(
                VaultId::from_bytes([9; 16]),
                (2, &SyncKey::from_bytes([4; 32])),
                &staying,
                vec![],
            );
            assert_eq!(error.unwrap_err(), KeyError::BadPublicKey(one), "{public}");
        }
    }

    #[test]
    fn keys_are_kept_and_machines_agree_which_is_current() {
        let mut keys = VaultKeys::founded(SyncKey::from_bytes([1; 32]));
        let mut other = keys.clone();
        for byte in [2, 3, 2] {
            keys.insert(2, SyncKey::from_bytes([byte; 32]));
        }
        for byte in [3, 2] {
            other.insert(2, SyncKey::from_bytes([byte; 32]));
        }
        assert_eq!(keys, other);
        assert_eq!(keys.current().unwrap().0, 2);
        assert_eq!(keys.at(2).len(), 2);
        let kept = keys.to_bytes();
        assert_eq!(VaultKeys::from_bytes(&kept).unwrap(), keys);
        assert_eq!(VaultKeys::from_bytes(&kept[1..]).unwrap_err(), KeyError::Damaged);
        keys.withdraw(2);
        assert_eq!(keys.current().unwrap().0, 1);
    }

    #[test]
    fn no_secret_is_printed() {
        let key = SyncKey::from_bytes([0xab; 32]);
        let printed =
            format!("{key:?} {:?} {:?}", VaultKeys::founded(key.clone()), machine(0xab).1);
        assert!(!printed.contains("171") && !printed.to_lowercase().contains("abab"), "{printed}");
        assert_ne!(random::<16>().unwrap(), random::<16>().unwrap());
    }
}
