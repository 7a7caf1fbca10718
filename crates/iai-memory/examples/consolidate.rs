//! How long a made-up store takes to be consolidated end to end, what it grows by, and how long
//! somebody who asks all the while waits: by words, and by vectors of a fake model.
//!
//! `cargo run --release -p iai-memory --example consolidate -- 50000`
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example prints, and stops where it cannot go on"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use iai_memory::{
    Certainty, FakeEmbedder, KeySource, MemoryEngine, NewMemory, Pace, Patience, RecallAsk, Role,
    StorePaths, Tier, Timing,
};
use jiff::{SignedDuration, Timestamp};

const SUBJECTS: usize = 400;
const TURNS_PER_SESSION: usize = 20;
/// Questions while nothing else is done.
const QUESTIONS: usize = 300;
const PAUSE: Duration = Duration::from_millis(20);

fn main() {
    let n_turns = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    for with_model in [false, true] {
        measure(n_turns, with_model);
    }
}

fn measure(n_turns: usize, with_model: bool) {
    let folder = tempfile::tempdir().unwrap();
    let engine = filled(folder.path(), n_turns, with_model);
    let lane = if with_model { "fake vectors" } else { "words" };
    let before = memory_mib("VmRSS:");
    let idle = asked(&engine, &|n| n < QUESTIONS);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asker = scope.spawn(|| asked(&engine, &|_| !is_over.load(Ordering::Relaxed)));
        scope.spawn(|| {
            let pace = Pace {
                clock: &clock,
                idle_min: Duration::from_secs(3600),
                after_idle_round: &|| (),
            };
            engine.organise_until_stopped(&pace).unwrap();
        });
        let begun = Instant::now();
        loop {
            let answer = engine.consolidate(Patience(Duration::from_secs(5)), &clock).unwrap();
            let seconds = begun.elapsed().as_secs_f64();
            println!("{lane}: {seconds:.0} s at {:?} {:?}", answer.at_step, answer.steps);
            if answer.is_finished {
                break;
            }
        }
        let took = begun.elapsed().as_secs_f64();
        is_over.store(true, Ordering::Relaxed);
        println!("{lane}: recall idle {}", told(idle));
        println!("{lane}: recall meanwhile {}", told(asker.join().unwrap()));
        let again = Instant::now();
        let answer = engine.consolidate(Patience(Duration::from_secs(60)), &clock).unwrap();
        println!("{lane}: {n_turns} turns in {took:.1} s; again in {:?}", again.elapsed());
        assert!(answer.steps.is_empty(), "{answer:?}");
        engine.stop_organising();
    });
    let (overview, topics) = (engine.overview().unwrap(), engine.topics(None).unwrap());
    let largest: Vec<(u64, &str)> =
        topics.iter().take(5).map(|topic| (topic.n_members, topic.label.as_str())).collect();
    println!("{lane}: {} memories, {} links", overview.memories, overview.links);
    println!("{lane}: largest topics {largest:?}");
    let (after, peak) = (memory_mib("VmRSS:"), memory_mib("VmHWM:"));
    println!("{lane}: RSS {before} MiB before, {after} MiB after, {peak} MiB at most");
}

/// Somebody who asks one question after another, with a pause between them.
fn asked(engine: &MemoryEngine, go_on: &dyn Fn(usize) -> bool) -> Vec<Duration> {
    let mut took = Vec::new();
    while go_on(took.len()) {
        let subject = took.len() * 7919 % SUBJECTS;
        let cue: Vec<String> = (0..8).map(|place| word(subject, took.len() * 64 + place)).collect();
        let ask = RecallAsk {
            cue: cue.join(" "),
            budget_tokens: 1500,
            project: None,
            asked_from: None,
            session: None,
            certainty: Certainty::Any,
            as_of: None,
            timing: Timing::Untold,
            n_hits_wanted: None,
        };
        let begun = Instant::now();
        let asking = engine.asking();
        engine.recall(&ask, clock()).unwrap();
        drop(asking);
        took.push(begun.elapsed());
        std::thread::park_timeout(PAUSE);
    }
    took
}

fn told(mut took: Vec<Duration>) -> String {
    took.sort_unstable();
    let at = |share: usize| took.get(took.len() * share / 100).copied().unwrap_or_default();
    format!("{} times, p50 {:.1?}, p99 {:.1?}", took.len(), at(50), at(99))
}

fn filled(folder: &std::path::Path, n_turns: usize, with_model: bool) -> MemoryEngine {
    let paths = StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join("key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    };
    let keys = KeySource { passphrase: None };
    let engine = MemoryEngine::open(&paths, &keys, clock()).unwrap().0;
    engine.load_index().unwrap();
    for session in 0..n_turns / TURNS_PER_SESSION {
        engine.store_turns(&turns(session), clock()).unwrap();
    }
    while engine.tend_index().unwrap() {}
    if with_model {
        engine.attach_model(Arc::new(FakeEmbedder::default())).unwrap();
        while engine.embed_step().unwrap() {}
    }
    engine
}

fn clock() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

/// The turns of a session about one subject: sentences of its own words and of everybody's.
fn turns(session: usize) -> Vec<NewMemory> {
    let subject = session * 7919 % SUBJECTS;
    (0..TURNS_PER_SESSION).map(|index| turn(session, subject, index)).collect()
}

fn turn(session: usize, subject: usize, index: usize) -> NewMemory {
    let seed = session * TURNS_PER_SESSION + index;
    let words: Vec<String> = (0..60).map(|place| word(subject, seed * 64 + place)).collect();
    let sentences: Vec<String> =
        words.chunks(12).map(|words| format!("The {}.", words.join(" "))).collect();
    let since = SignedDuration::from_mins(i64::try_from(seed).unwrap());
    NewMemory {
        host: "example".to_owned(),
        session: format!("s{session}"),
        turn_uuid: None,
        turn_index: Some(index as u64),
        role: if index.is_multiple_of(2) { Role::User } else { Role::Assistant },
        tier: Tier::Episodic,
        project: Some(format!("project{}", subject % 10)),
        cwd: None,
        turn_at: clock() - SignedDuration::from_hours(24 * 365) + since,
        captured_at: clock(),
        text: format!(
            "{} Run `make {}` with Tool{}.",
            sentences.join(" "),
            spelled(subject % 10),
            spelled(subject)
        ),
        language: None,
        tags: Vec::new(),
        provenance: serde_json::json!({}),
        cue: None,
        pinned: false,
    }
}

/// One word in five belongs to the subject; the others are as rare as in any language.
fn word(subject: usize, seed: usize) -> String {
    let mut mixed = (seed as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    if mixed.is_multiple_of(5) {
        return format!("about{}{}", spelled(subject), spelled((mixed / 5 % 12) as usize));
    }
    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    let unit = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of words"
    )]
    let rank = 30_000_f64.powf(unit) as usize;
    spelled(rank)
}

/// A number in letters.
fn spelled(mut number: usize) -> String {
    let mut word = String::new();
    loop {
        let syllables = ["ba", "ne", "ki", "lo", "mu", "ra", "te", "vi"];
        word.push_str(syllables.get(number % 8).copied().unwrap_or_default());
        number /= 8;
        if number == 0 {
            return word;
        }
    }
}

/// What the kernel says about this process, in MiB.
fn memory_mib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
