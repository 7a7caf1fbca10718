//! Sentences both ways: what is taken, and what only looks like it.

use super::*;

#[track_caller]
fn decision(sentence: &str, speaker: Speaker, expect: bool) {
    assert_eq!(is_decision(sentence, speaker), expect, "{speaker:?}: {sentence}");
}

#[test]
fn decisions_are_what_was_settled() {
    use Speaker::{Assistant, User};
    for (sentence, speaker) in [
        ("We decided to keep Postgres.", User),
        ("We've decided against Kafka", Assistant),
        ("Decision: ship on the first of June.", Assistant),
        ("**Decision:** amounts stay integers", Assistant),
        ("Decided to rename the service to heron.", User),
        ("Let's use SQLite for the cache.", User),
        ("ok, let's go with BM25 alone", User),
        ("Yes, we'll use JSON lines", User),
        ("We agreed on four retries with jitter.", Assistant),
        ("So we settled on BM25.", Assistant),
        ("Going with the blue one", User),
        ("I've decided to split the crate", User),
        ("We're switching to pnpm.", Assistant),
        ("It was decided that releases happen on Tuesdays", User),
        ("We decided to retry only if the call times out", User),
        ("We agreed that we would not use Kafka", Assistant),
        ("Мы решили не использовать Kafka", User),
        ("Wir haben uns für Rust entschieden.", User),
        ("Wir haben gestern beschlossen, den Dienst umzubenennen", User),
        ("Lass uns Postgres nehmen", User),
        ("Мы решили перейти на Rust.", User),
        ("Решили использовать SQLite", User),
        ("Договорились: релиз во вторник", User),
        ("On a décidé de garder Postgres.", User),
        ("On part sur une file simple", User),
        ("Hemos decidido usar Rust.", User),
        ("Change of plan: the broker goes to port 8884.", User),
        ("ClickHouse from here on.", User),
        ("We drop the old queue, licence trouble.", User),
        ("We don't use spot instances for the database anymore.", User),
        ("I changed my mind about plugins, 1.0 gets a minimal system", User),
        ("Nos quedamos con Postgres", User),
        ("let's key them by scanner and sequence. decided.", User),
        ("keep both, let the user pick. agreed", User),
        ("the price is 4.99, no subscription. final.", User),
        ("wir nummerieren nach Jahr, beschlossen", User),
        ("agreed, we go with NATS", User),
        ("Der Vorstand hat beschlossen: der Beitrag steigt auf 72 Euro", User),
        ("the team has settled on plain gofmt after all", User),
        ("The client decided to wait for the audit", Assistant),
        ("Then we decide: weekly releases", User),
        ("We decide: mails at six, one for each, no push in the first version.", User),
        ("we settled on magic links, valid for an hour, and passkeys come later maybe", User),
        ("Dann entscheiden wir: jede Woche ein Release", User),
        ("ok, postgres it is", User),
        ("let's settle on four retries", User),
        ("wir machen es mit Celery", User),
        ("dann nehmen wir Postgres", User),
    ] {
        decision(sentence, speaker, true);
    }
}

#[test]
fn thoughts_questions_and_next_steps_are_no_decisions() {
    use Speaker::{Assistant, User};
    for (sentence, speaker) in [
        ("Should we go with Postgres?", User),
        ("We haven't decided yet.", User),
        ("we'll go with Postgres, maybe", User),
        ("maybe we settled on Postgres, I forgot the talk", User),
        ("so we decide: let us take the first", User),
        ("ClickHouse takes over from here on.", Assistant),
        ("We dropped two packets in that trace", User),
        ("Maybe we'll use Redis", User),
        ("If we decided to move, we would lose the history.", User),
        ("Tell me what we decided about the queue", User),
        ("Why we agreed on that is beyond me", User),
        ("Let's use grep to find the call sites.", Assistant),
        ("We'll use a loop to visit each entry", Assistant),
        ("I've decided to read the file first.", Assistant),
        ("The compiler decided to inline it", Assistant),
        ("You decide what is best", User),
        ("We could go with a queue", User),
        ("Agreed.", User),
        ("It's decided then.", Assistant),
        ("That was the plan we agreed on for the next phase", User),
        ("Give me all the details we've agreed on", User),
        ("yes, let's go with option B", User),
        ("Let's stick with that.", User),
        ("ok let's keep going", User),
        ("Name the only platform that we will use to reach people", User),
        ("Decision Logic at Session Start", Assistant),
        ("Final decision: whether a commit would be made", Assistant),
        ("The team is still undecided about names", User),
        ("Wir haben uns noch nicht entschieden", User),
        ("Мы ещё не решили этот вопрос", User),
        ("Решили задачу за час", User),
        ("On n'a pas encore décidé du nom", User),
        ("Todavía no hemos decidido nada", User),
        ("The build is slow, agreed", User),
        ("is that so? decided.", User),
        ("that is not decided", User),
        ("The scheduler decided to kill the task", User),
        ("The optimizer has decided: no inlining", Assistant),
        ("I wonder whether the team decided on names", User),
        ("no idea what it is", User),
        ("That's how slow it is", User),
        ("Postgres it is, then I add the driver", Assistant),
        ("the second one it is", User),
        ("nehmen wir an, der Server fällt aus", User),
        ("dann nehmen wir den ersten", User),
        ("Agreed: that is slow", Assistant),
        ("we go for lunch now, see this one later", User),
        ("The field is final.", User),
    ] {
        decision(sentence, speaker, false);
    }
}

#[test]
fn only_a_request_to_remember_pins() {
    for text in [
        "Remember: the door code is 4711",
        "please remember that deploys go through Jenkins",
        "Don't forget that the API is rate limited",
        "Merk dir, dass Freitag frei ist",
        "Запомни: релиз во вторник",
        "Retiens que le serveur est à Lyon",
        "Recuerda que el servidor está en Lyon",
    ] {
        assert!(is_remember_request(text), "{text}");
    }
    for text in [
        "Do you remember the door code?",
        "Remember when we moved the queue",
        "I remember that day",
        "The cache must remember the last key",
        "",
    ] {
        assert!(!is_remember_request(text), "{text}");
    }
}
