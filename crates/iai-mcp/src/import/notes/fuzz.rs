//! Notes of other programs, damaged: nothing panics, and whatever is read has words.

use super::Peer;

#[test]
fn notes_survive_anything() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/notes");
    iai_fuzz::fuzz(corpus, |bytes| {
        Peer::recognise(bytes);
        for peer in [Peer::MemoryServer, Peer::ClaudeMem, Peer::MemPalace] {
            let Ok(noted) = peer.read(bytes) else { continue };
            assert!(noted.notes.iter().all(|note| !note.text.is_empty()));
        }
    });
}
