//! `cargo xtask release`: everything that is handed to users, from one build, byte for byte the
//! same from the same inputs. `docs/releasing.md` says how to check that.

mod bundle;
mod debian;
mod program;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::archive::{Entry, gzip, tar};
use crate::stamp::Commit;
use crate::{repository, stamp};

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What goes along beside the program.
const FILES: &[&str] =
    &["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md", "SECURITY.md"];
/// Folders that go along whole.
const FOLDERS: &[&str] = &["docs", "plugins"];

/// What the developer asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ask {
    /// A program that is built already.
    binary: Option<PathBuf>,
    /// Where the results go; `target/dist` unless said.
    out: Option<PathBuf>,
    /// Where users will download the bundle from; needed for the MCP registry.
    download: Option<String>,
    /// The name in the MCP registry.
    name: Option<String>,
}

impl Ask {
    pub(crate) fn parse(flags: &[&str]) -> Option<Self> {
        let mut ask = Self::default();
        let mut rest = flags;
        while let [flag, value, left @ ..] = rest {
            match *flag {
                "--binary" => ask.binary = Some(PathBuf::from(value)),
                "--out" => ask.out = Some(PathBuf::from(value)),
                "--download" => ask.download = Some((*value).to_owned()),
                "--name" => ask.name = Some((*value).to_owned()),
                _ => return None,
            }
            rest = left;
        }
        rest.is_empty().then_some(ask)
    }
}

/// Everything that decides the bytes of the results.
pub(crate) struct Release {
    /// As `rustc` names it.
    pub(crate) target: String,
    /// The one time in all archives.
    pub(crate) seconds: u64,
    pub(crate) program: Vec<u8>,
    /// Read for people and shells, by the paths they have in the tarball.
    pub(crate) beside: Vec<Entry>,
}

/// A finished file and its name.
type Product = (String, Vec<u8>);

pub(crate) fn run(ask: &Ask) -> Result<(), String> {
    let commit = stamp::commit().ok_or("a release is made of a commit, and git names none")?;
    let binary = match &ask.binary {
        Some(path) => path.clone(),
        None => program::build(&commit)?,
    };
    let root = repository::root();
    let release = gather(&root, &binary, &commit)?;
    let mut products = make(&release, &root)?;
    products.push((format!("iai-mcp-{VERSION}.cdx.json"), sbom::of_repository(&release)?));
    products.push(("server.json".to_owned(), registry_entry(&root, ask, &products)?));
    products.push(sums(&products));
    let out = ask.out.clone().unwrap_or_else(|| root.join("target/dist"));
    let failed = |error| format!("cannot write to {}: {error}", out.display());
    fs::create_dir_all(&out).map_err(failed)?;
    for (name, bytes) in &products {
        fs::write(out.join(name), bytes).map_err(failed)?;
        println!("  {name}  {} bytes", bytes.len());
    }
    println!("commit {}; {}", commit.name, out.display());
    Ok(())
}

/// Reads the files and asks the program for its completions and manual pages.
fn gather(root: &Path, binary: &Path, commit: &Commit) -> Result<Release, String> {
    let mut beside = Vec::new();
    for name in FILES {
        beside.push(Entry::data(*name, read(&root.join(name))?));
    }
    for name in FOLDERS {
        collect(&root.join(name), name, &mut beside)?;
    }
    let stamped = program::stamped(binary, commit)?;
    beside.extend(program::completions(&stamped.path)?);
    beside.extend(program::manual(&stamped.path)?);
    Ok(Release {
        target: program::target()?,
        seconds: commit.seconds,
        program: stamped.bytes,
        beside,
    })
}

fn collect(folder: &Path, name: &str, into: &mut Vec<Entry>) -> Result<(), String> {
    let failed = |error| format!("cannot list {}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(failed)?.is_dir() {
            collect(&entry.path(), &path, into)?;
        } else {
            into.push(Entry::data(path, read(&entry.path())?));
        }
    }
    Ok(())
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Packs the program in every form.
fn make(release: &Release, root: &Path) -> Result<Vec<Product>, String> {
    let name = format!("iai-mcp-{VERSION}-{}", release.target);
    let manifest = read(&root.join("packaging/mcpb/manifest.json"))?;
    let mut products = vec![
        (format!("{name}.tar.gz"), tarball(release, &name)?),
        (format!("{name}.mcpb"), bundle::bundle(release, &manifest)?),
    ];
    products.extend(debian::package(release)?);
    Ok(products)
}

fn tarball(release: &Release, name: &str) -> Result<Vec<u8>, String> {
    let mut entries = vec![Entry::program("iai-mcp", release.program.clone())];
    entries.extend(release.beside.iter().cloned());
    let entries: Vec<Entry> = entries.into_iter().map(|entry| entry.below(name)).collect();
    gzip(&tar(&entries, "", release.seconds)?)
}

