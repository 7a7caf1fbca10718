//! What is a date, and what only looks like one.

use super::*;

/// Monday.
const ASKED_AT: &str = "2026-11-16T10:00:00Z";

fn asked_at() -> Timestamp {
    ASKED_AT.parse().unwrap()
}

#[track_caller]
fn check(text: &str, expect: Option<(&str, &str)>) {
    let found = Days::named_in(text, asked_at());
    let found = found.map(|days| (days.first.to_string(), days.last.to_string()));
    let expect = expect.map(|(first, last)| (first.to_owned(), last.to_owned()));
    assert_eq!(found, expect, "{text}");
}

#[test]
fn days_are_seen_from_the_time_of_asking() {
    check("what did I do yesterday?", Some(("2026-11-15", "2026-11-15")));
    check("what did we decide today", Some(("2026-11-16", "2026-11-16")));
    check("what broke this morning", Some(("2026-11-16", "2026-11-16")));
    check("the outage last night", Some(("2026-11-15", "2026-11-16")));
    check("the crash 3 days ago", Some(("2026-11-13", "2026-11-13")));
    check("two weeks ago we moved", Some(("2026-10-30", "2026-11-05")));
    check("a month ago", Some(("2026-10-06", "2026-10-26")));
    check("the crash fifteen days ago", Some(("2026-11-01", "2026-11-01")));
    check("a couple of weeks ago", Some(("2026-10-28", "2026-11-07")));
    check("a few days ago", Some(("2026-11-12", "2026-11-14")));
    check("in the last 3 weeks", Some(("2026-10-26", "2026-11-16")));
    check("last week's plan", Some(("2026-11-09", "2026-11-15")));
    check("since last week", Some(("2026-11-09", "2026-11-16")));
    check("before last week", Some(("1970-01-01", "2026-11-08")));
    check("the week before last", Some(("2026-11-02", "2026-11-08")));
    check("over the past week", Some(("2026-11-09", "2026-11-16")));
    check("in the last few days", Some(("2026-11-12", "2026-11-16")));
    check("the last couple of weeks", Some(("2026-11-02", "2026-11-16")));
    check("this month", Some(("2026-11-01", "2026-11-16")));
    check("this quarter", Some(("2026-10-01", "2026-11-16")));
    check("this year", Some(("2026-01-01", "2026-11-16")));
    check("last month", Some(("2026-10-01", "2026-10-31")));
    check("last Friday", Some(("2026-11-13", "2026-11-13")));
    check("last Tuesday", Some(("2026-11-10", "2026-11-10")));
    check("on Monday", Some(("2026-11-09", "2026-11-09")));
    check("last weekend", Some(("2026-11-14", "2026-11-15")));
    check("last year", Some(("2025-01-01", "2025-12-31")));
}

#[test]
fn weeks_begin_on_mondays_whenever_it_is_asked() {
    for (phrase, day, first, last) in [
        ("last week", "2026-11-15", "2026-11-02", "2026-11-08"),
        ("last week", "2026-11-18", "2026-11-09", "2026-11-15"),
        ("this week", "2026-11-15", "2026-11-09", "2026-11-15"),
        ("this week", "2026-11-16", "2026-11-16", "2026-11-16"),
        ("this week", "2026-11-18", "2026-11-16", "2026-11-18"),
        ("vorletzte Woche", "2026-11-18", "2026-11-02", "2026-11-08"),
        ("last month", "2026-11-18", "2026-10-01", "2026-10-31"),
        ("past month", "2026-11-18", "2026-10-18", "2026-11-18"),
        ("yesterday", "2026-11-18", "2026-11-17", "2026-11-17"),
        ("two weeks ago", "2026-11-18", "2026-11-01", "2026-11-07"),
        ("last Tuesday", "2026-11-18", "2026-11-17", "2026-11-17"),
        ("last weekend", "2026-11-15", "2026-11-07", "2026-11-08"),
        ("last weekend", "2026-11-18", "2026-11-14", "2026-11-15"),
        ("last week", "2027-01-02", "2026-12-21", "2026-12-27"),
    ] {
        let asked_at: Timestamp = format!("{day}T12:00:00Z").parse().unwrap();
        let days = Days::meant_by(phrase, asked_at).unwrap();
        let found = (days.first.to_string(), days.last.to_string());
        assert_eq!(found, (first.to_owned(), last.to_owned()), "{phrase} on {day}");
    }
}

