//! Feeds a parser with damaged copies of good input; only tests use it.
//!
//! A target is a closure that must not panic, whatever bytes it gets, and may assert what has to
//! hold of its answer. Its corpus is a folder of files beside the crate: good inputs, and every
//! input that ever broke it. A run tries them all, then changed copies. `IAI_FUZZ_RUNS` says how
//! many (a thousand by default, so that every test run fuzzes a little), `IAI_FUZZ_SEED` which. An
//! input that breaks a target is written to `target/fuzz` and belongs into the corpus.

mod mutate;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use mutate::Mutator;

const RUNS: u64 = 1000;
const SEED: u64 = 1;

/// Feeds `target` with the files in `folder`, then with changed copies of them.
///
/// # Panics
///
/// When the target does, or when there is no corpus.
pub fn fuzz(folder: &str, target: impl Fn(&[u8])) {
    let folder = Path::new(folder);
    let corpus = corpus(folder);
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for (path, input) in &corpus {
        attempt(&name, input, &target, &path.display().to_string());
    }
    let seed = number("IAI_FUZZ_SEED").unwrap_or(SEED);
    let inputs: Vec<Vec<u8>> = corpus.into_iter().map(|(_, input)| input).collect();
    let mut mutator = Mutator::new(&inputs, seed);
    for n in 0..number("IAI_FUZZ_RUNS").unwrap_or(RUNS) {
        let input = mutator.changed();
        attempt(&name, &input, &target, &format!("change {n} of seed {seed}"));
    }
}

fn attempt(name: &str, input: &[u8], target: &impl Fn(&[u8]), which: &str) {
    let Err(broken) = panic::catch_unwind(AssertUnwindSafe(|| target(input))) else { return };
    let kept = keep(name, input);
    complain(&format!("{name} broke at {which}; the input is {}", kept.display()));
    panic::resume_unwind(broken);
}

#[expect(clippy::print_stderr, reason = "a test that fails says where its input is")]
fn complain(sentence: &str) {
    eprintln!("{sentence}");
}

/// Writes an input that broke a target to where people look for it.
fn keep(name: &str, input: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz");
    let path = folder.join(format!("{name}-{:016x}", mutate::fingerprint(input)));
    // The panic that is on its way matters more than a file that cannot be written.
    drop(fs::create_dir_all(&folder).and_then(|()| fs::write(&path, input)));
    path
}

/// Returns the files of a corpus by name, so that a seed always means the same run.
#[expect(clippy::expect_used, reason = "a target without a corpus tests nothing")]
fn corpus(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("a folder of inputs");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let files: Vec<(PathBuf, Vec<u8>)> =
        paths.into_iter().filter_map(|path| Some((path.clone(), fs::read(path).ok()?))).collect();
    assert!(!files.is_empty(), "{} holds no input", folder.display());
    files
}

#[expect(clippy::disallowed_methods, reason = "only tests come here, and people steer them so")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/own");

    #[test]
    fn a_parser_that_trusts_a_length_is_broken_soon() {
        let trusting = |input: &[u8]| {
            let length = input.first().map_or(0, |byte| usize::from(*byte));
            assert!(length == 0 || input.len() > length, "reads past the end");
        };
        let broken = panic::catch_unwind(AssertUnwindSafe(|| fuzz(OWN, trusting)));
        assert!(broken.is_err());
    }

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let inputs = vec![b"{\"a\": [1, 2]}".to_vec(), b"other".to_vec()];
        let run = |seed| {
            let mut mutator = Mutator::new(&inputs, seed);
            (0..50).map(|_| mutator.changed()).collect::<Vec<_>>()
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
        assert!(run(3).iter().any(|input| !inputs.contains(input)));
    }
}
