//! Sixty sessions of a developer, made up: three projects, what is said about them, what changes,
//! and much talk between. The same seed gives the same words; the last session was yesterday.

use std::fs;
use std::io::Write as _;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::support::Sandbox;

pub(super) const PROJECTS: [&str; 3] = ["ledger", "storefront", "atlas"];
/// Sessions of each project.
const SESSIONS_EACH: usize = 20;
/// From one session to the next.
const BETWEEN: SignedDuration = SignedDuration::from_hours(53);
/// Something that is said: project, which of its sessions, and the user's words.
type Said = (&'static str, usize, &'static str);

/// What is said once, and what is said otherwise later.
const FACTS: &[Said] = &[
    ("ledger", 1, "The payments gateway runs on port 7443 in staging."),
    ("ledger", 11, "Note: the payments gateway runs on port 7500 in staging now."),
    ("ledger", 2, "The audit deadline is 14 October."),
    ("ledger", 12, "The audit deadline is 28 October, not 14 October."),
    ("ledger", 3, "Nightly dumps are written to /srv/dumps/ledger."),
    ("ledger", 13, "Nightly dumps are written to /mnt/backup/ledger instead of /srv/dumps/ledger."),
    ("ledger", 4, "Our bookkeeping daemon is called ledgerd."),
    ("ledger", 14, "By the way: our bookkeeping daemon is called tallyman from today on."),
    ("ledger", 5, "Refunds above 500 euros are approved by Marta."),
    ("storefront", 1, "The checkout page is rendered by React 18."),
    ("storefront", 9, "- the checkout page is rendered by React 19\n- coupons are unchanged"),
    ("storefront", 2, "The spring campaign starts on 3 March and ends on 20 March."),
    ("storefront", 10, "The spring campaign starts on 10 March and ends on 27 March."),
    ("storefront", 3, "The image cache keeps 200 entries for 30 minutes."),
    ("storefront", 11, "The image cache keeps 500 entries for 90 minutes."),
    ("storefront", 4, "The shop search is served by Elasticsearch."),
    ("storefront", 12, "The shop search is served by Meilisearch, not Elasticsearch."),
    ("storefront", 5, "Nobody outside may hear of the Nightjar launch."),
    ("atlas", 1, "The weather feed is fetched every 15 minutes."),
    ("atlas", 8, "Heads up: the weather feed is now fetched every 5 minutes."),
    ("atlas", 2, "The tile renderer is pinned to gdal v3.6.2."),
    ("atlas", 9, "The tile renderer is pinned to gdal v3.9.1."),
    ("atlas", 3, "Map exports are owned by Priya."),
    ("atlas", 10, "Map exports are owned by Jonas instead of Priya."),
    ("atlas", 4, "The coastline job is enabled in production."),
    ("atlas", 11, "The coastline job is not enabled in production any more."),
];

/// What is decided, wished for again and again, and put off.
const STANDING: &[Said] = &[
    ("ledger", 6, "We decided to store amounts as integer cents."),
    ("ledger", 16, "Decision: payments are keyed by their bank reference."),
    ("ledger", 7, "Please use nextest, not cargo test."),
    ("ledger", 10, "Again, use nextest, not cargo test!"),
    ("ledger", 15, "Use nextest, not cargo test, before you hand it over."),
    ("ledger", 17, "Please use nextest, not cargo test."),
    ("ledger", 8, "I prefer small commits over big ones."),
    ("storefront", 6, "We agreed that prices are shown with tax."),
    ("storefront", 7, "Use pnpm, not npm."),
    ("storefront", 13, "Use pnpm, not npm, please."),
    ("storefront", 15, "Use pnpm, not npm."),
    ("storefront", 16, "From now on, write the commit messages in English."),
    ("atlas", 6, "Let's go with parquet for the intermediate files."),
    ("atlas", 12, "Always run the pipeline on the small sample first."),
];

/// How the last session of each project ends.
const ENDINGS: [(&str, &str); 3] = [
    ("ledger", "We still need to write the rollback of migration 0042, tomorrow."),
    ("storefront", "Should the wishlist survive a logout?"),
    ("atlas", "TODO: compare the new tiles with those of last year"),
];

