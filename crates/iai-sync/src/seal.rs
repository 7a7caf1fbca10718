//! An operation as ciphertext: sealed for one place in one chain, its length padded.

use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{KeyInit as _, Tag, XChaCha20Poly1305, XNonce};
use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

use crate::entry::EntryName;
use crate::keys::{SyncKey, VaultKeys};
use crate::name::VaultId;
use crate::operation::Stamped;
use crate::padding::{pad, unpad};
use crate::stamp::Stamp;

/// The most a payload may have. A memory of 10 MB of text, escaped in JSON six times as long, fits.
pub const PAYLOAD_BYTES_MAX: usize = 96 * 1024 * 1024;
/// The random bytes that sealing takes.
pub const NONCE_BYTES: usize = 24;

/// The first byte of every payload.
const VERSION: u8 = 1;
const TAG_BYTES: usize = 16;
const HEAD_BYTES: usize = 1 + NONCE_BYTES;
const DOMAIN: &[u8] = b"iai-mcp sync payload";

/// Where a payload stands. It opens there and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// In whose log.
    pub vault: VaultId,
    /// In whose chain, and where in it.
    pub name: EntryName,
    /// Under which of the vault's keys.
    pub epoch: u32,
    /// After which entry: its hash.
    pub previous: [u8; 32],
}

/// What was in a payload.
#[derive(Debug)]
pub enum Opened {
    /// An operation.
    Known(Stamped),
    /// An operation that only a newer program understands, as JSON: kept until it is [`reread`].
    Unknown(String),
}

/// Why an operation could not be sealed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SealError {
    /// It is too long to travel.
    #[error("an operation of {0} bytes is more than an entry may carry ({PAYLOAD_BYTES_MAX})")]
    TooLong(usize),
}

/// Why a payload could not be opened, by what can be done about it.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OpenError {
    /// Another program wrote it.
    #[error("written by a newer program (payload format {0}): update iai-mcp on this machine")]
    Newer(u8),
    /// The key of its epoch is not here yet, or never will be.
    #[error("sealed with key {0} of the vault, which this machine does not have")]
    NoKey(u32),
    /// It is not what a member of the vault wrote for this place.
    #[error("altered on the way, moved from another place, or sealed with another vault's key")]
    Forged,
    /// A member of the vault wrote it, and it is no operation.
    #[error("sealed by a machine of this vault, but what is inside is no operation")]
    Malformed,
}

/// `version ‖ nonce ‖ XChaCha20-Poly1305[key, nonce, place](padded JSON)`. A `nonce` must never
/// repeat under one `key`; the caller draws it fresh.
pub fn seal(
    key: &SyncKey,
    place: &Place,
    nonce: [u8; NONCE_BYTES],
    stamped: &Stamped,
) -> Result<Vec<u8>, SealError> {
    let json = serde_json::to_vec(stamped).expect("an operation is always JSON");
    seal_bytes(key, &place.bound(), nonce, &json)
}

/// Opens what stands at `place`, with whichever of the vault's keys of its epoch fits.
pub fn open(keys: &VaultKeys, place: &Place, payload: &[u8]) -> Result<Opened, OpenError> {
    // The version first: what a newer program wrote may have another key's shape, too.
    check_version(payload)?;
    let candidates = keys.at(place.epoch);
    if candidates.is_empty() {
        return Err(OpenError::NoKey(place.epoch));
    }
    let bound = place.bound();
    let json = candidates
        .iter()
        .find_map(|key| open_bytes(key, &bound, payload).ok())
        .ok_or(OpenError::Forged)?;
    reread(String::from_utf8(json).map_err(|_| OpenError::Malformed)?)
}

/// Reads the JSON of an operation, once more if it was [`Opened::Unknown`] to an older program.
pub fn reread(json: String) -> Result<Opened, OpenError> {
    #[derive(Deserialize)]
    struct AnyOperation {
        #[serde(rename = "stamp")]
        _stamp: Stamp,
        #[serde(rename = "operation")]
        _operation: IgnoredAny,
    }
    if let Ok(stamped) = serde_json::from_str(&json) {
        return Ok(Opened::Known(stamped));
    }
    match serde_json::from_str::<AnyOperation>(&json) {
        Ok(_) => Ok(Opened::Unknown(json)),
        Err(_) => Err(OpenError::Malformed),
    }
}