#[test]
fn a_month_without_a_year_is_the_latest_one() {
    check("in March", Some(("2026-03-01", "2026-03-31")));
    check("in may we moved", Some(("2026-05-01", "2026-05-31")));
    check("in December", Some(("2025-12-01", "2025-12-31")));
    check("last May", Some(("2026-05-01", "2026-05-31")));
    check("on March 14, 2025", Some(("2025-03-14", "2025-03-14")));
    check("on 14th May", Some(("2026-05-14", "2026-05-14")));
    check("Feb 29 2024", Some(("2024-02-29", "2024-02-29")));
    check("the plan of Dec 2025", Some(("2025-12-01", "2025-12-31")));
    check("the release of 2025-03-14", Some(("2025-03-14", "2025-03-14")));
    check("at 2025-03-14T10:00:00Z", Some(("2025-03-14", "2025-03-14")));
    check("the 2025/03/14 build", Some(("2025-03-14", "2025-03-14")));
    check("2026-05", Some(("2026-05-01", "2026-05-31")));
    check("in 2024", Some(("2024-01-01", "2024-12-31")));
}

#[test]
fn spans_have_two_ends_or_one() {
    check("between May and July", Some(("2026-05-01", "2026-07-31")));
    check("between 2026-05-01 and 2026-05-15", Some(("2026-05-01", "2026-05-15")));
    check("between October 5 and 12", Some(("2026-10-05", "2026-10-12")));
    check("from October 5 to 5 pm", Some(("2026-10-05", "2026-10-05")));
    check("from October 5 to 9 pm", Some(("2026-10-05", "2026-10-05")));
    check("since November", Some(("2026-11-01", "2026-11-16")));
    check("before October", Some(("1970-01-01", "2026-09-30")));
    check("from December to February", Some(("2025-12-01", "2026-02-28")));
    check("from Monday to yesterday", Some(("2026-11-09", "2026-11-15")));
    check("since October", Some(("2026-10-01", "2026-11-16")));
    check("after 2026-11-10", Some(("2026-11-11", "2026-11-16")));
    check("before May 2026", Some(("1970-01-01", "2026-04-30")));
    check("in Q2", Some(("2026-04-01", "2026-06-30")));
    check("Q4 2025", Some(("2025-10-01", "2025-12-31")));
    check("last quarter", Some(("2026-07-01", "2026-09-30")));
    check("the first half of 2026", Some(("2026-01-01", "2026-06-30")));
    check("H2 2025", Some(("2025-07-01", "2025-12-31")));
}

#[test]
fn other_languages_have_days_too() {
    check("was haben wir gestern beschlossen", Some(("2026-11-15", "2026-11-15")));
    check("vor zwei Wochen", Some(("2026-10-30", "2026-11-05")));
    check("letzte Woche", Some(("2026-11-09", "2026-11-15")));
    check("am Dienstag", Some(("2026-11-10", "2026-11-10")));
    check("im Mai", Some(("2026-05-01", "2026-05-31")));
    check("am 14. März 2025", Some(("2025-03-14", "2025-03-14")));
    check("am 14.03.2025", Some(("2025-03-14", "2025-03-14")));
    check("ce que nous avons décidé hier", Some(("2026-11-15", "2026-11-15")));
    check("il y a deux semaines", Some(("2026-10-30", "2026-11-05")));
    check("il y a un mois", Some(("2026-10-06", "2026-10-26")));
    check("vor einem Monat", Some(("2026-10-06", "2026-10-26")));
    check("la semaine dernière", Some(("2026-11-09", "2026-11-15")));
    check("mardi dernier", Some(("2026-11-10", "2026-11-10")));
    check("en mai", Some(("2026-05-01", "2026-05-31")));
    check("qué dijimos ayer", Some(("2026-11-15", "2026-11-15")));
    check("hace tres días", Some(("2026-11-13", "2026-11-13")));
    check("el 14 de mayo", Some(("2026-05-14", "2026-05-14")));
    check("la semana pasada", Some(("2026-11-09", "2026-11-15")));
    check("что мы решили вчера", Some(("2026-11-15", "2026-11-15")));
    check("две недели назад", Some(("2026-10-30", "2026-11-05")));
    check("на прошлой неделе", Some(("2026-11-09", "2026-11-15")));
    check("в мае", Some(("2026-05-01", "2026-05-31")));
    check("14 марта 2025", Some(("2025-03-14", "2025-03-14")));
    check("между мае и июле", Some(("2026-05-01", "2026-07-31")));
}

