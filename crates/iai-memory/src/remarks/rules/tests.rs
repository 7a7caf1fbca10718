//! Sentences both ways: what is taken, and what only looks like it.

use super::*;

#[track_caller]
fn preference(sentence: &str, expect: bool) {
    assert_eq!(is_preference(sentence), expect, "{sentence}");
}

#[track_caller]
fn decision(sentence: &str, speaker: Speaker, expect: bool) {
    assert_eq!(is_decision(sentence, speaker), expect, "{speaker:?}: {sentence}");
}

#[test]
fn preferences_are_what_holds_from_now_on() {
    for sentence in [
        "Always run the tests before you commit.",
        "Please always use UTC in the logs",
        "Never push to main directly.",
        "never embed secrets in the image",
        "We never deploy on Fridays.",
        "We always squash before merging",
        "I prefer tabs over spaces.",
        "From now on, write commit messages in English.",
        "Please use pnpm, not npm.",
        "Use ripgrep instead of grep",
        "Don't use unwrap in this codebase.",
        "Don't ever force-push.",
        "Remember that the staging database is read-only.",
        "Remember: the staging database is read-only.",
        "Merk dir: kleine Commits, jeder mit einem Test.",
        "ok, going forward answer in German",
        "Ich bevorzuge kurze Antworten.",
        "Bitte immer auf Deutsch antworten",
        "Ab jetzt verwenden wir Tabs",
        "Niemals direkt auf main pushen.",
        "Verwende pnpm statt npm",
        "Всегда пиши тесты.",
        "Никогда не коммить в main",
        "Я предпочитаю короткие ответы",
        "Je préfère les petites fonctions.",
        "Toujours lancer les tests avant",
        "Prefiero respuestas cortas",
        "Siempre usa UTC en los registros",
        "I like table driven tests and I never want generated mocks.",
        "go test is fine but always add -race for me.",
        "Run `make lint` before each push, I keep forgetting.",
        "Please answer short, no bullet lists.",
        "A partir de ahora responde en español",
        "I like table driven tests and no mocks.",
        "I want small commits, not one big one.",
        "tabs please, not spaces!",
        "Kommentare bitte auf Deutsch, nicht auf Englisch.",
        "Antworte mir bitte auf Deutsch",
        "Answer me in English please, the others read along",
        "Отвечай на русском",
        "Beträge bitte als Decimal, nie als float",
        "dates as ISO strings please, never as numbers",
        "Ich will lieber pytest als unittest",
        "I'd rather have small functions than comments",
        "bitte keine englischen Variablennamen",
        "gut so, und bitte keine Abkürzungen im Fachmodell",
        "I don't want comments that only repeat the code",
        "Ich will keine Mocks in den Tests",
        "no emojis in commit messages please",
        "also: please no abbreviations in names",
        "pas de commentaires en anglais s'il te plaît",
    ] {
        preference(sentence, true);
    }
}

#[test]
fn complaints_questions_and_choices_are_no_preferences() {
    for sentence in [
        "It always crashes at startup.",
        "Always fails with the same error",
        "Always getting a timeout here",
        "Always the same problem!",
        "Never mind, I found it.",
        "Never worked on my machine",
        "never seen that before",
        "We never tested that",
        "We always had two replicas",
        "Should I always run the tests?",
        "Do you prefer tabs?",
        "I prefer option B here.",
        "I prefer the second one",
        "It works, but always takes a minute",
        "Run the tests again before we push",
        "It retries before each request",
        "Remember when we moved the queue?",
        "Remember: option B for now.",
        "Use the force, Luke",
        "Use grep to find it",
        "Don't worry about it",
        "From now on for now keep this one",
        "Immer noch derselbe Fehler",
        "Nie gesehen, so etwas",
        "Toujours pas résolu du tout",
        "Nunca he visto esto antes",
        "Always.",
        "I'd prefer that",
        "and remember to use pagination",
        "// Always written as counts in new metadata.",
        "Always `generate()` for a fresh id",
        "Use `len(sessions)` instead of `count`",
        "The function always returns null when the input is empty.",
        "I like it.",
        "I want to see the log of the second run",
        "Put it into the other file please, not into this one.",
        "the second one please, not the first",
        "please no tests for now",
        "bitte heute keine Tests",
        "bitte noch keine Tests",
        "no emojis were found",
        "No, the other file please",
        "no problem, please go on",
        "no more questions please",
        "please no panic",
        "I don't want to break the build",
        "I don't want you to touch that",
        "keine Ahnung, schau bitte nach",
        "Keine Treffer im Log gefunden",
        "The server answers in German",
        "answer the mail of the client",
        "Ich will das lieber morgen machen als heute",
        "es gibt keine Tests für das Modul",
    ] {
        preference(sentence, false);
    }
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