impl Place {
    /// The associated data: a payload moved to another vault, chain, place or key does not open,
    /// and one whose predecessor was exchanged does not either.
    fn bound(&self) -> Vec<u8> {
        let mut bytes = DOMAIN.to_vec();
        bytes.push(VERSION);
        bytes.extend_from_slice(self.vault.as_bytes());
        bytes.extend_from_slice(self.name.machine.as_bytes());
        bytes.extend_from_slice(&self.name.counter.to_le_bytes());
        bytes.extend_from_slice(&self.epoch.to_le_bytes());
        bytes.extend_from_slice(&self.previous);
        bytes
    }
}

/// `version ‖ nonce ‖ XChaCha20-Poly1305[key, nonce, bound](pad(content))`; see [`seal`].
pub(crate) fn seal_bytes(
    key: &SyncKey,
    bound: &[u8],
    nonce: [u8; NONCE_BYTES],
    content: &[u8],
) -> Result<Vec<u8>, SealError> {
    let padded = pad(content, PAYLOAD_BYTES_MAX - HEAD_BYTES - TAG_BYTES)
        .ok_or(SealError::TooLong(content.len()))?;
    let mut payload = Vec::with_capacity(HEAD_BYTES + padded.len() + TAG_BYTES);
    payload.push(VERSION);
    payload.extend_from_slice(&nonce);
    payload.extend_from_slice(&padded);
    let (_, body) = payload.split_at_mut(HEAD_BYTES);
    let tag = XChaCha20Poly1305::new(key.as_bytes().into())
        .encrypt_inout_detached(&XNonce::from(nonce), bound, body.into())
        .expect("what a payload may have is far below what the cipher takes");
    payload.extend_from_slice(&tag);
    Ok(payload)
}

/// Opens what [`seal_bytes`] made.
pub(crate) fn open_bytes(
    key: &SyncKey,
    bound: &[u8],
    payload: &[u8],
) -> Result<Vec<u8>, OpenError> {
    check_version(payload)?;
    let (nonce, rest) =
        payload.get(1..).and_then(<[u8]>::split_first_chunk).ok_or(OpenError::Forged)?;
    let (body, tag) = rest.split_last_chunk::<TAG_BYTES>().ok_or(OpenError::Forged)?;
    let nonce: &[u8; NONCE_BYTES] = nonce;
    let mut body = body.to_vec();
    XChaCha20Poly1305::new(key.as_bytes().into())
        .decrypt_inout_detached(
            &XNonce::from(*nonce),
            bound,
            body.as_mut_slice().into(),
            &Tag::from(*tag),
        )
        .map_err(|_| OpenError::Forged)?;
    unpad(body).ok_or(OpenError::Malformed)
}