#[test]
fn parts_of_months_and_years_are_days_too() {
    check("the first week of August", Some(("2026-08-01", "2026-08-07")));
    check("the first week of may", Some(("2026-05-01", "2026-05-07")));
    check("in the last week of September", Some(("2026-09-24", "2026-09-30")));
    check("in the second half of September", Some(("2026-09-16", "2026-09-30")));
    check("mid october", Some(("2026-10-10", "2026-10-21")));
    check("the middle of October", Some(("2026-10-10", "2026-10-21")));
    check("early Sept", Some(("2026-09-01", "2026-09-12")));
    check("early in September", Some(("2026-09-01", "2026-09-12")));
    check("at the beginning of October", Some(("2026-10-01", "2026-10-12")));
    check("late September 2025", Some(("2025-09-20", "2025-09-30")));
    check("by the end of may", Some(("2026-05-20", "2026-05-31")));
    check("the end of November", Some(("2025-11-20", "2025-11-30")));
    check("the end of November 2026", Some(("2026-11-20", "2026-11-30")));
    check("early 2026", Some(("2026-01-01", "2026-04-30")));
    check("at the end of 2025", Some(("2025-09-01", "2025-12-31")));
    check("since the beginning of October", Some(("2026-10-01", "2026-11-16")));
    check("before the end of October", Some(("1970-01-01", "2026-10-19")));
    check("Ende August", Some(("2026-08-20", "2026-08-31")));
    check("Anfang Oktober", Some(("2026-10-01", "2026-10-12")));
    check("Mitte Mai", Some(("2026-05-10", "2026-05-21")));
    check("in der ersten Woche im August", Some(("2026-08-01", "2026-08-07")));
    check("zweite Hälfte September", Some(("2026-09-16", "2026-09-30")));
    check("fin mai", Some(("2026-05-20", "2026-05-31")));
    check("a finales de mayo", Some(("2026-05-20", "2026-05-31")));
    check("в начале октября", Some(("2026-10-01", "2026-10-12")));
    check("on the 14th of September", Some(("2026-09-14", "2026-09-14")));
}

