//! What differs in a fact, and what only in its words.

use super::*;

fn compared(old: &str, new: &str) -> Comparison {
    let statement = |text: &str| Statement { tokens: tokens_of(text) };
    compare(&statement(old), &statement(new))
}

#[track_caller]
fn check(old: &str, new: &str, what: Difference, values: (&str, &str)) {
    let (old_value, new_value) = (values.0.to_owned(), values.1.to_owned());
    let expect = Comparison::Differ(Slot { what, old_value, new_value });
    assert_eq!(compared(old, new), expect, "{old} / {new}");
}

#[test]
fn one_value_apart_is_a_difference_of_its_kind() {
    let port = "The billing service listens on port 8080.";
    check(port, "The billing service listens on port 9090", Difference::Number, ("8080", "9090"));
    check(port, "The billing service now listens on port 81!", Difference::Number, ("8080", "81"));
    check(
        "The launch date is May 12",
        "the launch date is 3 June",
        Difference::Date,
        ("May 12", "3 June"),
    );
    check(
        "We deploy the shop on Fridays",
        "We deploy the shop on Mondays",
        Difference::Date,
        ("Fridays", "Mondays"),
    );
    check(
        "The daily backup starts at 02:30",
        "The daily backup starts at 04:00",
        Difference::Date,
        ("02:30", "04:00"),
    );
    check(
        "The build needs node v18.2.0 to run",
        "The build needs node v20.1.0 to run",
        Difference::Version,
        ("v18.2.0", "v20.1.0"),
    );
    check(
        "The owner of the billing code is Alice",
        "The owner of the billing code is Bob Miller",
        Difference::Name,
        ("Alice", "Bob Miller"),
    );
    check(
        "Logs of the shop go to /var/log/shop",
        "Logs of the shop go to /srv/logs",
        Difference::Path,
        ("/var/log/shop", "/srv/logs"),
    );
    check(
        "The retry queue is enabled in production",
        "The retry queue isn't enabled in production",
        Difference::Negation,
        ("", "not"),
    );
    check(
        "In this repository I prefer tabs over anything else",
        "In this repository I prefer two blanks over anything else",
        Difference::Name,
        ("tabs", "two blanks"),
    );
    check(
        "Our bookkeeping daemon is called ledgerd",
        "Our bookkeeping daemon is called tallyman",
        Difference::Name,
        ("ledgerd", "tallyman"),
    );
    check("端口服务是8080", "端口服务是9090", Difference::Number, ("8080", "9090"));
    check(
        "Порт службы биллинга равен 8080",
        "Порт службы биллинга равен 9090",
        Difference::Number,
        ("8080", "9090"),
    );
}

#[test]
fn numbers_in_words_are_numbers() {
    check(
        "Das Limit für Anhänge ist fünf",
        "Das Limit für Anhänge ist zwölf",
        Difference::Number,
        ("fünf", "zwölf"),
    );
    check(
        "The number of beta testers is ten",
        "The number of beta testers is twenty-five",
        Difference::Number,
        ("ten", "twenty-five"),
    );
    check(
        "The number of beta testers is thirteen",
        "The number of beta testers is fifteen",
        Difference::Number,
        ("thirteen", "fifteen"),
    );
}

#[test]
fn two_values_may_change_at_once() {
    check(
        "The spring campaign starts on 3 March and ends on 20 March",
        "The spring campaign starts on 10 March and ends on 2 April",
        Difference::Number,
        ("3 and 20 March", "10 and 2 April"),
    );
    check(
        "The image cache keeps 200 entries for 30 minutes",
        "The image cache keeps 500 entries for 90 minutes",
        Difference::Number,
        ("200 and 30", "500 and 90"),
    );
    for (old, new) in [
        ("Step 3 of the plan took 5 minutes", "Step 4 of the plan took 6 minutes"),
        ("Alice owns 3 of the services", "Bob owns 4 of the services"),
        ("1 of 5 files is left", "2 of 6 files is left"),
    ] {
        assert_eq!(compared(old, new), Comparison::Unrelated, "{old} / {new}");
    }
}

#[test]
fn the_same_words_are_the_same() {
    let same = compared("The port is 8080.", "the port is now 8080");
    assert_eq!(same, Comparison::Same);
}

#[test]
fn other_sentences_and_other_things_are_no_difference() {
    for (old, new) in [
        ("The billing service listens on port 8080", "The billing service is written in Rust"),
        ("The Billing service uses the port 80", "The Payments service uses the port 80"),
        ("Alice likes tea in the morning", "Bob likes tea in the morning"),
        ("Step 3 of the plan is next", "Step 4 of the plan is next"),
        ("the user wants a faster search here", "the user wants a simpler search here"),
        ("The answer is 5", "The answer is 6"),
        ("The owner of the amber-fox code is Alice", "The owner of the pale-elk code is Alice"),
        ("I would not touch amber-fox on any day", "I would not touch pale-elk on any day"),
        ("to resume it run claude -r ad64798f-0493", "to resume it run claude -r ab8c5aa0-e11b"),
        ("see issue 12 for the whole story", "see issue 13 for the whole story"),
        ("the billing port is 80 and open", "the shop port is 81 and open"),
        ("The limit of the upload is five", "The limit of the upload is 5"),
        ("The crash appears on Linux", "The crash appears on Windows"),
        ("Billing runs on Linux", "Search runs on Windows"),
        ("CI runs on every push", "CI runs on each commit"),
        ("We run on AWS, Azure", "We run on Hetzner"),
    ] {
        assert_eq!(compared(old, new), Comparison::Unrelated, "{old} / {new}");
    }
}

#[test]
fn whole_texts_are_compared_by_their_facts() {
    assert!(is_same_wording("Use tabs, always!", "use tabs always"));
    assert!(!is_same_wording("Use tabs always", "use blanks always"));
    let check = |one: &str, other: &str, expect: bool| {
        assert_eq!(differ_in_a_fact(one, other), expect, "{one} / {other}");
    };
    check("the port is 80", "the port will be 80", false);
    check("the port is 80", "the port is 81", true);
    check("we use it", "we do not use it", true);
    check("ask Alice about it", "ask Bob about it", true);
    check("it is in src/a.rs", "it is in src/b.rs", true);
}
