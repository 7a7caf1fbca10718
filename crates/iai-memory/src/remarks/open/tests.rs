//! Ends of conversations both ways.

use iai_store::{MemoryId, Tier};
use jiff::Timestamp;

use super::*;

fn turn(role: Role, text: &str) -> Memory {
    Memory {
        id: MemoryId::from_bytes([u8::try_from(text.len() % 200).unwrap(); 16]),
        host: "h".to_owned(),
        session: "s".to_owned(),
        turn_uuid: None,
        turn_index: None,
        role,
        tier: Tier::Episodic,
        project: None,
        cwd: None,
        turn_at: Timestamp::UNIX_EPOCH,
        captured_at: Timestamp::UNIX_EPOCH,
        stored_at: Timestamp::UNIX_EPOCH,
        text: text.to_owned(),
        language: None,
        tags: Vec::new(),
        provenance: serde_json::json!({}),
        cue: None,
        pinned: false,
        content_hash: [0; 32],
        strength: 1.0,
        community: None,
        valid_from: Timestamp::UNIX_EPOCH,
        valid_to: None,
    }
}

/// The last turn is the user's when its role says so; before it, somebody said something.
#[track_caller]
fn check(role: Role, text: &str, expect: Option<(&str, Why)>) {
    let turns = [turn(Role::User, "Hello there"), turn(role, text)];
    let found = open_threads(&turns);
    let first = found.first().map(|thread| (thread.sentence, thread.why));
    assert_eq!(first, expect, "{text}");
}

#[test]
fn what_was_left_open_is_found() {
    use Role::{Assistant, User};
    let unanswered = |text| check(User, text, Some((text, Why::Unanswered)));
    unanswered("Why does the uploader retry twice?");
    unanswered("Now add retries to the uploader.");
    unanswered("I need the report by customer as well");
    unanswered("Wie lange läuft der Test?");
    let put_off = |role, text| check(role, text, Some((text, Why::PutOff)));
    put_off(User, "Let's continue with the retry policy tomorrow.");
    put_off(User, "TODO: rotate the signing key");
    let next = |text| check(Assistant, text, Some((text, Why::Next)));
    next("Next steps: write the migration and test it.");
    put_off(User, "We still need to update the docs.");
    put_off(User, "Let's leave the backfill for later");
    put_off(User, "Changelog half written, the breaking changes section is missing.");
    put_off(Assistant, "The OpenAPI docs stay unfinished: that is left to do.");
    put_off(Assistant, "Okay, the backfill of the index stays open.");
    put_off(User, "Remind me to renew the certificate");
    put_off(User, "Lass uns morgen damit weiter machen");
    put_off(User, "Продолжим завтра с миграцией");
    put_off(User, "On continue demain avec la migration");
    put_off(User, "Seguimos mañana con la migración");
    let awaits = |text| check(Assistant, text, Some((text, Why::AwaitsTheUser)));
    awaits("Which of the two queues is the live one?");
    awaits("Should I drop the old table or keep it?");
}

#[test]
fn what_was_finished_is_not_told() {
    use Role::{Assistant, User};
    for text in [
        "Thanks, that's all for today",
        "Perfect!",
        "ok bye",
        "stop here for today",
        "let's call it a day",
        "looks good to me, thanks",
        "We decided to ship it on Monday.",
        "I will look at it in the evening",
    ] {
        check(User, text, None);
    }
    for text in [
        "Done: all tests pass.",
        "Would you like me to add tests as well?",
        "Is there anything else I can do?",
        "Shall I go on with that?",
        "What would you like to focus on next?",
        "Which approach would you prefer?",
        "Would you like me to read the files, or look at one issue?",
        "How does that sound to everybody?",
        "The next release is on Tuesday.",
        "I will continue tomorrow's entry below.",
    ] {
        check(Assistant, text, None);
    }
}

#[test]
fn the_turn_that_put_it_off_may_be_followed_by_a_farewell() {
    let turns = [
        turn(Role::User, "Let's continue with the parser tomorrow."),
        turn(Role::Assistant, "Sure, see you then."),
        turn(Role::User, "bye"),
    ];
    let found = open_threads(&turns);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].sentence, "Let's continue with the parser tomorrow.");
    assert!(open_threads(&[]).is_empty());
}
