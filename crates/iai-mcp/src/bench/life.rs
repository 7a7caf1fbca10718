//! A made-up life: facts that are said, said again, and change, among turns that are about other
//! things. The same seed gives the same life.

use super::chance::Chance;

/// Turns between the facts of one session.
const DISTRACTORS: usize = 6;
/// A change comes at least so many sessions after the fact.
const CHANGE_AFTER: usize = 5;

const FIRST: [&str; 40] = [
    "amber", "ancient", "bitter", "blue", "bold", "brave", "bright", "calm", "clever", "cold",
    "copper", "coral", "crimson", "dusty", "eager", "early", "fading", "frosty", "gentle",
    "golden", "green", "hidden", "hollow", "iron", "ivory", "jolly", "late", "little", "lunar",
    "mellow", "misty", "noble", "pale", "quiet", "rapid", "royal", "rusty", "silent", "silver",
    "stormy",
];
const SECOND: [&str; 41] = [
    "anchor", "badger", "beacon", "birch", "canyon", "cedar", "comet", "condor", "crane", "delta",
    "falcon", "fjord", "forest", "fox", "garnet", "glacier", "harbor", "hawk", "heron", "island",
    "jaguar", "lagoon", "lantern", "lark", "lynx", "maple", "meadow", "nebula", "orchid", "otter",
    "pebble", "pine", "quartz", "raven", "reef", "river", "sparrow", "summit", "tiger", "valley",
    "willow",
];
const PEOPLE: [&str; 12] = [
    "Alice", "Bogdan", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hiroshi", "Ines", "Jonas",
    "Katya", "Lucia",
];
const STORES: [&str; 8] =
    ["Postgres", "MySQL", "Redis", "Cassandra", "SQLite", "MongoDB", "DynamoDB", "ClickHouse"];
const MONTHS: [&str; 6] = ["March", "April", "June", "July", "September", "October"];
const TASTES: [&str; 6] =
    ["tabs", "spaces", "short names", "long names", "rebase", "merge commits"];
const ASIDES: [&str; 12] = [
    "Can you look at the flaky build of {s} when you have a minute?",
    "I read the dashboards of {s} again and nothing stands out to me.",
    "Let us refactor the parser in {s} before the holidays.",
    "The error in {s} was a missing await, fixed in the last commit.",
    "Why does {s} take so long to start on my laptop?",
    "I added a retry around the upload in {s}.",
    "The review of {s} is waiting for somebody with time.",
    "We talked about {s} with the customer and they were happy.",
    "Running the whole suite of {s} took 14 minutes this time.",
    "Somebody asked whether {s} could be open source one day.",
    "The docs of {s} need a picture of the data flow.",
    "I would rather not touch {s} on a Friday afternoon.",
];

/// What kind of fact, by how it is said and asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Port,
    Deadline,
    Owner,
    Logs,
    Version,
    Store,
    Backup,
    Taste,
}

const KINDS: [Kind; 8] = [
    Kind::Port,
    Kind::Deadline,
    Kind::Owner,
    Kind::Logs,
    Kind::Version,
    Kind::Store,
    Kind::Backup,
    Kind::Taste,
];

/// What becomes of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays.
    Stays,
    /// Somebody corrects it, once for each further wording.
    Corrected,
    /// It is said again with another value, among other turns.
    SaidOtherwise,
    /// It is captured again with another value.
    CapturedOtherwise,
}

/// One fact with all its wordings, the first first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) kind: Kind,
    pub(super) fate: Fate,
    pub(super) wordings: Vec<String>,
    /// What is asked for the current one.
    pub(super) cue: String,
    /// What is asked for how it was.
    pub(super) history_cue: String,
}

/// One turn of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LifeTurn {
    pub(super) text: String,
    /// Which wording of which fact it is.
    pub(super) says: Option<(usize, usize)>,
}

/// Everything that is said and changed.
pub(super) struct Life {
    pub(super) facts: Vec<Fact>,
    /// Session by session, in order of time.
    pub(super) sessions: Vec<Vec<LifeTurn>>,
}

