//! How a machine joins a vault: an invitation lies sealed at the remote, and a short code that a
//! person carries over tells where it lies and opens it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hkdf::Hkdf;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zeroize::{Zeroize as _, Zeroizing};

use crate::base32;
use crate::keys::{KeyError, SyncKey, VaultKeys};
use crate::name::{MachineId, VaultId};
use crate::seal::{self, NONCE_BYTES, OpenError};

/// What a code begins with.
const PREFIX: &str = "iai-join:";
const CODE_VERSION: u8 = 1;
const SECRET_BYTES: usize = 16;
const CHECK_BYTES: usize = 3;
const CHECK_DOMAIN: &[u8] = b"iai-mcp join code 1";
/// Letters between two hyphens.
const GROUP: usize = 4;
/// The longest address a code carries, so that it stays a picture a camera can read.
const REMOTE_BYTES_MAX: usize = 512;
const SEALED_DOMAIN: &[u8] = b"iai-mcp sync invitation 1";
const NAME_LABEL: &[u8] = b"iai-mcp sync invitation name 1";
const KEY_LABEL: &[u8] = b"iai-mcp sync invitation key 1";

/// What is shared in a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VaultKind {
    /// Everything, among the machines of one person.
    Personal,
    /// Memories of these projects and corrections between them, under the names the team gave them.
    Team {
        /// The names.
        projects: Vec<String>,
    },
}

/// Everything a machine needs to join a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Where the vault's log is kept.
    pub remote: String,
    /// Which vault.
    pub vault: VaultId,
    /// What people call it.
    pub name: String,
    /// What is shared in it.
    pub kind: VaultKind,
    /// Its keys.
    pub keys: VaultKeys,
    /// Who invites.
    pub inviter: MachineId,
    /// What people call the inviter.
    pub inviter_name: String,
    /// Until when it is good.
    pub expires_ms: i64,
}

/// The one-time secret of an invitation, as a person carries it.
#[derive(Clone, PartialEq, Eq)]
pub struct InvitationCode {
    secret: Zeroizing<[u8; SECRET_BYTES]>,
    remote: Option<String>,
}

/// Why an invitation is of no use, by what can be done about it.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InvitationError {
    /// It was read or typed wrong.
    #[error("this is no invitation code, or a letter of it is wrong: it begins with {PREFIX}")]
    BadCode,
    /// A newer program made it.
    #[error("the invitation was made by a newer program: update iai-mcp on this machine")]
    Newer,
    /// The address is too long for a code.
    #[error("the remote's address is longer than a code can carry ({REMOTE_BYTES_MAX} bytes)")]
    RemoteTooLong,
    /// It is not good any more.
    #[error("the invitation has expired: ask for a new one, and look at both machines' clocks")]
    Expired,
    /// What lies at the remote is not what this code was made for.
    #[error("the invitation at the remote does not open with this code: ask for a new one")]
    Forged,
}

impl InvitationCode {
    /// Makes a code from fresh random bytes.
    pub fn from_random(secret: [u8; SECRET_BYTES]) -> Self {
        Self { secret: Zeroizing::new(secret), remote: None }
    }

    /// Makes it the long form, which carries the remote's address as well. It is not sealed: an
    /// address with a password in it is as secret as the code.
    pub fn with_remote(mut self, remote: &str) -> Result<Self, InvitationError> {
        if remote.len() > REMOTE_BYTES_MAX {
            return Err(InvitationError::RemoteTooLong);
        }
        self.remote = (!remote.is_empty()).then(|| remote.to_owned());
        Ok(self)
    }

    /// Returns the address that the long form carries.
    pub fn remote(&self) -> Option<&str> {
        self.remote.as_deref()
    }

