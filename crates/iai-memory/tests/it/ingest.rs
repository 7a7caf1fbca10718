//! Taking in: once, whatever happens, and never by similarity.

use iai_memory::{BadLine, CaptureAsk, Ingested, ReceiptState, Role, Tier};

use crate::fixture::{Home, batch, days_ago, now, turn};

fn ask(text: &str) -> CaptureAsk {
    CaptureAsk {
        text: text.to_owned(),
        cue: None,
        tier: Tier::Episodic,
        role: Role::User,
        session: "s".to_owned(),
        project: None,
        cwd: None,
    }
}

#[test]
fn a_batch_delivered_twice_is_stored_once() {
    let home = Home::new();
    let turns = || vec![turn(0, "yes", now()), turn(1, "no", now()), turn(2, "yes", now())];
    let first = home.engine.store_batch(&batch("a", turns()), now()).unwrap();
    assert_eq!(first, Ingested { stored: 3, known: 0, set_aside: 0, forgotten: 0 });
    let second = home.engine.store_batch(&batch("b", turns()), now()).unwrap();
    assert_eq!(second, Ingested { stored: 0, known: 3, set_aside: 0, forgotten: 0 });
    assert_eq!(home.engine.overview().unwrap().memories, 3);
}

#[test]
fn files_stored_together_are_counted_and_finished_one_by_one() {
    let home = Home::new();
    let files = [
        batch("a", vec![turn(0, "yes", now()), turn(1, "no", now())]),
        batch("b", vec![turn(0, "yes", now()), turn(2, "perhaps", now())]),
        batch("c", Vec::new()),
    ];
    let each = home.engine.store_batches(&files, now()).unwrap();
    let counts: Vec<(u64, u64)> = each.iter().map(|file| (file.stored, file.known)).collect();
    assert_eq!(counts, [(2, 0), (1, 1), (0, 0)]);
    for file in ["a", "b", "c"] {
        let receipt = home.engine.receipt(file).unwrap().unwrap();
        assert_eq!(receipt.state, ReceiptState::Done, "{file}");
    }
    assert_eq!(home.engine.overview().unwrap().memories, 3);
}

#[test]
fn nearly_equal_sentences_are_different_memories() {
    let home = Home::new();
    for text in ["launch on 06-01", "launch on 09-01", "must return", "must not return"] {
        assert_eq!(home.engine.capture(&ask(text), now()).unwrap().status, "inserted");
    }
    assert_eq!(home.engine.capture(&ask("must return"), now()).unwrap().status, "reinforced");
    assert_eq!(home.engine.capture(&ask(" \n"), now()).unwrap().status, "skipped");
    assert_eq!(home.engine.overview().unwrap().memories, 4);
}

#[test]
fn a_bad_line_is_kept_as_evidence_with_its_neighbours_stored() {
    let home = Home::new();
    let mut delivered = batch("f", vec![turn(0, "good", now())]);
    delivered.bad_lines.push(BadLine {
        line: 2,
        reason: "not JSON".to_owned(),
        evidence: b"{oops".to_vec(),
        n_bytes: 5,
    });
    for _ in 0..2 {
        home.engine.store_batch(&delivered, now()).unwrap();
    }
    let overview = home.engine.overview().unwrap();
    assert_eq!((overview.memories, overview.set_aside), (1, 1));
}

#[test]
fn a_put_off_file_remembers_its_attempts_and_is_done_at_last() {
    let home = Home::new();
    let later = now() + jiff::SignedDuration::from_secs(60);
    assert_eq!(home.engine.put_off("f", "disk full", later, now()).unwrap(), 1);
    assert_eq!(home.engine.put_off("f", "disk full", later, now()).unwrap(), 2);
    let waiting = home.engine.receipt("f").unwrap().unwrap();
    assert_eq!((waiting.next_attempt_at, waiting.attempts), (Some(later), 2));
    home.engine.store_batch(&batch("f", vec![turn(0, "x", days_ago(1))]), now()).unwrap();
    let done = home.engine.receipt("f").unwrap().unwrap();
    assert_eq!((done.state, done.next_attempt_at, done.n_stored), (ReceiptState::Done, None, 1));
}
