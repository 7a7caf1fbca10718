//! How long a brief takes in a large store:
//! `cargo run --release -p iai-memory --example brief_speed -- 100000`. With a folder behind it,
//! the store is made there and stays; a second run opens it and only measures.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an example talks to whoever runs it, and stops where it fails"
)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use iai_memory::{
    BriefAsk, KeySource, MemoryEngine, NewMemory, Pace, Patience, Role, SpoolBatch, StorePaths,
    Tier,
};
use jiff::{SignedDuration, Timestamp};

/// Turns of one session.
const SESSION_TURNS: u64 = 50;
const PROJECTS: u64 = 8;
const BRIEFS: usize = 50;

fn main() {
    let n_turns: u64 = std::env::args().nth(1).map_or(100_000, |n| n.parse().unwrap());
    let thrown_away = tempfile::tempdir().unwrap();
    let folder = std::env::args().nth(2).map_or(thrown_away.path().to_owned(), PathBuf::from);
    let path = |name: &str| folder.join(name);
    let paths = StorePaths {
        folder: folder.clone(),
        database: path("memory.db"),
        vault: path("vault.json"),
        key_file: path(".crypto.key"),
        spool_public: path("spool.pub"),
        aside: path("aside"),
    };
    let now = clock();
    let keys = KeySource { passphrase: None };
    if !paths.database.exists() {
        make(&paths, &keys, n_turns);
    }
    let begun = Instant::now();
    let (engine, _) = MemoryEngine::open(&paths, &keys, now).unwrap();
    engine.load_index().unwrap();
    println!("opened again, index loaded, in {:.1?}", begun.elapsed());
    for _ in 0..2 {
        let took: Vec<String> =
            (0..PROJECTS).map(|n| format!("{:.1?}", compose(&engine, n, now).0)).collect();
        println!("    each project once: {}", took.join(", "));
    }
    measure(&engine, now, "then");
}

/// Makes a store, does all quiet work in it, and measures before and after that.
fn make(paths: &StorePaths, keys: &KeySource, n_turns: u64) {
    let now = clock();
    let (engine, _) = MemoryEngine::open(paths, keys, now).unwrap();
    engine.load_index().unwrap();
    let begun = Instant::now();
    for first in (0..n_turns).step_by(2000) {
        let turns: Vec<NewMemory> =
            (first..n_turns.min(first + 2000)).map(|n| turn(n, n_turns, now)).collect();
        let file = format!("f{first}");
        let batch = SpoolBatch { file, turns, bad_lines: Vec::new(), is_last: true };
        engine.store_batch(&batch, now).unwrap();
    }
    println!("stored {n_turns} turns in {:.1?}", begun.elapsed());
    measure(&engine, now, "before any quiet work");
    let begun = Instant::now();
    let n_sequels = organise(&engine);
    println!("quiet work in {:.1?}, {n_sequels} times something was said again", begun.elapsed());
    measure(&engine, now, "after it");
    engine.seal_index().unwrap();
}

fn clock() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

/// Does all quiet work there is; returns how often something was said about the same as a remark.
fn organise(engine: &MemoryEngine) -> u64 {
    let mut n_sequels = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let idle_min = Duration::from_secs(3600);
            let pace = Pace { clock: &clock, idle_min, after_idle_round: &|| () };
            engine.organise_until_stopped(&pace).unwrap();
        });
        loop {
            let patience = Patience(Duration::from_secs(3600));
            let answer = engine.consolidate(patience, &clock).unwrap();
            let sequels = answer.steps.get("sequels").and_then(|done| done.get("sequels_found"));
            n_sequels += sequels.copied().unwrap_or_default();
            if answer.is_finished {
                break;
            }
        }
        engine.stop_organising();
    });
    n_sequels
}

/// Composes the brief of a project; returns how long it took and how long it is.
fn compose(engine: &MemoryEngine, n_project: u64, now: Timestamp) -> (Duration, usize) {
    let project = Some(format!("/w/project-{n_project}"));
    let ask = BriefAsk { session: "next".to_owned(), project };
    let begun = Instant::now();
    let n_chars = engine.brief(&ask, now).unwrap().markdown.chars().count();
    (begun.elapsed(), n_chars)
}

