//! The bundle that desktop hosts install with one click: the program and what it says about itself.

use serde_json::{Value, json};

use super::{Release, VERSION, pretty};
use crate::archive::{Entry, zip};

/// Returns the `.mcpb`, its manifest told the version and the one system it runs on.
pub(super) fn bundle(release: &Release, manifest: &[u8]) -> Result<Vec<u8>, String> {
    let manifest = told(release, manifest)?;
    let entry_point = manifest
        .pointer("/server/entry_point")
        .and_then(Value::as_str)
        .ok_or("the manifest of the bundle names no entry point")?;
    let mut entries = vec![Entry::program(entry_point, release.program.clone())];
    entries.push(Entry::data("manifest.json", pretty(&manifest)));
    let licences = release.beside.iter().filter(|entry| entry.path.starts_with("LICENSE-"));
    entries.extend(licences.cloned());
    zip(&entries)
}

fn told(release: &Release, manifest: &[u8]) -> Result<Value, String> {
    let mut manifest: Value = serde_json::from_slice(manifest)
        .map_err(|error| format!("the manifest of the bundle: {error}"))?;
    let platform = match () {
        () if release.target.contains("-linux-") => "linux",
        () if release.target.contains("-darwin") => "darwin",
        () => return Err(format!("no bundle is made for {}", release.target)),
    };
    let fields = manifest.as_object_mut().ok_or("the manifest of the bundle is no object")?;
    fields.insert("version".to_owned(), json!(VERSION));
    fields.insert("compatibility".to_owned(), json!({"platforms": [platform]}));
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    use super::super::tests::stand_in;
    use super::*;

    #[test]
    fn the_manifest_names_the_version_and_the_one_system() {
        let manifest = br#"{"version": "0", "server": {"entry_point": "server/iai-mcp"}}"#;
        let said = told(&stand_in(), manifest).unwrap();
        assert_eq!(said.pointer("/version"), Some(&json!(VERSION)));
        assert_eq!(said.pointer("/compatibility/platforms"), Some(&json!(["linux"])));
        assert!(bundle(&stand_in(), manifest).is_ok());
        assert!(bundle(&stand_in(), b"{}").is_err());
        let elsewhere = Release { target: "x86_64-pc-windows-msvc".to_owned(), ..stand_in() };
        assert!(bundle(&elsewhere, manifest).is_err());
    }
}