impl Life {
    /// Makes up a life with a fact in each session.
    pub(super) fn new(n_sessions: usize, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let facts: Vec<Fact> = (0..n_sessions).map(|n| fact(n, &mut chance)).collect();
        let mut said: Vec<Vec<(usize, usize)>> = (0..n_sessions).map(|n| vec![(n, 0)]).collect();
        for (n, fact) in facts.iter().enumerate() {
            let room = n_sessions.saturating_sub(n + CHANGE_AFTER);
            let later = n + CHANGE_AFTER + chance.below(room);
            let is_repeated = chance.below(5) == 0;
            let between = n + 1 + chance.below(CHANGE_AFTER - 1);
            if let Some(session) = said.get_mut(between).filter(|_| is_repeated) {
                session.push((n, 0));
            }
            if let Some(session) = said.get_mut(later.min(n_sessions - 1))
                && fact.fate == Fate::SaidOtherwise
            {
                session.push((n, 1));
            }
        }
        let sessions = said.iter().map(|says| session(says, &facts, &mut chance)).collect();
        Self { facts, sessions }
    }
}

fn session(says: &[(usize, usize)], facts: &[Fact], chance: &mut Chance) -> Vec<LifeTurn> {
    let mut turns: Vec<LifeTurn> = (0..DISTRACTORS)
        .map(|_| {
            let aside = pick(&ASIDES, chance);
            let text = aside.replace("{s}", &subject(chance.below(facts.len())));
            LifeTurn { text, says: None }
        })
        .collect();
    for (fact, wording) in says {
        let text = facts.get(*fact).and_then(|fact| fact.wordings.get(*wording)).cloned();
        let place = chance.below(turns.len() + 1);
        let text = text.unwrap_or_default();
        turns.insert(place, LifeTurn { text, says: Some((*fact, *wording)) });
    }
    turns
}

fn fact(n: usize, chance: &mut Chance) -> Fact {
    let kind = pick(&KINDS, chance);
    let fate = match chance.below(20) {
        0..=4 => Fate::Stays,
        5..=14 => Fate::Corrected,
        15..=17 => Fate::SaidOtherwise,
        _ => Fate::CapturedOtherwise,
    };
    let name = subject(n);
    let mut values = vec![value(kind, chance)];
    let n_changes = match fate {
        Fate::Stays => 0,
        Fate::Corrected => 1 + usize::from(chance.below(3) == 0),
        Fate::SaidOtherwise | Fate::CapturedOtherwise => 1,
    };
    while values.len() <= n_changes {
        let next = match kind {
            Kind::Backup => if values.len() % 2 == 1 { "not " } else { "" }.to_owned(),
            _ => value(kind, chance),
        };
        if values.last() != Some(&next) {
            values.push(next);
        }
    }
    let wordings = values.iter().enumerate().map(|(n_before, value)| {
        // A correction is often said in other words, and without saying again what it is about.
        if fate == Fate::Corrected && 0 < n_before && chance.below(2) == 0 {
            terse(kind, value)
        } else {
            wording(kind, &name, value)
        }
    });
    let wordings = wordings.collect();
    let (cue, history_cue) = cues(kind, &name);
    Fact { kind, fate, wordings, cue, history_cue }
}

/// The name of what the fact is about; no two are alike, but each shares its halves with others.
fn subject(n: usize) -> String {
    let first = FIRST.get(n % FIRST.len()).copied().unwrap_or_default();
    let second = SECOND.get(n % SECOND.len()).copied().unwrap_or_default();
    match n / (FIRST.len() * SECOND.len()) {
        0 => format!("{first}-{second}"),
        round => format!("{first}-{second}-{round}"),
    }
}