/// Returns `server.json`; it names the bundle only where users can get it from somewhere.
fn registry_entry(root: &Path, ask: &Ask, products: &[Product]) -> Result<Vec<u8>, String> {
    let bytes = read(&root.join("packaging/server.json"))?;
    let mut entry: Value = serde_json::from_slice(&bytes)
        .map_err(|error| format!("packaging/server.json: {error}"))?;
    let fields = entry.as_object_mut().ok_or("packaging/server.json is no object")?;
    fields.insert("version".to_owned(), json!(VERSION));
    if let Some(name) = &ask.name {
        fields.insert("name".to_owned(), json!(name));
    }
    let bundle = products.iter().find(|(name, _)| name.ends_with(".mcpb"));
    if let (Some(download), Some((name, bytes))) = (&ask.download, bundle) {
        let package = json!({
            "registryType": "mcpb",
            "identifier": format!("{}/{name}", download.trim_end_matches('/')),
            "version": VERSION,
            "fileSha256": sha256(bytes),
            "transport": {"type": "stdio"},
        });
        fields.insert("packages".to_owned(), json!([package]));
    }
    Ok(pretty(&entry))
}

fn sums(products: &[Product]) -> Product {
    let mut lines: Vec<String> =
        products.iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect();
    lines.sort_by(|a, b| a.get(64..).cmp(&b.get(64..)));
    ("SHA256SUMS".to_owned(), lines.concat().into_bytes())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON as people read it, with an end of line.
fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::archive::read_tar;

    /// A release of a program of a few bytes.
    pub(super) fn stand_in() -> Release {
        let beside = [
            ("LICENSE-MIT", "Permission is hereby granted"),
            ("LICENSE-APACHE", "Apache License"),
            ("README.md", "# iai-mcp\n"),
            ("CHANGELOG.md", "# Changes\n"),
            ("completions/iai-mcp.bash", "complete\n"),
            ("completions/_iai-mcp", "#compdef\n"),
            ("completions/iai-mcp.fish", "complete\n"),
            ("man/iai-mcp.1", ".TH iai-mcp 1\n"),
            ("plugins/iai-mcp/.mcp.json", "{}\n"),
        ];
        Release {
            target: "x86_64-unknown-linux-gnu".to_owned(),
            seconds: 1_700_000_000,
            program: b"\x7fELF GLIBC_2.9 GLIBC_2.34 GLIBC_2.17".to_vec(),
            beside: beside.map(|(path, text)| Entry::data(path, text)).to_vec(),
        }
    }

    #[test]
    fn the_same_inputs_give_the_same_bytes() {
        let root = repository::root();
        let mut turned = stand_in();
        turned.beside.reverse();
        let products = make(&stand_in(), &root).unwrap();
        assert_eq!(products, make(&turned, &root).unwrap(), "whatever order files are found in");
        let names: Vec<&str> = products.iter().map(|(name, _)| name.as_str()).collect();
        let start = format!("iai-mcp-{VERSION}-x86_64-unknown-linux-gnu");
        let want = [
            format!("{start}.tar.gz"),
            format!("{start}.mcpb"),
            format!("iai-mcp_{VERSION}-1_amd64.deb"),
        ];
        assert_eq!(names, want);
        let (_, sums) = sums(&products);
        assert_eq!(String::from_utf8(sums).unwrap().lines().count(), 3);
    }

    #[test]
    fn a_tarball_holds_one_folder_with_a_program_in_it() {
        let mut archive = Vec::new();
        let packed = tarball(&stand_in(), "iai-mcp-1").unwrap();
        flate2::read::GzDecoder::new(&*packed).read_to_end(&mut archive).unwrap();
        let files = read_tar(&archive);
        assert!(files.iter().all(|(path, ..)| path.starts_with("iai-mcp-1/")), "{files:?}");
        let program = files.iter().find(|(path, ..)| path == "iai-mcp-1/iai-mcp").unwrap();
        assert_eq!((program.1, program.2), (0o755, 1_700_000_000));
        assert_eq!(program.3, stand_in().program);
        assert!(files.iter().any(|(path, ..)| path == "iai-mcp-1/plugins/iai-mcp/.mcp.json"));
    }

    #[test]
    fn the_registry_learns_of_the_bundle_only_with_a_place_to_get_it() {
        let root = repository::root();
        let products = [("x.mcpb".to_owned(), b"abc".to_vec())];
        let entry = |ask: &Ask| -> Value {
            serde_json::from_slice(&registry_entry(&root, ask, &products).unwrap()).unwrap()
        };
        assert_eq!(entry(&Ask::default()).get("packages"), None);
        let ask =
            Ask::parse(&["--download", "https://x.y/v1/", "--name", "io.github.a/b"]).unwrap();
        let told = entry(&ask);
        assert_eq!(told.pointer("/name"), Some(&json!("io.github.a/b")));
        assert_eq!(told.pointer("/version"), Some(&json!(VERSION)));
        assert_eq!(told.pointer("/packages/0/identifier"), Some(&json!("https://x.y/v1/x.mcpb")));
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(told.pointer("/packages/0/fileSha256"), Some(&json!(sum)));
    }

    #[test]
    fn flags_come_in_pairs() {
        assert_eq!(Ask::parse(&[]), Some(Ask::default()));
        assert_eq!(Ask::parse(&["--binary"]), None);
        assert_eq!(Ask::parse(&["--nonsense", "x"]), None);
    }
}
