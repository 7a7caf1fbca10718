//! The memory as a picture: what was decided, sessions page by page, conversations, surroundings,
//! topics.

use std::time::Duration;

use iai_memory::{
    ConversationAsk, ConversationPart, EpisodesAsk, MembersAsk, NewMemory, Patience, Role,
    SessionCursor, SessionsAsk,
};
use jiff::SignedDuration;

use crate::fixture::{Home, batch, days_ago, now, turn};

/// Sessions of three turns, one each day, in two projects.
fn days(n_sessions: i64) -> Vec<NewMemory> {
    let mut turns = Vec::new();
    for session in 0..n_sessions {
        for index in 0..3_u64 {
            let minutes = SignedDuration::from_mins(i64::try_from(index).unwrap());
            let text = format!("turn {index} of day {session} about the harbour crane");
            let mut turn = turn(index, &text, days_ago(session) + minutes);
            turn.session = format!("s{session}");
            turn.role = if index == 0 { Role::Assistant } else { Role::User };
            turn.project = Some(["/a", "/b"][usize::try_from(session).unwrap() % 2].to_owned());
            turns.push(turn);
        }
    }
    turns
}

fn home_with(turns: Vec<NewMemory>) -> Home {
    let home = Home::new();
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    home
}

/// Turns all pages and returns the names of the sessions in the order they came.
fn names(home: &Home, project: Option<&str>, limit: usize) -> Vec<String> {
    let mut ask =
        SessionsAsk { project: project.map(str::to_owned), limit, ..SessionsAsk::default() };
    let mut names = Vec::new();
    loop {
        let page = home.engine.picture_sessions(&ask).unwrap();
        assert!(page.sessions.len() <= limit);
        assert_eq!(page.days.is_some(), ask.after.is_none());
        names.extend(page.sessions.into_iter().map(|line| line.session_id));
        match page.next {
            Some(next) => ask.after = Some(next),
            None => return names,
        }
    }
}

#[test]
fn pages_show_every_session_once_the_latest_first() {
    let home = home_with(days(7));
    let all: Vec<String> = (0..7).map(|n| format!("s{n}")).collect();
    for limit in [1, 2, 7, 50] {
        assert_eq!(names(&home, None, limit), all, "{limit}");
    }
    assert_eq!(names(&home, Some("b"), 2), ["s1", "s3", "s5"]);
    assert_eq!(names(&home, Some("nowhere"), 2), [""; 0]);
}

#[test]
fn a_list_up_to_a_time_counts_what_it_has() {
    let home = home_with(days(7));
    let page = |after: Option<SessionCursor>| {
        let ask = SessionsAsk { after, limit: 2, ..SessionsAsk::default() };
        home.engine.picture_sessions(&ask).unwrap()
    };
    let until = SessionCursor { ended: days_ago(3).to_string(), session_id: None };
    assert_eq!((page(None).total, page(Some(until)).total), (7, 3));
    assert_eq!(page(page(None).next).total, 7, "the next page is of the same list");
}

#[test]
fn sessions_that_ended_together_are_not_lost_between_pages() {
    let mut turns = days(5);
    turns.iter_mut().for_each(|turn| turn.turn_at = days_ago(1));
    let home = home_with(turns);
    let mut found = names(&home, None, 2);
    found.sort();
    assert_eq!(found, ["s0", "s1", "s2", "s3", "s4"]);
}

#[test]
fn the_first_page_counts_projects_and_the_askers_days() {
    let home = home_with(days(3));
    let ask = SessionsAsk { limit: 1, ..SessionsAsk::default() };
    let page = home.engine.picture_sessions(&ask).unwrap();
    let days: Vec<String> = page.days.unwrap().into_iter().map(|day| day.day).collect();
    assert_eq!(days, ["2026-11-15", "2026-11-14", "2026-11-13"]);
    let projects = page.projects.unwrap();
    assert_eq!((projects[0].project.as_str(), projects[0].n_sessions), ("/a", 2));
    let line = &page.sessions[0];
    assert_eq!(line.opening.as_deref(), Some("turn 1 of day 0 about the harbour crane"));
    assert_eq!((line.n_memories, line.project.as_deref()), (3, Some("/a")));
    let east = SessionsAsk { utc_offset_minutes: 13 * 60, ..ask };
    let page = home.engine.picture_sessions(&east).unwrap();
    assert_eq!(page.days.unwrap()[0].day, "2026-11-16");
    let ended = "2026-11-14T00:00:00Z".to_owned();
    let after = Some(SessionCursor { ended, session_id: None });
    let page = home.engine.picture_sessions(&SessionsAsk { after, limit: 9, ..east }).unwrap();
    assert_eq!(page.sessions[0].session_id, "s2");
}