    /// Returns the code as a person types it.
    pub fn to_text(&self) -> Zeroizing<String> {
        let code = Zeroizing::new(base32::encode(&self.to_bytes()));
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + code.len() * 5 / 4));
        text.push_str(PREFIX);
        for (index, letter) in code.chars().enumerate() {
            if index > 0 && index % GROUP == 0 {
                text.push('-');
            }
            text.push(letter);
        }
        text
    }

    /// Returns the code as a QR code holds it best: capitals only, no hyphens within.
    pub fn to_scan(&self) -> Zeroizing<String> {
        let code = Zeroizing::new(base32::encode(&self.to_bytes()));
        Zeroizing::new(PREFIX.to_uppercase() + &code)
    }

    /// Reads a code, however it is spaced and capitalised.
    pub fn parse(text: &str) -> Result<Self, InvitationError> {
        let text = text.trim();
        let code = match text.get(..PREFIX.len()) {
            Some(start) if start.eq_ignore_ascii_case(PREFIX) => text.get(PREFIX.len()..),
            _ => None,
        };
        let bytes = code.and_then(base32::decode).ok_or(InvitationError::BadCode)?;
        Self::from_bytes(&Zeroizing::new(bytes))
    }

    /// Returns the name under which the invitation lies at the remote; it tells nothing else.
    pub fn name_at_remote(&self) -> String {
        let mut name = [0; SECRET_BYTES];
        self.derive(NAME_LABEL, &mut name);
        name.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn key(&self) -> SyncKey {
        let mut key = [0; 32];
        self.derive(KEY_LABEL, &mut key);
        SyncKey::from_bytes(key)
    }

    /// `hkdf-sha256(secret, label)`; a label must never serve two purposes.
    fn derive(&self, label: &[u8], into: &mut [u8]) {
        Hkdf::<Sha256>::new(None, &*self.secret)
            .expand(label, into)
            .expect("thirty-two bytes are one block of HKDF-SHA256");
    }

    /// `version ‖ secret ‖ address ‖ check`.
    fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let remote = self.remote.as_deref().unwrap_or_default();
        let n_bytes = 1 + SECRET_BYTES + remote.len() + CHECK_BYTES;
        let mut bytes = Zeroizing::new(Vec::with_capacity(n_bytes));
        bytes.push(CODE_VERSION);
        bytes.extend_from_slice(&*self.secret);
        bytes.extend_from_slice(remote.as_bytes());
        let check = check(&bytes);
        bytes.extend_from_slice(&check);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, InvitationError> {
        let bad = InvitationError::BadCode;
        let Some((content, found)) = bytes.split_last_chunk() else { return Err(bad) };
        if *found != check(content) {
            return Err(bad);
        }
        let Some((version, rest)) = content.split_first() else { return Err(bad) };
        if *version > CODE_VERSION {
            return Err(InvitationError::Newer);
        }
        let Some((secret, remote)) = rest.split_first_chunk() else { return Err(bad) };
        let Ok(remote) = str::from_utf8(remote) else { return Err(bad) };
        if *version != CODE_VERSION {
            return Err(bad);
        }
        Self::from_random(*secret).with_remote(remote)
    }
}

impl fmt::Debug for InvitationCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("InvitationCode(…)")
    }
}

impl Invitation {
    /// Seals the invitation, to be left at the remote. `nonce` must be drawn fresh.
    pub fn seal(&self, code: &InvitationCode, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        let mut sealed = Sealed {
            remote: self.remote.clone(),
            vault: self.vault,
            name: self.name.clone(),
            kind: self.kind.clone(),
            keys: BASE64.encode(&*self.keys.to_bytes()),
            inviter: self.inviter,
            inviter_name: self.inviter_name.clone(),
            expires_ms: self.expires_ms,
        };
        let json = serde_json::to_vec(&sealed).map(Zeroizing::new);
        let json = json.expect("an invitation is always JSON");
        sealed.keys.zeroize();
        seal::seal_bytes(&code.key(), SEALED_DOMAIN, nonce, &json)
            .expect("an invitation is far shorter than a payload may be")
    }

    /// Opens what lies at the remote under the code's name. `now_ms` is what this machine's clock
    /// says.
    pub fn open(
        code: &InvitationCode,
        sealed: &[u8],
        now_ms: i64,
    ) -> Result<Self, InvitationError> {
        let json = seal::open_bytes(&code.key(), SEALED_DOMAIN, sealed).map(Zeroizing::new);
        let json = json.map_err(|error| match error {
            OpenError::Newer(_) => InvitationError::Newer,
            OpenError::NoKey(_) | OpenError::Forged | OpenError::Malformed => {
                InvitationError::Forged
            }
        })?;
        let opened: Sealed = serde_json::from_slice(&json).map_err(|_| InvitationError::Forged)?;
        if opened.expires_ms <= now_ms {
            return Err(InvitationError::Expired);
        }
        opened.try_into().map_err(|_| InvitationError::Forged)
    }
}

/// An invitation as JSON.
#[derive(Serialize, Deserialize)]
struct Sealed {
    remote: String,
    vault: VaultId,
    name: String,
    kind: VaultKind,
    keys: String,
    inviter: MachineId,
    inviter_name: String,
    expires_ms: i64,
}

impl TryFrom<Sealed> for Invitation {
    type Error = KeyError;

    fn try_from(sealed: Sealed) -> Result<Self, KeyError> {
        let keys = BASE64.decode(&*Zeroizing::new(sealed.keys)).map_err(|_| KeyError::Damaged)?;
        Ok(Self {
            remote: sealed.remote,
            vault: sealed.vault,
            name: sealed.name,
            kind: sealed.kind,
            keys: VaultKeys::from_bytes(&Zeroizing::new(keys))?,
            inviter: sealed.inviter,
            inviter_name: sealed.inviter_name,
            expires_ms: sealed.expires_ms,
        })
    }
}

