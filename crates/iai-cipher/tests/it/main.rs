//! Databases through SQLite itself: ours, and one that SQLCipher with OpenSSL wrote.

#![expect(
    clippy::unwrap_used,
    reason = "clippy's leave for tests ends at the functions that carry #[test]"
)]

use std::fs;
use std::path::Path;

use rusqlite::Connection;

/// Made with SQLCipher 4.12.0 and OpenSSL, with the settings of every new database of it.
const OTHER_BUILD: &[u8] = include_bytes!("other-build.db");
const N_SENTENCES: i64 = 100;
const PAGE_BYTES: usize = 4096;

fn open(path: &Path, first_byte: u8) -> Connection {
    iai_cipher::ensure_ready();
    let connection = Connection::open(path).unwrap();
    let key: String = (first_byte..first_byte + 32).map(|byte| format!("{byte:02x}")).collect();
    let settings = format!("PRAGMA cipher_log_level = NONE; PRAGMA key = \"x'{key}'\";");
    connection.execute_batch(&settings).unwrap();
    connection
}

fn n_sentences(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .query_row("SELECT count(*) FROM said WHERE words LIKE 'sentence %'", [], |row| row.get(0))
}

fn n_damaged(connection: &Connection) -> usize {
    let mut check = connection.prepare("PRAGMA cipher_integrity_check").unwrap();
    check.query_map([], |_| Ok(())).unwrap().count()
}

#[test]
fn a_database_written_with_openssl_opens_and_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    fs::write(&path, OTHER_BUILD).unwrap();
    let connection = open(&path, 0);
    assert_eq!((n_sentences(&connection), n_damaged(&connection)), (Ok(N_SENTENCES), 0));
    connection.execute_batch("INSERT INTO said SELECT words FROM said").unwrap();
    drop(connection);
    assert_eq!(n_sentences(&open(&path, 0)), Ok(2 * N_SENTENCES));
}

#[test]
fn the_wrong_key_and_a_changed_bit_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    fs::write(&path, OTHER_BUILD).unwrap();
    assert!(n_sentences(&open(&path, 1)).is_err(), "another key");
    for place in [PAGE_BYTES + 1, OTHER_BUILD.len() - 1] {
        let mut bytes = OTHER_BUILD.to_vec();
        bytes[place] ^= 1;
        fs::write(&path, bytes).unwrap();
        let connection = open(&path, 0);
        assert_eq!(n_damaged(&connection), 1, "byte {place}");
        assert!(n_sentences(&connection).is_err(), "byte {place}");
    }
}

#[test]
fn nothing_rests_in_clear_and_the_same_words_never_look_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let made = ["a", "b"].map(|name| {
        let path = folder.path().join(name);
        let words = "quokka ".repeat(2000);
        let connection = open(&path, 0);
        connection.execute_batch("CREATE TABLE said (words TEXT NOT NULL)").unwrap();
        connection.execute("INSERT INTO said VALUES (?)", [&words]).unwrap();
        drop(connection);
        fs::read(path).unwrap()
    });
    let [first, second] = &made;
    assert_eq!(first.len(), second.len());
    assert!(!first.windows(6).any(|window| window == b"quokka"));
    let equal = first.chunks(16).zip(second.chunks(16)).filter(|(a, b)| a == b).count();
    assert_eq!(equal, 0, "salt and every page differ");
}

#[test]
fn the_ciphers_are_ours() {
    let folder = tempfile::tempdir().unwrap();
    let connection = open(&folder.path().join("x.db"), 0);
    for (pragma, want) in [("cipher_provider", "rustcrypto"), ("cipher_status", "1")] {
        let found: String = connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap();
        assert_eq!(found, want, "{pragma}");
    }
}
