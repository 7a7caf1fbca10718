//! Damaged files of a store and of a backup: refused with a name, or as good as whole.

use std::fs;
use std::path::{Path, PathBuf};

use iai_store::{BackupAsk, KeySource, MemoryId, StorePaths, back_up, check_backup};

use crate::fixture::{Home, at, insert, turn};

/// A store with a few memories, and the bytes of each of its files.
struct Kept {
    home: Home,
    ids: Vec<(MemoryId, String)>,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Kept {
    fn new() -> Self {
        let home = Home::new();
        let mut store = home.open().unwrap();
        let texts = (0..5).map(|n| format!("memory {n} of a store that is damaged next"));
        let ids =
            (0..).zip(texts).map(|(n, text)| (insert(&mut store, &turn("s", n, &text)), text));
        let ids = ids.collect();
        store.checkpoint().unwrap();
        drop(store);
        let paths = &home.paths;
        let whole = |path: &PathBuf| (path.clone(), fs::read(path).unwrap());
        let files = [&paths.database, &paths.vault, &paths.key_file, &paths.spool_public];
        let files = files.map(whole).to_vec();
        Self { home, ids, files }
    }

    fn bytes_of(&self, path: &Path) -> &[u8] {
        &self.files.iter().find(|(known, _)| known == path).unwrap().1
    }

    /// Puts every file back as it was; what a log or an exchange left beside them goes.
    #[expect(clippy::disallowed_methods, reason = "the folder is a throw-away one")]
    fn mend(&self) {
        for entry in fs::read_dir(&self.home.paths.folder).unwrap() {
            let path = entry.unwrap().path();
            if !self.files.iter().any(|(known, _)| *known == path) {
                fs::remove_file(path).unwrap();
            }
        }
        for (path, bytes) in &self.files {
            fs::write(path, bytes).unwrap();
        }
    }

    /// Opens the store with `bytes` in place of one file: it is refused, or says nothing else.
    fn open_with(&self, path: &Path, bytes: &[u8]) {
        self.mend();
        fs::write(path, bytes).unwrap();
        let Ok(store) = self.home.open() else { return };
        for (id, text) in &self.ids {
            if let Ok(Some(memory)) = store.read().memory(*id) {
                assert_eq!(memory.text, *text, "altered text was served");
            }
        }
    }
}

/// Feeds changed copies of one file of a store.
fn damage(which: fn(&StorePaths) -> &PathBuf) {
    let kept = Kept::new();
    let path = which(&kept.home.paths).clone();
    let corpus = corpus_of(&kept.home, kept.bytes_of(&path), &path);
    iai_fuzz::fuzz(&corpus, |bytes| kept.open_with(&path, bytes));
}

/// Keys are drawn anew for every store: its corpus is what it is made of now.
fn corpus_of(home: &Home, bytes: &[u8], path: &Path) -> String {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let folder = home.outside().join(format!("corpus-{name}"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("whole"), bytes).unwrap();
    fs::write(folder.join("half"), &bytes[..bytes.len() / 2]).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn any_database_is_refused_or_says_what_it_said() {
    damage(|paths| &paths.database);
}

#[test]
fn any_vault_is_refused_or_opens() {
    damage(|paths| &paths.vault);
}

#[test]
fn any_key_is_refused_or_opens() {
    damage(|paths| &paths.key_file);
}

#[test]
fn any_public_key_of_the_spool_is_put_right() {
    damage(|paths| &paths.spool_public);
}

#[test]
fn any_backup_is_refused_unless_it_is_whole() {
    let kept = Kept::new();
    let file = kept.home.outside().join("backup");
    let ask = BackupAsk { file: &file, attached: &[], program: "test 1" };
    let keys = KeySource::default();
    back_up(&kept.home.paths, &keys, &ask, at(9), &mut |_, _| {}).unwrap();
    let whole = fs::read(&file).unwrap();
    let corpus = corpus_of(&kept.home, &whole, &file);
    iai_fuzz::fuzz(&corpus, |bytes| {
        fs::write(&file, bytes).unwrap();
        let checked = check_backup(&file, &kept.home.paths.key_file, &keys);
        assert_eq!(checked.is_ok(), bytes == whole, "{checked:?}");
    });
}