/// What people ask for all day; `{t}` is a part of the project, `{n}` a figure.
const ASKED: [&str; 14] = [
    "Can you look at {t}? It feels slow since Tuesday.",
    "Please add a test for {t} with an empty input.",
    "Why does {t} log {n} warnings on startup?",
    "Refactor {t} so that the parsing is separate from the writing.",
    "The build of {t} fails on the second runner, have a look.",
    "What would it take to split {t} in two?",
    "Rename the helper in {t}, its name says nothing.",
    "Show me where {t} swallows the error.",
    "The customer saw {t} time out after {n} seconds.",
    "Write down how {t} is deployed, nobody remembers.",
    "Is there a reason that {t} keeps {n} connections open?",
    "Let us remove the dead branch in {t}.",
    "I get a different result from {t} on my laptop.",
    "Review the change to {t} before I push it.",
];
const ANSWERED: [&str; 12] = [
    "I looked at {t}: the time goes into {n} small queries. I batched them, and it is fine now.",
    "Added the test for {t}. It covers the empty input and an input with {n} rows.",
    "The warnings of {t} come from a missing setting; I gave it a default and removed {n} lines.",
    "Done. {t} now reads first and writes afterwards, in two functions of {n} lines.",
    "The runner lacked a library that {t} needs. I added it to the image; the build is green.",
    "Splitting {t} would touch {n} files. The hard part is the shared cache.",
    "Renamed. Nothing else in {t} used the old name, I checked all {n} places.",
    "It is in the retry of {t}: the error is logged and dropped after {n} attempts.",
    "I raised the timeout of {t} and added a metric, so that we see it the next time.",
    "Written into the readme of {t}, with the {n} commands in order.",
    "The dead branch in {t} is gone, {n} lines fewer.",
    "The change to {t} looks good to me; one name could be clearer.",
];
const ACKNOWLEDGED: [&str; 5] = [
    "Noted.",
    "Understood, I will keep to that.",
    "Thanks for telling me, I adjusted the plan.",
    "Got it. I continue with the rest.",
    "Good to know; nothing else depends on it.",
];

fn parts_of(project: &str) -> [&'static str; 6] {
    match project {
        "ledger" => [
            "the payments gateway",
            "the audit log",
            "the refund form",
            "the dump script",
            "the invoice import",
            "the exchange rates",
        ],
        "storefront" => [
            "the checkout page",
            "the image cache",
            "the shop search",
            "the coupon box",
            "the campaign banner",
            "the product list",
        ],
        _ => [
            "the weather feed",
            "the tile renderer",
            "the map export",
            "the coastline job",
            "the geocoder",
            "the sample loader",
        ],
    }
}

/// A small generator, so that the words are the same on every machine.
struct Chance(u64);

impl Chance {
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        from[usize::try_from(self.0 >> 33).unwrap() % from.len()]
    }
}

/// Writes all sessions as transcripts where a host would, and returns how many turns there are.
pub(super) fn write(sandbox: &Sandbox, seed: u64) -> u64 {
    let mut chance = Chance(seed);
    let n_all = SESSIONS_EACH * PROJECTS.len();
    let yesterday = Timestamp::now() - SignedDuration::from_hours(24);
    let mut n_turns = 0;
    for n in 0..n_all {
        let project = PROJECTS[n % PROJECTS.len()];
        let nth = n / PROJECTS.len();
        let before = i32::try_from(n_all - 1 - n).unwrap();
        let turns = session(project, nth, &mut chance);
        n_turns += turns.len() as u64;
        transcript(sandbox, (project, nth), yesterday - BETWEEN * before, &turns);
    }
    n_turns
}

/// The user first, then in turns.
fn session(project: &str, nth: usize, chance: &mut Chance) -> Vec<String> {
    let parts = parts_of(project);
    let mut talk = |from: &[&str]| {
        let figure = chance.pick(&["3", "7", "12", "40", "90"]);
        chance.pick(from).replace("{t}", chance.pick(&parts)).replace("{n}", figure)
    };
    let mut turns = vec![talk(&ASKED), talk(&ANSWERED)];
    let said = FACTS.iter().chain(STANDING).filter(|said| (said.0, said.1) == (project, nth));
    for (_, _, words) in said {
        turns.extend([(*words).to_owned(), talk(&ACKNOWLEDGED)]);
    }
    for _ in 0..2 {
        turns.extend([talk(&ASKED), talk(&ANSWERED)]);
    }
    if nth + 1 == SESSIONS_EACH {
        let ending = ENDINGS.iter().find(|ending| ending.0 == project).unwrap();
        turns.push(ending.1.to_owned());
    }
    turns
}

fn transcript(sandbox: &Sandbox, of: (&str, usize), at: Timestamp, turns: &[String]) {
    let (project, nth) = of;
    let session = format!("{project}-{nth}");
    let (cwd, folder) = (sandbox.path(project), sandbox.path(".claude/projects").join(project));
    fs::create_dir_all(&cwd).unwrap();
    fs::create_dir_all(&folder).unwrap();
    let mut file = fs::File::create(folder.join(format!("{session}.jsonl"))).unwrap();
    for (place, text) in turns.iter().enumerate() {
        let role = ["user", "assistant"][place % 2];
        let said_at = at + SignedDuration::from_mins(i64::try_from(place).unwrap());
        let line = json!({
            "type": role, "uuid": format!("{session}-{place}"), "sessionId": session,
            "timestamp": said_at.to_string(), "cwd": cwd,
            "message": {"role": role, "content": text},
        });
        writeln!(file, "{line}").unwrap();
    }
}