#[test]
fn weeks_and_seasons_are_days_too() {
    check("the day before yesterday", Some(("2026-11-14", "2026-11-14")));
    check("vorgestern", Some(("2026-11-14", "2026-11-14")));
    check("avant-hier", Some(("2026-11-14", "2026-11-14")));
    check("before yesterday", Some(("1970-01-01", "2026-11-14")));
    check("a fortnight ago", Some(("2026-10-30", "2026-11-05")));
    check("vor vierzehn Tagen", Some(("2026-11-02", "2026-11-02")));
    check("the week of October 5", Some(("2026-10-05", "2026-10-11")));
    check("the week of the 7th of October", Some(("2026-10-05", "2026-10-11")));
    check("in der Woche vom 7. Oktober", Some(("2026-10-05", "2026-10-11")));
    check("in week 41", Some(("2026-10-05", "2026-10-11")));
    check("KW 41", Some(("2026-10-05", "2026-10-11")));
    check("in KW41", Some(("2026-10-05", "2026-10-11")));
    check("week 50", Some(("2025-12-08", "2025-12-14")));
    check("week 41 of 2025", Some(("2025-10-06", "2025-10-12")));
    check("over the summer", Some(("2026-06-01", "2026-08-31")));
    check("in summer 2025", Some(("2025-06-01", "2025-08-31")));
    check("last winter", Some(("2025-12-01", "2026-02-28")));
    check("what did we do on the first of September", Some(("2026-09-01", "2026-09-01")));
    check("on the second of november 2025", Some(("2025-11-02", "2025-11-02")));
    check("the first of many", None);
    for (asked_at, first) in
        [("2026-01-15T10:00:00Z", "2024-12-01"), ("2026-03-01T10:00:00Z", "2025-12-01")]
    {
        let asked_at: Timestamp = asked_at.parse().unwrap();
        let days = Days::named_in("what did we do last winter", asked_at).unwrap();
        assert_eq!(days.first.to_string(), first, "{asked_at}");
    }
    check("what broke in the spring", Some(("2026-03-01", "2026-05-31")));
    check("last fall we moved", Some(("2025-09-01", "2025-11-30")));
    check("im Herbst", Some(("2026-09-01", "2026-11-30")));
    check("letzten Sommer", Some(("2026-06-01", "2026-08-31")));
    check("l'été dernier", Some(("2026-06-01", "2026-08-31")));
    check("летом", Some(("2026-06-01", "2026-08-31")));
}

#[test]
fn a_cue_may_ask_for_a_time_and_for_nothing_else() {
    for text in [
        "what happened on 14 September",
        "what did we do the day before yesterday?",
        "what was said last week",
        "in May",
        "was war gestern los?",
        "was haben wir in KW 41 gemacht?",
        "what did I work on between May and July",
        "show me everything from the first week of August",
        "qu'est-ce qui s'est passé hier",
        "qué hicimos ayer",
        "что было вчера",
        "what did we decide on 2026-09-30?",
        "what did I change in July?",
        "what was fixed last week",
        "what changed in July",
        "which decisions did we make in October",
        "what have we been working on this week",
        "summarize last week",
        "what happened in it since November?",
        "what did we do for it two weeks ago",
        "was haben wir letzte Woche geändert?",
        "qu'avons-nous décidé hier",
    ] {
        let named = Days::named_in(text, asked_at());
        assert!(named.is_some() && Days::all_of(text, asked_at()) == named, "{text}");
    }
    for text in [
        "which port did we choose on 14 September",
        "what happened to the parser yesterday",
        "what do we do on Friday",
        "what is on Friday",
        "what have we to be done before 2026-12-01",
        "what may happen",
        "what happened to the change yesterday",
        "what happened to the fixed port yesterday",
        "what did we decide to do on Friday",
        "what did we decide for this week",
        "what did we change in the July release",
        "what did we pay in July",
        "what did we say about the port in August",
        "what may we change",
        "what did we march on",
        "what happened",
        "",
    ] {
        assert_eq!(Days::all_of(text, asked_at()), None, "{text}");
    }
}

#[test]
fn what_is_no_date_is_left_alone() {
    for text in [
        "",
        "may I march on",
        "you may 5 times",
        "these 5 may fail",
        "the long march of 2 people",
        "before may or may not",
        "the mars rover",
        "a second look at the sun",
        "the second half of the file",
        "wait a second",
        "sat on the second floor",
        "the last commit",
        "the last one",
        "500 years ago",
        "Feb 31 2024",
        "version 2024",
        "python 3.12.1",
        "three days",
        "this weekly report",
        "the q1 of the quiz",
        "an H1 heading",
        "ist das hier richtig",
        "from A to B",
        "between you and me",
        "before the release",
        "since when",
        "on day one",
        "port 2025",
        "1/2 and 3/4",
        "the end August came to",
        "what did August say",
        "early may fail",
        "the late march through the town",
        "the start of the march",
        "the first week of the sprint",
        "the beginning of the file",
        "mid level engineers",
        "the end of 2048 bytes",
        "week 3 of the bootcamp",
        "the week of pain",
        "week 99",
        "after the March release",
        "in Spring we use beans",
        "in the spring boot app",
        "this spring is a bean",
        "does this fall back to the cache",
        "in the fall back path",
        "a summer intern",
        "3 of march",
    ] {
        check(text, None);
    }
}