fn measure(engine: &MemoryEngine, now: Timestamp, when: &str) {
    let worked_before = worked_ms();
    let told = (0..BRIEFS).map(|n| compose(engine, n as u64 % PROJECTS, now));
    let (mut took, n_chars): (Vec<Duration>, Vec<usize>) = told.unzip();
    let n_chars = n_chars[0];
    let cpu = (worked_ms() - worked_before) / took.len() as f64;
    let first = took[0];
    took.sort_unstable();
    let (median, slowest) = (took[BRIEFS / 2], took[BRIEFS - 1]);
    println!("{when}: {n_chars} characters, {cpu:.1} ms of CPU each");
    println!("    wall: first {first:.1?}, median {median:.1?}, slowest {slowest:.1?}");
}

/// What all threads have worked so far, those that are gone included; 0 where nobody tells.
fn worked_ms() -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = told.rsplit(") ").next().unwrap_or_default().split(' ');
    // In user and in system mode, in hundredths of a second.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}

/// So many made-up words there are, a few of them frequent and most of them rare.
const WORDS: f64 = 20_000.0;
const SYLLABLES: &[&str] =
    &["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo", "ka"];

fn words(seed: u64, n: u64) -> String {
    let words: Vec<String> = (0..n).map(|at| word(n * seed + at)).collect();
    words.join(" ")
}

fn word(seed: u64) -> String {
    // SplitMix64; log-uniform, as words are in speech.
    let mut mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let share = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
    let mut rank = WORDS.powf(share) as usize;
    let mut word = SYLLABLES[rank % 7].to_owned();
    while 0 < rank {
        word.push_str(SYLLABLES[rank % SYLLABLES.len()]);
        rank /= SYLLABLES.len();
    }
    word
}

/// After so many turns, something is said again about a remark: in its project, in another session.
const SAID_AGAIN_AFTER: u64 = SESSION_TURNS * 2 * (PROJECTS - 1);

/// Half of all turns are the first project's; every seventh turn remarks something, and every
/// seventh says how that is by now.
fn turn(n: u64, n_turns: u64, now: Timestamp) -> NewMemory {
    let session = n / SESSION_TURNS;
    let project = if session.is_multiple_of(2) { 0 } else { 1 + session / 2 % (PROJECTS - 1) };
    let minutes = i64::try_from(2 * (n_turns - n)).unwrap();
    let text = match n % 14 {
        0 => format!("Always check the {} before you open the {}.", word(3 * n), word(5 * n)),
        7 => format!("We decided to build {} out of {}.", words(n, 3), words(n + 1, 2)),
        2 if SAID_AGAIN_AFTER < n => {
            let wish = n - 2 - SAID_AGAIN_AFTER;
            format!("The {} moved to {}, the {} is gone.", word(3 * wish), word(n), word(5 * wish))
        }
        4 if SAID_AGAIN_AFTER < n => {
            let decision = n + 3 - SAID_AGAIN_AFTER;
            let (built, material) = (words(decision, 3), words(decision + 1, 2));
            format!("We no longer build {built} out of {material}, it moved to {}.", word(n))
        }
        _ => {
            let sentences: Vec<String> = (0..4).map(|at| words(4 * n + at, 12)).collect();
            sentences.join(". ") + "."
        }
    };
    NewMemory {
        host: "test".to_owned(),
        session: format!("session-{session}"),
        turn_uuid: None,
        turn_index: Some(n % SESSION_TURNS),
        role: if n.is_multiple_of(2) { Role::User } else { Role::Assistant },
        tier: Tier::Episodic,
        project: Some(format!("/w/project-{project}")),
        cwd: Some(format!("/w/project-{project}/{}", session % 5)),
        turn_at: now - SignedDuration::from_mins(minutes),
        captured_at: now,
        text,
        cue: None,
        language: None,
        tags: Vec::new(),
        provenance: serde_json::json!({}),
        pinned: false,
    }
}