#[test]
fn a_conversation_is_told_in_parts_or_around_a_memory() {
    let texts: Vec<String> = (0..30).map(|n| format!("turn number {n}")).collect();
    let home = Home::with_turns(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let ask = |part, limit| ConversationAsk { session: "s".to_owned(), host: None, part, limit };
    let part = home.engine.conversation(&ask(ConversationPart::Skip(28), 10)).unwrap();
    assert_eq!((part.n_memories, part.turns.len(), part.host.as_str()), (30, 2, "test"));
    assert_eq!(part.turns[0].literal_surface, "turn number 28");
    let id = part.turns[0].record_id.to_string();
    let part = home.engine.conversation(&ask(ConversationPart::Around(id), 8)).unwrap();
    assert_eq!((part.skip, part.turns[2].literal_surface.as_str()), (26, "turn number 28"));
    let nobody =
        ConversationAsk { session: "nobody".to_owned(), ..ask(ConversationPart::Skip(0), 8) };
    assert!(home.engine.conversation(&nobody).unwrap_err().to_string().contains("`nobody`"));
}

#[test]
fn a_memory_is_seen_with_what_stands_around_it_and_what_replaced_it() {
    let home = Home::with_turns(&["first of all", "the port is 8080", "and so on"]);
    let old = home.recall("port").hits[0].record_id.to_string();
    let seen = home.engine.surroundings(&old, now()).unwrap();
    assert_eq!(seen.previous.unwrap().first_words, "first of all");
    assert_eq!(seen.next.unwrap().first_words, "and so on");
    assert!(seen.replaced_by.is_empty() && seen.untrusted.is_none());
    let new = home.engine.contradict(&old, "the port is 9090", "-", now()).unwrap();
    let seen = home.engine.surroundings(&old, now()).unwrap();
    assert_eq!(seen.replaced_by[0].first_words, "the port is 9090");
    let seen = home.engine.surroundings(&new.new_record_id.to_string(), now()).unwrap();
    assert_eq!(seen.replaced[0].record_id.to_string(), old);
    assert!(home.engine.surroundings("ffffffff", now()).is_err());
}

#[test]
fn topics_are_clusters_and_their_members_come_in_pages() {
    let mut turns = Vec::new();
    for n in 0..24 {
        let subject = ["billing invoice refund stripe", "tomato compost greenhouse seedling"];
        let text = format!("{} note {n} {}", subject[n % 2], subject[n % 2]);
        turns.push(turn(n as u64, &text, days_ago(2)));
    }
    let home = home_with(turns);
    home.engine.consolidate(Patience(Duration::ZERO), &now).unwrap();
    let map = home.engine.topic_map(None).unwrap();
    assert!(!map.topics.is_empty() && map.n_in_topics <= map.n_turns, "{map:?}");
    assert_eq!((map.n_topics, map.n_turns), (map.topics.len() as u64, 24), "{map:?}");
    assert!(24 < map.n_memories, "summaries are no turns: {map:?}");
    let only = home.engine.topic_map(Some("Tomato")).unwrap();
    assert!(!only.topics.is_empty() && only.topics.len() < map.topics.len(), "{only:?}");
    assert_eq!(only.n_topics, map.n_topics);
    assert!(home.engine.topic_map(Some("zebra")).unwrap().topics.is_empty());
    let topic = &map.topics[0].topic;
    let mut ask = MembersAsk { topic: topic.number, before: None, limit: 5 };
    let mut members = Vec::new();
    loop {
        let page = home.engine.topic_members(&ask).unwrap();
        members.extend(page.members.iter().map(|member| member.record_id));
        ask.before = page.members.last().map(|member| member.record_id.to_string());
        if !page.has_more {
            break;
        }
    }
    let n_members = members.len() as u64;
    members.sort();
    members.dedup();
    assert_eq!((n_members, members.len() as u64), (topic.n_members, topic.n_members));
    let nowhere = MembersAsk { topic: 999_999, before: None, limit: 5 };
    assert!(home.engine.topic_members(&nowhere).is_err());
}

#[test]
fn a_session_is_told_by_topics_of_its_own_project() {
    let subjects = ["billing invoice refund stripe", "tomato compost greenhouse seedling"];
    let mut turns = Vec::new();
    for n in 0..25_usize {
        let (subject, project) = (subjects[n % 2], ["/shop", "/garden"][n % 2]);
        let mut turn = turn(n as u64, &format!("{subject} note {n} {subject}"), days_ago(2));
        turn.session = format!("s{n}");
        // The last one speaks of the shop, in the garden.
        turn.project = Some(if n == 24 { "/garden" } else { project }.to_owned());
        turns.push(turn);
    }
    let home = home_with(turns);
    home.engine.consolidate(Patience(Duration::ZERO), &now).unwrap();
    let topics = home.engine.topic_map(None).unwrap().topics;
    let mut topics = topics.iter().map(|cluster| &cluster.topic);
    let shop = topics.find(|topic| topic.project.as_deref() == Some("/shop")).unwrap();
    let ask = MembersAsk { topic: shop.number, before: None, limit: 50 };
    let members = home.engine.topic_members(&ask).unwrap().members;
    assert!(members.iter().any(|member| member.first_words.contains("note 24 ")), "it is one");
    let ask = SessionsAsk { limit: 50, ..SessionsAsk::default() };
    let lines = home.engine.picture_sessions(&ask).unwrap().sessions;
    let ask = EpisodesAsk { project: None, limit: 50, before: None };
    let episodes = home.engine.episodes(&ask).unwrap().episodes;
    let of = |name: &str| {
        let line = lines.iter().find(|line| line.session_id == name).unwrap();
        let episode = episodes.iter().find(|episode| episode.session_id == name).unwrap();
        assert_eq!(line.topics, episode.topics, "{name}");
        line.topics.clone()
    };
    assert!(!of("s0").is_empty() && !of("s1").is_empty() && of("s0") != of("s1"));
    assert_eq!(of("s24"), [""; 0]);
}

#[test]
fn what_was_decided_is_told_with_the_latest_first_and_what_is_settled_left_out() {
    let said = [
        (9, "/a", "We decided to deploy the crane service from the main branch."),
        (3, "/b", "It rained. Decision: the harbour map uses vector tiles. Fine."),
        (2, "/a", "We decided to deploy the crane service from the release branch of main."),
        (1, "/a", "The crane stood still for a while."),
    ];
    let turns = said.iter().enumerate().map(|(index, (days, project, text))| {
        let mut turn = turn(u64::try_from(index).unwrap(), text, days_ago(*days));
        turn.session = format!("s{index}");
        turn.project = Some((*project).to_owned());
        turn
    });
    let home = home_with(turns.collect());
    let check = |home: &Home, project: Option<&str>, limit: usize, expect: &[&str]| {
        let told = home.engine.picture_decided(project, limit, now()).unwrap().decided;
        let words: Vec<&str> = told.iter().map(|one| one.decision.first_words.as_str()).collect();
        assert_eq!(words, expect, "{project:?}, {limit}");
    };
    let (tiles, branch) = ("Decision: the harbour map uses vector tiles.", said[2].2);
    check(&home, Some("/b"), 5, &[tiles]);
    home.engine.consolidate(Patience(Duration::ZERO), &now).unwrap();
    check(&home, None, 5, &[branch, tiles]);
    check(&home, None, 1, &[branch]);
    check(&home, Some("/a"), 5, &[branch]);
    check(&home, Some("/nowhere"), 5, &[]);
}
