//! Takes a store back to an earlier version of its tables: `older FOLDER VERSION`. Without a
//! version it prints the one found and the newest there is. For `cargo xtask crash`.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::path::Path;

use iai_store::{KeySource, StorePaths, take_back, version_found, version_newest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let keys = KeySource::default();
    match words.as_slice() {
        [folder] => {
            let found = version_found(&paths_in(Path::new(folder)), &keys)?;
            println!("{found} {}", version_newest());
        }
        [folder, version] => take_back(&paths_in(Path::new(folder)), &keys, version.parse()?)?,
        _ => return Err("usage: older FOLDER [VERSION]".into()),
    }
    Ok(())
}

fn paths_in(folder: &Path) -> StorePaths {
    StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join(".crypto.key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    }
}
