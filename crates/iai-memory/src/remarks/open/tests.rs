//! Ends of conversations both ways.

use iai_store::{MemoryId, Tier};
use jiff::Timestamp;

use super::deeds::REPORTS_MAX;
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
    unanswered("mail the sender in that case");
    let sender = "mail the sender in that case";
    check(User, &format!("good. {sender}"), Some((sender, Why::Unanswered)));
    unanswered("where does the old key live");
    unanswered("Mach noch den Export für die Kasse");
    unanswered("den Export noch als PDF bitte");
    unanswered("Добавь повторы в загрузчик файлов");
    unanswered("Ajoute des essais à cet envoi");
    unanswered("Añade reintentos a la carga");
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
    put_off(Assistant, "Genau, SKR 49 ist noch offen.");
    put_off(User, "fehlt also nur noch der Abgleich der Konten");
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
        "hm ok, she's right I guess",
        "Petra Lang macht's wieder",
        "mach ich am Wochenende mit Frau Lang",
        "Test is green on both machines",
        "deployed, looks flat since an hour",
        "remind me what we decided about names, ach nee",
        "don't remind me of that one",
        "the worker hangs, still waiting for the lock",
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

/// What is labelled, with the reason, or nothing.
#[track_caller]
fn check_label(text: &str, expect: Option<(&str, Why)>) {
    assert_eq!(labelled(text), expect, "{text}");
}

#[test]
fn what_somebody_calls_open_is_open() {
    for text in [
        "Open: upgrade the read replica.",
        "Left for later: alert on disk usage",
        "Parked: home screen widget.",
        "not done yet: the read replica",
        "TODO for next time: measure the peak",
        "**Still open:** the index".trim_start_matches('*'),
        "Ok, on hold: the new icon",
        "Remind me: call the bank",
        "I'll keep that open: measure the peak",
        "Offen bleibt: Quittungen nachreichen",
        "Für später: Inventarliste",
        "На потом: обновить ключ",
        "Pour plus tard : la migration",
        "Pendiente: la migración",
    ] {
        check_label(text, Some((text, Why::PutOff)));
    }
    let said = "leave it, we need it. not done yet: the read replica is on 14";
    check_label(said, Some(("not done yet: the read replica is on 14", Why::PutOff)));
    check_label("next: sign the webhooks", Some(("next: sign the webhooks", Why::Next)));
    for text in [
        "Open: none.",
        "TODO: nothing left",
        "Offen: nichts mehr",
        "Open: 12, closed: 3",
        "Open: `src/main.rs`",
        "Open the file: it is empty",
        "open:8080 is the port",
        "Next to it: the other key",
        "Later we saw this: it works",
        "The states are these: open and closed",
        "Parked: is that a state?",
    ] {
        check_label(text, None);
    }
}

#[test]
fn a_long_line_is_searched_for_labels_in_a_moment() {
    check_label(&("a;".repeat(200_000) + ": x"), None);
    check_label(&"todo: nothing; ".repeat(20_000), None);
    let said = "ж; ".repeat(1000) + "на потом: обновить ключ";
    check_label(&said, Some(("на потом: обновить ключ", Why::PutOff)));
    let far = format!("Open{}: the index", " ".repeat(LABEL_BYTES_MAX));
    check_label(&far, None);
}

/// A conversation that the user begins.
fn talk(texts: &[&str]) -> Vec<Memory> {
    let role = |n: usize| if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let turns = texts.iter().enumerate().map(|(n, text)| Memory {
        id: MemoryId::from_bytes([u8::try_from(n).unwrap(); 16]),
        ..turn(role(n), text)
    });
    turns.collect()
}

#[track_caller]
fn check_talk(texts: &[&str], expect: &[&str]) {
    let turns = talk(texts);
    let found: Vec<&str> = open_threads(&turns).iter().map(|thread| thread.sentence).collect();
    assert_eq!(found, expect, "{texts:?}");
}