#[test]
fn a_text_that_is_nothing_but_a_time_may_be_bare() {
    for (text, expect) in [
        ("2026-05-01..2026-05-31", Some(("2026-05-01", "2026-05-31"))),
        ("2026-05..", Some(("2026-05-01", "2026-11-16"))),
        ("..2026-05-03", Some(("1970-01-01", "2026-05-03"))),
        ("last week..today", Some(("2026-11-09", "2026-11-16"))),
        ("may", Some(("2026-05-01", "2026-05-31"))),
        ("May 2025", Some(("2025-05-01", "2025-05-31"))),
        ("Tuesday", Some(("2026-11-10", "2026-11-10"))),
        ("2025", Some(("2025-01-01", "2025-12-31"))),
        ("2026-05-31..2026-05-01", None),
        ("soon", None),
        ("", None),
    ] {
        let found = Days::meant_by(text, asked_at());
        let found = found.map(|days| (days.first.to_string(), days.last.to_string()));
        let expect = expect.map(|(first, last)| (first.to_owned(), last.to_owned()));
        assert_eq!(found, expect, "{text}");
    }
}

#[test]
fn something_that_happened_may_stand_for_a_time() {
    for (text, expect) in [
        ("what broke before the release?", Some((Side::Before, "release", "broke"))),
        (
            "what did we do after the database migration, by and large",
            Some((Side::After, "database migration", "by large")),
        ),
        ("before we moved to Postgres", Some((Side::Before, "moved postgres", ""))),
        (
            "how many attempts before the dead letter queue of the new shop",
            Some((Side::Before, "dead letter queue new", "attempts shop")),
        ),
        ("nach dem Umzug", Some((Side::After, "umzug", ""))),
        ("before", None),
        ("before the", None),
        ("the release", None),
    ] {
        let found = anchor_in(text);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let expect = expect.map(|(side, event, rest)| Anchor {
            side,
            event: words(event),
            rest: words(rest),
        });
        assert_eq!(found, expect, "{text}");
    }
}

#[test]
fn distance_counts_days_outside() {
    let days = Days::named_in("last month", asked_at()).unwrap();
    for (at, expect) in [
        ("2026-09-30T23:59:59Z", 1.0),
        ("2026-10-15T00:00:00Z", 0.0),
        ("2026-11-02T00:00:00Z", 2.0),
    ] {
        assert!((days.distance(at.parse().unwrap()) - expect).abs() < 1e-9, "{at}");
    }
    let (first, last) = days.millis();
    let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
    assert_eq!((first, last), (at("2026-10-01T00:00:00Z"), at("2026-11-01T00:00:00Z") - 1));
}

#[test]
fn days_are_those_of_the_person_who_asks() {
    // Five in the afternoon in Los Angeles; in Tokyo it is ten in the morning of the next day.
    let at: Timestamp = "2026-11-17T01:00:00Z".parse().unwrap();
    for (hours, day, first) in [
        (0, "2026-11-17", "2026-11-17T00"),
        (-8, "2026-11-16", "2026-11-16T08"),
        (9, "2026-11-17", "2026-11-16T15"),
    ] {
        let asked = Asked { at, offset: jiff::tz::offset(hours) };
        let days = Days::all_of("what did we do today?", asked).unwrap();
        assert_eq!(days.first.to_string(), day, "{hours}");
        let (from, to) = days.millis();
        let from = Timestamp::from_millisecond(from).unwrap();
        assert!(from.to_string().starts_with(first), "{hours}: {from}");
        assert_eq!(to - from.as_millisecond(), 86_400_000 - 1);
        assert_eq!(days.distance(at), 0.0, "{hours}");
        assert_eq!(Days::meant_by("today", asked), Some(days));
        let beside = Days::beside(at, Side::After, asked).unwrap();
        assert_eq!(beside, days, "{hours}");
    }
}
