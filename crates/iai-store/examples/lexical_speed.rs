//! How fast a store is filled, how large its index gets and what a question costs:
//! `cargo run --release -p iai-store --example lexical_speed -- 100000`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an example talks to whoever runs it, and stops where it fails"
)]

use std::time::Instant;

use iai_store::{
    IndexPace, KeySource, LexicalQuery, MemoryIndex, NewMemory, Prepared, Role, Scope, Store,
    StoreError, StorePaths, Tier,
};
use jiff::Timestamp;

const TURNS_PER_TRANSACTION: usize = 5000;
const TURNS_PER_SESSION: usize = 200;
const WORDS_PER_TURN: usize = 60;
/// Different words; the n-th is about n times rarer than the first.
const VOCABULARY: usize = 200_000;
const QUESTIONS: usize = 500;
const WORDS_PER_QUESTION: usize = 8;
const HITS: usize = 200;

fn main() {
    let n_turns = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir().unwrap();
    let paths = StorePaths {
        folder: folder.path().to_owned(),
        database: folder.path().join("memory.db"),
        vault: folder.path().join("vault.json"),
        key_file: folder.path().join(".crypto.key"),
        spool_public: folder.path().join("spool.pub"),
        aside: folder.path().join("aside"),
    };
    let open = || Store::open(&paths, &KeySource::default(), Timestamp::UNIX_EPOCH).unwrap().0;
    fill(&mut open(), n_turns);
    let mut store = open();
    let (begun, cpu) = (Instant::now(), cpu_ms());
    store.ensure_index().unwrap();
    println!("loaded in {:.0} ms, CPU {:.0} ms", ms_since(begun), cpu_ms() - cpu);
    store.index().with(ask_all).unwrap();
    let (begun, cpu) = (Instant::now(), cpu_ms());
    store.rebuild_index().unwrap();
    println!(
        "made again from the texts in {:.0} ms, CPU {:.0} ms",
        ms_since(begun),
        cpu_ms() - cpu
    );
    println!("resident {}", resident());
}

/// Stores turns, and segments as they become due.
fn fill(store: &mut Store, n_turns: usize) {
    store.ensure_index().unwrap();
    store.begin_bulk().unwrap();
    let mut dice = Dice(4711);
    let (mut storing_ms, mut words_ms, mut segments_ms) = (0.0, 0.0, 0.0);
    let mut stored = 0;
    while stored < n_turns {
        let n_now = TURNS_PER_TRANSACTION.min(n_turns - stored);
        let turns: Vec<NewMemory> = (stored..stored + n_now).map(|n| turn(n, &mut dice)).collect();
        let begun = cpu_ms();
        let prepared: Vec<Prepared<'_>> = turns.iter().map(Prepared::of).collect();
        words_ms += cpu_ms() - begun;
        let begun = cpu_ms();
        let written = store.write(|w| {
            prepared
                .into_iter()
                .try_for_each(|p| w.insert_prepared(p, Timestamp::UNIX_EPOCH).map(drop))
        });
        written.map_err(|error: StoreError| error.to_string()).unwrap();
        storing_ms += cpu_ms() - begun;
        let begun = cpu_ms();
        while let Some(made) = store.index().make_due(IndexPace::Calm) {
            store.keep(made).unwrap();
        }
        segments_ms += cpu_ms() - begun;
        stored += n_now;
    }
    let size = store.index().with(MemoryIndex::size).unwrap();
    println!(
        "{n_turns} turns, CPU: words {words_ms:.0} ms, storing {storing_ms:.0} ms, \
         segments {segments_ms:.0} ms"
    );
    println!("{} segments, {:.1} MB", size.n_segments, size.segment_bytes as f64 / 1e6);
}

fn turn(number: usize, dice: &mut Dice) -> NewMemory {
    let words: Vec<String> = (0..WORDS_PER_TURN).map(|_| word(dice.zipf())).collect();
    NewMemory {
        host: "example".into(),
        session: format!("session-{}", number / TURNS_PER_SESSION),
        turn_uuid: None,
        turn_index: Some(number as u64),
        role: if number.is_multiple_of(2) { Role::User } else { Role::Assistant },
        tier: Tier::Episodic,
        project: Some("example".into()),
        cwd: Some("/example".into()),
        turn_at: Timestamp::from_second(number as i64).unwrap(),
        captured_at: Timestamp::UNIX_EPOCH,
        text: words.join(" "),
        language: None,
        tags: Vec::new(),
        provenance: serde_json::json!({}),
        cue: None,
        pinned: false,
    }
}

/// Ranks from the rarest, from anywhere, and from the top.
fn ask_all(index: &MemoryIndex) {
    let mut dice = Dice(41);
    ask(index, "content words", || 2_000 + dice.below(50_000));
    let mut dice = Dice(42);
    let mixed = || if dice.below(2) == 0 { dice.below(60) } else { 500 + dice.below(20_000) };
    ask(index, "mixed", mixed);
    let mut dice = Dice(43);
    ask(index, "all common", || dice.below(40));
}

/// The system counts processor time in ticks, so that only the sum over many questions means
/// anything; the middle and the slow end are wall clock.
fn ask(index: &MemoryIndex, name: &str, mut rank: impl FnMut() -> usize) {
    let mut took: Vec<f64> = Vec::new();
    let cpu = cpu_ms();
    for _ in 0..QUESTIONS {
        let words = (0..WORDS_PER_QUESTION).map(|_| word(rank())).collect();
        let query = LexicalQuery { words, phrases: Vec::new() };
        let begun = Instant::now();
        let hits = index.search(&query, &Scope::default(), HITS);
        took.push(ms_since(begun));
        assert!(hits.len() <= HITS);
    }
    let mean = (cpu_ms() - cpu) / QUESTIONS as f64;
    took.sort_by(f64::total_cmp);
    let at = |share: usize| took[took.len() * share / 100];
    println!("{name}: CPU mean {mean:.2} ms; wall p50 {:.2} ms, p95 {:.2} ms", at(50), at(95));
}

/// The processor time of this thread, where the system tells it.
fn cpu_ms() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() / 1e6
}

fn resident() -> String {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    told.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("unknown").to_owned()
}

fn ms_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

fn word(rank: usize) -> String {
    format!("w{}", to_letters(rank))
}

fn to_letters(mut rank: usize) -> String {
    let mut letters = String::new();
    loop {
        letters.push(char::from(b"bcdfghjklmnpqrtvxz"[rank % 18]));
        rank /= 18;
        if rank == 0 {
            return letters;
        }
    }
}

/// A small generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() * most as f64) as usize
    }

    /// A rank whose chance falls with the rank: the inverse of the logarithmic distribution.
    fn zipf(&mut self) -> usize {
        ((VOCABULARY as f64).powf(self.next()) - 1.0) as usize
    }
}