fn check(content: &[u8]) -> [u8; CHECK_BYTES] {
    let mut hash = Sha256::new();
    hash.update(CHECK_DOMAIN);
    hash.update(content);
    let digest: [u8; 32] = hash.finalize().into();
    *digest.first_chunk().expect("a digest has more than three bytes")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn code() -> InvitationCode {
        InvitationCode::from_random([7; SECRET_BYTES])
    }

    fn invitation() -> Invitation {
        Invitation {
            remote: "postgres://me@db.example/sync".to_owned(),
            vault: VaultId::from_bytes([1; 16]),
            name: "everything".to_owned(),
            kind: VaultKind::Team { projects: vec!["atlas".to_owned()] },
            keys: VaultKeys::founded(SyncKey::from_bytes([3; 32])),
            inviter: MachineId::from_bytes([2; 16]),
            inviter_name: "desk".to_owned(),
            expires_ms: 1000,
        }
    }

    #[test]
    fn an_invitation_opens_with_its_code_until_it_expires() {
        let sealed = invitation().seal(&code(), [5; NONCE_BYTES]);
        assert_eq!(Invitation::open(&code(), &sealed, 999).unwrap(), invitation());
        let late = Invitation::open(&code(), &sealed, 1000);
        assert_eq!(late.unwrap_err(), InvitationError::Expired);
        let other = InvitationCode::from_random([8; SECRET_BYTES]);
        let wrong = Invitation::open(&other, &sealed, 0);
        assert_eq!(wrong.unwrap_err(), InvitationError::Forged);
        let mut newer = sealed.clone();
        newer[0] += 1;
        assert_eq!(Invitation::open(&code(), &newer, 0).unwrap_err(), InvitationError::Newer);
        for index in 1..sealed.len() {
            let mut altered = sealed.clone();
            altered[index] ^= 1;
            assert!(Invitation::open(&code(), &altered, 0).is_err(), "byte {index}");
        }
    }

    #[test]
    fn a_code_is_forgiving_in_form_and_strict_in_content() {
        let text = code().to_text().to_string();
        assert_eq!(text, "iai-join:043G-E1R7-0W3G-E1R7-0W3G-E1R7-0W3H-JJ5Q");
        assert_eq!(code().to_scan().len(), PREFIX.len() + 32);
        let typed = [
            text.clone(),
            text.to_lowercase(),
            format!(" {}\n", text.replace('-', " ").replace("iai join", "IAI-JOIN")),
            code().to_scan().to_string(),
        ];
        for typed in typed {
            assert_eq!(InvitationCode::parse(&typed).unwrap(), code(), "{typed}");
        }
        for index in PREFIX.len()..text.len() {
            let mut wrong = text.clone().into_bytes();
            wrong[index] = match wrong[index] {
                b'-' => continue,
                b'2' => b'3',
                _ => b'2',
            };
            let wrong = String::from_utf8(wrong).unwrap();
            let error = InvitationCode::parse(&wrong).unwrap_err();
            assert_eq!(error, InvitationError::BadCode, "{wrong}");
        }
        for wrong in ["", "iai-join:", "iai-join", "iaï-join:00", &text[9..]] {
            assert_eq!(InvitationCode::parse(wrong).unwrap_err(), InvitationError::BadCode);
        }
    }

    #[test]
    fn the_long_form_brings_the_address_along() {
        let long = code().with_remote("folder:/mnt/ünterwegs").unwrap();
        let read = InvitationCode::parse(&long.to_text()).unwrap();
        assert_eq!(read.remote(), Some("folder:/mnt/ünterwegs"));
        assert_eq!(read.name_at_remote(), code().name_at_remote());
        assert!(crate::qr(&long.to_scan()).is_some());
        let endless = "x".repeat(REMOTE_BYTES_MAX + 1);
        let error = code().with_remote(&endless).unwrap_err();
        assert_eq!(error, InvitationError::RemoteTooLong);
        let longest = code().with_remote(&endless[1..]).unwrap();
        assert!(crate::qr(&longest.to_scan()).is_some());
    }

    #[test]
    fn a_code_of_a_newer_program_is_told_from_a_wrong_one() {
        let mut bytes = code().to_bytes().to_vec();
        bytes.truncate(bytes.len() - CHECK_BYTES);
        bytes[0] = CODE_VERSION + 1;
        bytes.extend_from_slice(&check(&bytes));
        let text = format!("{PREFIX}{}", base32::encode(&bytes));
        assert_eq!(InvitationCode::parse(&text).unwrap_err(), InvitationError::Newer);
    }

    #[test]
    fn the_name_at_the_remote_says_nothing_of_the_secret() {
        let name = code().name_at_remote();
        assert_eq!(name.len(), 32);
        assert_ne!(name, "07".repeat(16));
        assert_ne!(name, InvitationCode::from_random([8; SECRET_BYTES]).name_at_remote());
        assert_eq!(format!("{:?}", code()), "InvitationCode(…)");
    }
}