#[test]
fn every_thread_of_a_session_is_found_once() {
    let (key, mail) = ("TODO: rotate the signing key", "TODO: renew the signing certificate");
    check_talk(&[key, "ok", mail, "Both noted."], &[mail, key]);
    let long = [key, "Noted.", "fix the header", "Fixed.", "and the footer", "Fixed.", "ship it"];
    check_talk(&long, &[key]);
    // In passing, and long ago: the talk went on.
    check_talk(&["The docs are still missing", "I see.", "a", "b", "c", "d", "e"], &[]);
    // The assistant repeats it in words of its own.
    let echo = "Left for later: alert on disk usage of the broker.";
    check_talk(&["next: alert when the disk is above 80. not today", echo], &[echo]);
    check_talk(
        &["replace the disks with ssds in may. remind me", "Sure."],
        &["replace the disks with ssds in may. remind me"],
    );
    check_talk(
        &["Anna wants an icon, still waiting for it", "ok"],
        &["Anna wants an icon, still waiting for it"],
    );
    let many: Vec<String> =
        (0..20).map(|n| format!("TODO: task {}", "abc".repeat(n + 1))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(open_threads(&talk(&many)).len(), THREADS_MAX);
}

#[test]
fn of_a_long_answer_the_end_counts() {
    let long = format!("TODO: paint the fence\n{}", "Water flows through the lock.\n".repeat(200));
    check_talk(&["go on", &long, "nice"], &[]);
    check_talk(
        &["go on", &format!("{long}TODO: paint the wall"), "nice"],
        &["TODO: paint the wall"],
    );
    check_talk(&[&long, "ok"], &["TODO: paint the fence"]);
}

#[test]
fn a_pasted_list_is_compared_with_long_answers_in_a_moment() {
    let list: String = (0..2000).map(|n| format!("TODO: paint wall w{n:04}\n")).collect();
    let answer = "Fixed the header of the page. ".repeat(2000);
    let mut texts = vec![list.as_str()];
    texts.extend([answer.as_str(), "go on"].repeat(8));
    let turns = talk(&texts);
    let found = open_threads(&turns);
    assert_eq!(found.len(), THREADS_MAX);
    assert_eq!(found[0].sentence, "TODO: paint wall w1999");
}

#[test]
fn what_stands_before_a_long_list_is_not_looked_at() {
    let key = "TODO: rotate the signing key";
    let list = |n: usize| "TODO: paint the fence\n".repeat(n);
    let check = |n: usize, expect: &[&str]| {
        check_talk(&[key, "ok", list(n).as_str(), "Painted the fence.", "nice"], expect);
    };
    check(CANDIDATES_MAX - 1, &[key]);
    check(CANDIDATES_MAX, &[]);
}

#[test]
fn a_report_is_read_up_to_where_it_is_a_log() {
    let key = "TODO: rotate the signing key";
    let log = |n: usize| "Fixed the header. ".repeat(n) + "Rotated the signing key.";
    let check = |n: usize, expect: &[&str]| check_talk(&[key, log(n).as_str(), "nice"], expect);
    check(REPORTS_MAX - 1, &[]);
    check(REPORTS_MAX, &[key]);
}

#[test]
fn what_is_reported_as_done_is_closed() {
    for (said, answer) in [
        ("Die Kategorie Reisen fehlt noch", "Ist ergänzt."),
        ("the changelog section is missing", "Added."),
        ("The docs are still missing", "Yes, I wrote the docs."),
        ("TODO: rotate the signing key", "Done: the signing key is new."),
        ("TODO: rotate the signing key", "Rotated the signing key and restarted."),
        ("Es fehlt noch: der Abgleich", "Habe ich eben eingebaut."),
        ("ещё не готова страница", "Готово."),
        ("La section reste à faire", "C'est fait."),
        ("Queda pendiente la migración", "Hecho."),
    ] {
        check_talk(&[said, answer, "nice"], &[]);
    }
    for (said, answer) in [
        ("TODO: rotate the signing key", "Added to the list."),
        ("TODO: rotate the signing key", "Noted."),
        ("TODO: rotate the signing key", "I wrote it down."),
        ("TODO: rotate the signing key", "I fixed the header meanwhile."),
        ("TODO: rotate the signing key", "It is not done yet."),
        ("Die Kategorie Reisen fehlt noch", "Das wird später ergänzt."),
        ("the changelog section is missing", "Should it be added?"),
    ] {
        check_talk(&[said, answer, "nice"], &[said]);
    }
    // Asked for after the assistant named it, and done.
    check_talk(
        &["how far are we", "The docs are still missing.", "write them", "Done.", "ok"],
        &[],
    );
}

#[test]
fn what_a_user_says_behind_a_paste_is_found_and_the_paste_is_not() {
    let log = "TODO: rotate the log of the runner\n".repeat(500);
    let text = format!("Look:\n```\n{log}```\nTODO: rotate the signing key");
    let turns = [turn(Role::User, &text), turn(Role::Assistant, "Noted.")];
    let found = open_threads(&turns);
    let found: Vec<&str> = found.iter().map(|thread| thread.sentence).collect();
    assert_eq!(found, ["TODO: rotate the signing key"]);
}

#[test]
fn what_is_taken_up_behind_a_paste_is_heard() {
    let sentence = "Next time: the read replica";
    let mut spoken = Spoken::listening_for([sentence].into_iter());
    spoken.hear(&format!("{}The fence is painted.", "line of a log\n".repeat(3000)));
    assert!(!spoken.takes_up(sentence));
    spoken.hear(&format!("{}The read replica is up.", "line of a log\n".repeat(3000)));
    assert!(spoken.takes_up(sentence));
}