fn value(kind: Kind, chance: &mut Chance) -> String {
    match kind {
        Kind::Port => (2000 + chance.below(60_000)).to_string(),
        Kind::Deadline => format!("{} {}", 1 + chance.below(28), pick(&MONTHS, chance)),
        Kind::Owner => pick(&PEOPLE, chance).to_owned(),
        Kind::Logs => format!("/srv/{}/logs", pick(&SECOND, chance)),
        Kind::Version => {
            format!("v{}.{}.{}", chance.below(9), chance.below(20), chance.below(20))
        }
        Kind::Store => pick(&STORES, chance).to_owned(),
        Kind::Backup => String::new(),
        Kind::Taste => pick(&TASTES, chance).to_owned(),
    }
}

fn wording(kind: Kind, name: &str, value: &str) -> String {
    match kind {
        Kind::Port => format!("The {name} service listens on port {value}."),
        Kind::Deadline => format!("The deadline for {name} is {value}."),
        Kind::Owner => format!("The owner of the {name} code is {value}."),
        Kind::Logs => format!("The logs of {name} are written to {value}."),
        Kind::Version => format!("The deployment of {name} is pinned to {value}."),
        Kind::Store => format!("The {name} service stores its data in {value}."),
        Kind::Backup => format!("The nightly backup of {name} is {value}enabled in production."),
        Kind::Taste => format!("In {name} I prefer {value} over anything else."),
    }
}

fn terse(kind: Kind, value: &str) -> String {
    match kind {
        Kind::Port => format!("It moved to {value}."),
        Kind::Deadline => format!("That was postponed, now {value}."),
        Kind::Owner => format!("{value} took over."),
        Kind::Logs => format!("They go to {value} since last week."),
        Kind::Version => format!("We upgraded to {value}."),
        Kind::Store => format!("Migrated to {value} over the weekend."),
        Kind::Backup => format!("From now on {value}enabled."),
        Kind::Taste => format!("I changed my mind: {value}."),
    }
}

fn cues(kind: Kind, name: &str) -> (String, String) {
    let (now, before) = match kind {
        Kind::Port => ("Which port does {s} listen on?", "Which port did {s} listen on before?"),
        Kind::Deadline => ("When is {s} due?", "What was the original deadline for {s}?"),
        Kind::Owner => ("Who owns {s}?", "Who was the previous owner of {s}?"),
        Kind::Logs => ("Where do the logs of {s} go?", "Where did the logs of {s} go earlier?"),
        Kind::Version => ("Which version is {s} pinned to?", "What was {s} pinned to previously?"),
        Kind::Store => {
            ("Where does {s} keep its data?", "Where did {s} use to store its data before?")
        }
        Kind::Backup => {
            ("Is the backup of {s} enabled?", "Was the backup of {s} enabled originally?")
        }
        Kind::Taste => ("What do I prefer in {s}?", "What did I prefer in {s} before?"),
    };
    (now.replace("{s}", name), before.replace("{s}", name))
}

fn pick<T: Copy>(from: &[T], chance: &mut Chance) -> T {
    from.get(chance.below(from.len())).copied().expect("no list above is empty")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_life_is_the_same_every_time_and_another_with_another_seed() {
        let (one, same, other) = (Life::new(40, 1), Life::new(40, 1), Life::new(40, 2));
        assert_eq!(one.sessions, same.sessions);
        assert_ne!(one.sessions, other.sessions);
    }

    #[test]
    fn every_fact_is_said_and_every_change_has_its_wording() {
        let life = Life::new(300, 7);
        let said: BTreeSet<(usize, usize)> =
            life.sessions.iter().flatten().filter_map(|turn| turn.says).collect();
        for (n, fact) in life.facts.iter().enumerate() {
            assert!(said.contains(&(n, 0)));
            assert_eq!(said.contains(&(n, 1)), fact.fate == Fate::SaidOtherwise);
            assert_eq!(fact.wordings.len() == 1, fact.fate == Fate::Stays);
            let distinct: BTreeSet<_> = fact.wordings.windows(2).filter(|w| w[0] == w[1]).collect();
            assert!(distinct.is_empty(), "{fact:?}");
        }
        let subjects: BTreeSet<String> = (0..5000).map(subject).collect();
        assert_eq!(subjects.len(), 5000);
    }
}
