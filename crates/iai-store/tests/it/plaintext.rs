//! Plain text never rests on disk, whatever part of the store it was written to.

use std::fs;

use iai_store::{NewEvent, NewMemory, NewSetAside, Severity, StoreError};
use serde_json::json;

use crate::fixture::{Home, at, turn};

const CANARY: &str = "canaryzqxwordv";

fn assert_hidden(home: &Home, moment: &str) {
    let mut n_files = 0;
    for entry in fs::read_dir(&home.paths.folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let seen = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        assert!(!seen, "the canary sings in {} {moment}", path.display());
        assert!(!bytes.starts_with(b"SQLite format"), "{} is a plain database", path.display());
        n_files += 1;
    }
    assert!(n_files >= 4);
}

#[test]
fn no_file_of_the_store_shows_what_was_stored() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let memory = NewMemory {
        text: format!("{CANARY} in the text"),
        tags: vec![CANARY.into()],
        provenance: json!({ CANARY: CANARY }),
        cue: Some(CANARY.into()),
        project: Some(CANARY.into()),
        cwd: Some(CANARY.into()),
        ..turn(CANARY, 0, "")
    };
    store
        .write(|w| {
            w.insert(&memory, at(0))?;
            w.set_profile(CANARY, &json!(CANARY), at(0))?;
            w.event(&NewEvent {
                kind: CANARY.into(),
                severity: Some(Severity::Info),
                domain: Some(CANARY.into()),
                at: at(0),
                data: json!(CANARY),
                session: Some(CANARY.into()),
                sources: Vec::new(),
            })?;
            w.set_aside(&NewSetAside {
                file: CANARY.into(),
                line: 1,
                reason: CANARY.into(),
                bytes: CANARY.into(),
                at: at(0),
            })
        })
        .unwrap();
    assert_hidden(&home, "while the log is full");
    store.rebuild_index().unwrap();
    assert_hidden(&home, "after the index was rebuilt");
    store.checkpoint().unwrap();
    assert_hidden(&home, "after a checkpoint");
    let failed = store.write(|w| -> Result<(), StoreError> {
        w.insert(&NewMemory { text: CANARY.repeat(200_000), ..memory.clone() }, at(0))?;
        Err(StoreError::Busy)
    });
    assert!(failed.is_err());
    assert_hidden(&home, "after a write was given up");
    drop(store);
    assert_hidden(&home, "after closing");
    let store = home.open().unwrap();
    let index = store.read().load_index().unwrap();
    assert_eq!(index.document_frequencies(&[CANARY.to_owned()]), [1]);
}