fn check_version(payload: &[u8]) -> Result<(), OpenError> {
    match payload.first() {
        Some(&VERSION) if payload.len() <= PAYLOAD_BYTES_MAX => Ok(()),
        Some(&version) if version > VERSION => Err(OpenError::Newer(version)),
        _ => Err(OpenError::Forged),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::value::RawValue;
    use uuid::Uuid;

    use super::*;
    use crate::name::MachineId;
    use crate::operation::Operation;

    pub(crate) fn place() -> Place {
        Place {
            vault: VaultId::from_bytes([1; 16]),
            name: EntryName { machine: MachineId::from_bytes([2; 16]), counter: 3 },
            epoch: 4,
            previous: [5; 32],
        }
    }

    pub(crate) fn keys() -> VaultKeys {
        let mut keys = VaultKeys::default();
        keys.insert(4, SyncKey::from_bytes([9; 32]));
        keys
    }

    fn stamped(words: &str) -> Stamped {
        let json = serde_json::to_string(words).unwrap();
        let body = RawValue::from_string(json).unwrap();
        let stamp = Stamp { at: 7, by: MachineId::from_bytes([2; 16]) };
        let operation = Operation::Put { memory: Uuid::nil(), body, vectors: None };
        Stamped { stamp, operation }
    }

    fn sealed(words: &str) -> Vec<u8> {
        let keys = keys();
        seal(keys.current().unwrap().1, &place(), [6; NONCE_BYTES], &stamped(words)).unwrap()
    }

    fn sealed_json(json: &str) -> Vec<u8> {
        let key = SyncKey::from_bytes([9; 32]);
        seal_bytes(&key, &place().bound(), [6; NONCE_BYTES], json.as_bytes()).unwrap()
    }

    #[test]
    fn an_operation_comes_back_word_for_word() {
        let Opened::Known(opened) = open(&keys(), &place(), &sealed("héllo")).unwrap() else {
            panic!("unknown")
        };
        let want = serde_json::to_string(&stamped("héllo")).unwrap();
        assert_eq!(serde_json::to_string(&opened).unwrap(), want);
    }

    #[test]
    fn the_format_has_not_changed() {
        let kept = include_bytes!("../corpus/payloads/put");
        assert_eq!(sealed("words that were said"), kept);
    }

    #[test]
    fn it_opens_at_its_place_and_nowhere_else() {
        let payload = sealed("x");
        let here = place();
        let elsewhere = [
            Place { vault: VaultId::from_bytes([0; 16]), ..here },
            Place { name: EntryName { counter: 4, ..here.name }, ..here },
            Place {
                name: EntryName { machine: MachineId::from_bytes([0; 16]), counter: 3 },
                ..here
            },
            Place { previous: [0; 32], ..here },
        ];
        for place in elsewhere {
            assert_eq!(open(&keys(), &place, &payload).unwrap_err(), OpenError::Forged);
        }
        let later = Place { epoch: 5, ..here };
        assert_eq!(open(&keys(), &later, &payload).unwrap_err(), OpenError::NoKey(5));
        let mut both = keys();
        both.insert(5, SyncKey::from_bytes([9; 32]));
        assert_eq!(open(&both, &later, &payload).unwrap_err(), OpenError::Forged);
    }

    #[test]
    fn no_flipped_bit_and_no_cut_opens() {
        let payload = sealed("x");
        for index in 0..payload.len() {
            let mut altered = payload.clone();
            altered[index] ^= 1 << (index % 8);
            let error = open(&keys(), &place(), &altered).unwrap_err();
            assert_eq!(error, OpenError::Forged, "byte {index}");
            assert_eq!(open(&keys(), &place(), &payload[..index]).unwrap_err(), OpenError::Forged);
        }
        let mut newer = payload;
        newer[0] = 2;
        assert_eq!(open(&keys(), &place(), &newer).unwrap_err(), OpenError::Newer(2));
    }

    #[test]
    fn two_keys_of_one_epoch_are_both_tried() {
        let mut keys = keys();
        for byte in 0..5 {
            keys.insert(4, SyncKey::from_bytes([byte; 32]));
        }
        assert!(open(&keys, &place(), &sealed("x")).is_ok());
    }

    #[test]
    fn lengths_within_a_bucket_look_alike() {
        assert_eq!(sealed("").len(), sealed(&"x".repeat(60)).len());
        assert_eq!(sealed("").len(), 256 + HEAD_BYTES + TAG_BYTES);
        assert!(sealed(&"x".repeat(600)).len() > sealed("").len());
    }

    #[test]
    fn what_a_newer_program_says_is_kept() {
        let stamp = r#""stamp":{"at":1,"by":"00000000-0000-0000-0000-000000000000","x":1}"#;
        let cases = [
            (format!("{{{stamp},\"operation\":{{\"merge\":{{\"a\":[1]}}}}}}"), "unknown"),
            (format!("{{{stamp},\"operation\":\"sleep\"}}"), "unknown"),
            (format!("{{{stamp},\"operation\":{{\"put\":{{\"memory\":7}}}}}}"), "unknown"),
            (
                format!(
                    "{{{stamp},\"operation\":{{\"forget\":{{\"memory\":\"{}\",\"entries\":[],\
                     \"why\":2}}}},\"more\":3}}",
                    Uuid::nil()
                ),
                "known",
            ),
            (format!("{{{stamp}}}"), "malformed"),
            ("[]".to_owned(), "malformed"),
            (String::new(), "malformed"),
        ];
        for (json, want) in cases {
            let got = match open(&keys(), &place(), &sealed_json(&json)) {
                Ok(Opened::Known(_)) => "known",
                Ok(Opened::Unknown(kept)) => {
                    assert_eq!(kept, json);
                    assert!(matches!(reread(kept), Ok(Opened::Unknown(_))));
                    "unknown"
                }
                Err(OpenError::Malformed) => "malformed",
                Err(error) => panic!("{error}"),
            };
            assert_eq!(got, want, "{json}");
        }
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_is_sealed() {
        let key = SyncKey::from_bytes([9; 32]);
        let content = vec![0; PAYLOAD_BYTES_MAX];
        let error = seal_bytes(&key, &[], [0; NONCE_BYTES], &content).unwrap_err();
        assert_eq!(error, SealError::TooLong(PAYLOAD_BYTES_MAX));
    }
}
