//! Invitations in a shared folder: one small file each, taken by moving it away.

use std::path::{Path, PathBuf};

use iai_sync::RemoteError;
use sha2::{Digest as _, Sha256};

use super::folder_files as files;
use crate::clock;

const FOLDER: &str = "invitations";
const SUFFIX: &str = ".inv";
const NAME_BYTES_MAX: usize = 128;
const SEALED_BYTES_MAX: usize = 64 * 1024;

/// Leaves an invitation, and drops those that have expired.
pub(super) fn put(
    root: &Path,
    name: &str,
    sealed: &[u8],
    expires_ms: i64,
) -> Result<(), RemoteError> {
    let file = file_name(name)?;
    if SEALED_BYTES_MAX < sealed.len() {
        return Err(RemoteError::Refused("the invitation is too large".to_owned()));
    }
    let folder = root.join(FOLDER);
    files::ensure_folder(&folder)?;
    drop_expired(&folder, clock::now().as_millisecond())?;
    let mut bytes = expires_ms.to_le_bytes().to_vec();
    bytes.extend_from_slice(sealed);
    let check = Sha256::digest(&bytes);
    bytes.extend_from_slice(&check);
    files::write(&folder, &file, &bytes)
}

/// Takes an invitation away.
pub(super) fn take(root: &Path, name: &str, now_ms: i64) -> Result<Option<Vec<u8>>, RemoteError> {
    let folder = root.join(FOLDER);
    let path = folder.join(file_name(name)?);
    // A file that is still being copied is not there yet, and stays.
    let Some((expires_ms, sealed)) = files::read(&path)?.as_deref().and_then(read) else {
        return Ok(None);
    };
    let taken = taken_name(&path);
    if !files::claim(&path, &taken)? {
        return Ok(None);
    }
    files::delete(&taken)?;
    Ok((now_ms < expires_ms).then_some(sealed))
}

fn drop_expired(folder: &Path, now_ms: i64) -> Result<(), RemoteError> {
    let names = files::list(folder)?.unwrap_or_default();
    for name in names.iter().filter(|name| name.ends_with(SUFFIX)) {
        let path = folder.join(name);
        let told = files::read(&path)?.as_deref().and_then(read);
        if told.is_some_and(|(expires_ms, _)| expires_ms <= now_ms) {
            files::delete(&path)?;
        }
    }
    Ok(())
}

fn read(bytes: &[u8]) -> Option<(i64, Vec<u8>)> {
    let (content, check) = bytes.split_last_chunk::<32>()?;
    let found: [u8; 32] = Sha256::digest(content).into();
    let (expires_ms, sealed) = content.split_first_chunk::<8>().filter(|_| found == *check)?;
    Some((i64::from_le_bytes(*expires_ms), sealed.to_vec()))
}

fn file_name(name: &str) -> Result<String, RemoteError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || NAME_BYTES_MAX < name.len() || !name.chars().all(is_plain) {
        return Err(RemoteError::Refused(format!("`{name}` is no name of an invitation")));
    }
    Ok(format!("{name}{SUFFIX}"))
}

fn taken_name(path: &Path) -> PathBuf {
    path.with_extension(format!("{}.taken", std::process::id()))
}
