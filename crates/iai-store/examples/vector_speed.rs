//! Measures vector search: `vector_speed -- N [VECTORS CUES]`, the two being files of raw
//! little-endian `f32`, 384 to a vector; without them, clustered vectors are made up.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints or falls over")]

use std::path::Path;
use std::time::Instant;

use iai_store::{
    KeySource, Limits, MemoryNumber, ModelNumber, NewMemory, NewModel, Part, Pooling, Reader, Role,
    Store, StoreError, StorePaths, Tier, VectorIndex,
};
use jiff::Timestamp;

const DIMENSION: usize = 384;
const N_BEST: usize = 20;
const N_CUES: usize = 100;
const BATCH: usize = 1000;
const LIMITS: [(usize, usize); 7] =
    [(1000, 50), (1000, 100), (2000, 100), (2000, 200), (4000, 200), (4000, 400), (8000, 400)];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let n: usize = arguments.first().map_or(100_000, |n| n.parse().unwrap());
    let (vectors, cues) = match arguments.as_slice() {
        [_, vectors, cues] => (read(vectors, n), read(cues, N_CUES)),
        _ => made_up(n),
    };
    let nearest: Vec<Vec<u32>> = cues.chunks(DIMENSION).map(|cue| exact(&vectors, cue)).collect();
    let folder = tempfile::tempdir().unwrap();
    let (store, model) = filled(folder.path(), &vectors);
    drop(vectors);
    let reader = store.reader().unwrap();
    let resident = status_kib("VmRSS:");
    let (index, load) = timed(|| VectorIndex::load(&reader, model).unwrap());
    println!(
        "{} vectors: load {:.1} ms CPU, {:.1} ms wall, resident +{} KiB, database {} KiB",
        index.n_vectors(),
        load.cpu,
        load.wall,
        status_kib("VmRSS:").saturating_sub(resident),
        std::fs::metadata(folder.path().join("memory.db")).unwrap().len() / 1024,
    );
    let bench = Bench { index, reader, cues, nearest };
    report(&bench, "scan", (0, 0));
    report(&bench, "scan, estimate", (2000, 0));
    for limits in LIMITS {
        report(&bench, "scan, estimate, compare", limits);
    }
    report_cosines(&bench);
}

fn report_cosines(bench: &Bench) {
    let mut times: Vec<Time> = (bench.cues.chunks(DIMENSION).zip(&bench.nearest))
        .map(|(cue, nearest)| {
            let numbers: Vec<_> = nearest.iter().map(|n| MemoryNumber::new(*n)).collect();
            timed(|| bench.index.cosines(&bench.reader, cue, &numbers).unwrap()).1
        })
        .collect();
    print_times("cosines of 20 memories", &mut times, "");
}

struct Bench {
    index: VectorIndex,
    reader: Reader,
    cues: Vec<f32>,
    /// The numbers of the memories that are truly nearest to each cue.
    nearest: Vec<Vec<u32>>,
}

fn report(bench: &Bench, stage: &str, (n_scan, n_estimate): (usize, usize)) {
    let Bench { index, reader, cues, nearest } = bench;
    let limits = Limits { n_scan, n_estimate };
    let mut n_found = 0;
    let mut times: Vec<Time> = Vec::new();
    for (cue, nearest) in cues.chunks(DIMENSION).zip(nearest) {
        let (found, time) = timed(|| index.search(reader, cue, |_| true, limits).unwrap());
        let best = found.hits.iter().take(N_BEST);
        n_found += best.filter(|hit| nearest.contains(&hit.number.get())).count();
        times.push(time);
    }
    let recall = 100.0 * ratio(n_found) / ratio(nearest.len() * N_BEST);
    let recall = if n_estimate == 0 { String::new() } else { format!("recall@20 {recall:.2} %") };
    print_times(&format!("{stage} {n_scan} / {n_estimate}"), &mut times, &recall);
}

fn print_times(what: &str, times: &mut [Time], note: &str) {
    times.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
    let at = |percent: usize| times.get(times.len() * percent / 100).unwrap();
    println!("{what:36} CPU p50 {:.3} p95 {:.3} ms  {note}", at(50).cpu, at(95).cpu);
}

/// Milliseconds; `cpu` is of this thread alone.
struct Time {
    cpu: f64,
    wall: f64,
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Time) {
    let (cpu, wall) = (cpu_ms(), Instant::now());
    let done = work();
    let wall = wall.elapsed().as_secs_f64() * 1000.0;
    (done, Time { cpu: cpu.zip(cpu_ms()).map_or(wall, |(before, after)| after - before), wall })
}

fn cpu_ms() -> Option<f64> {
    // Yielding makes the kernel write down the time used up to now.
    std::thread::yield_now();
    let facts = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    facts.split(' ').next()?.parse::<f64>().ok().map(|nanos| nanos / 1e6)
}

fn status_kib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

fn ratio(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap())
}

fn filled(folder: &Path, vectors: &[f32]) -> (Store, ModelNumber) {
    let paths = StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join(".crypto.key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    };
    let now = Timestamp::UNIX_EPOCH;
    let (mut store, _) = Store::open(&paths, &KeySource::default(), now).unwrap();
    let model = NewModel {
        name: "bench".into(),
        sha256: [0; 32],
        pooling: Pooling::Mean,
        prefix: String::new(),
        dimension: u16::try_from(DIMENSION).unwrap(),
        n_tokens_max: 256,
    };
    let model = store.write(|w| w.put_model(&model)).unwrap();
    let mut writing = 0.0;
    for (batch, vectors) in (0..).zip(vectors.chunks(DIMENSION * BATCH)) {
        let numbers = (1 + batch * u32::try_from(BATCH).unwrap())..;
        let written = timed(|| {
            store.write(|w| {
                for (number, vector) in numbers.zip(vectors.chunks(DIMENSION)) {
                    w.insert(&memory(number), now)?;
                    let part = Part { start: 0, end: 1, vector: vector.to_vec() };
                    w.put_vectors(model, MemoryNumber::new(number), &[part])?;
                }
                Ok::<_, StoreError>(())
            })
        });
        written.0.unwrap();
        writing += written.1.cpu;
    }
    store.checkpoint().unwrap();
    println!("written, memories and words included: {writing:.0} ms CPU");
    (store, model)
}

fn memory(number: u32) -> NewMemory {
    NewMemory {
        host: "bench".into(),
        session: "s".into(),
        turn_uuid: None,
        turn_index: Some(number.into()),
        role: Role::User,
        tier: Tier::Episodic,
        project: None,
        cwd: None,
        turn_at: Timestamp::from_second(number.into()).unwrap(),
        captured_at: Timestamp::UNIX_EPOCH,
        text: "x".into(),
        language: None,
        tags: Vec::new(),
        provenance: serde_json::json!({}),
        cue: None,
        pinned: false,
    }
}

/// Returns the numbers of the nearest vectors by comparing all of them in full.
fn exact(vectors: &[f32], cue: &[f32]) -> Vec<u32> {
    let mut all: Vec<(f32, u32)> = (vectors.chunks(DIMENSION).zip(1..))
        .map(|(vector, number)| (dot(vector, cue), number))
        .collect();
    let n_best = N_BEST.min(all.len().saturating_sub(1));
    all.select_nth_unstable_by(n_best, |a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(N_BEST).map(|(_, number)| number).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

fn read(path: &str, n: usize) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    let values = bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value));
    values.take(n * DIMENSION).collect()
}

/// Returns vectors in clusters of fifty and cues from the same clusters.
fn made_up(n: usize) -> (Vec<f32>, Vec<f32>) {
    let mut random = Random(88_172_645_463_325_252);
    let n_clusters = (n / 50).max(1);
    // Real components are not equally wide, nor is their mean zero.
    let widths: Vec<f32> = (0..DIMENSION).map(|at| (-0.005 * ratio32(at)).exp()).collect();
    let common: Vec<f32> = (0..DIMENSION).map(|_| 0.2 * random.normal()).collect();
    let centres: Vec<Vec<f32>> = (0..n_clusters)
        .map(|_| {
            widths.iter().zip(&common).map(|(width, mean)| mean + width * random.normal()).collect()
        })
        .collect();
    let mut draw = |n: usize| {
        let mut vectors = Vec::with_capacity(n * DIMENSION);
        for _ in 0..n {
            let cluster = usize::try_from(random.next() >> 32).unwrap() % n_clusters;
            let centre = centres.get(cluster).unwrap().iter().zip(&widths);
            let vector: Vec<f32> =
                centre.map(|(centre, width)| centre + 1.2 * width * random.normal()).collect();
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vectors.extend(vector.iter().map(|x| x / length));
        }
        vectors
    };
    (draw(n), draw(N_CUES))
}

fn ratio32(n: usize) -> f32 {
    f32::from(u16::try_from(n).unwrap())
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number of about a normal distribution: the sum of four even ones.
    fn normal(&mut self) -> f32 {
        let bits = self.next().to_le_bytes();
        let sum: f32 = (bits.as_chunks::<2>().0.iter())
            .map(|pair| f32::from(u16::from_le_bytes(*pair)) / 65536.0 - 0.5)
            .sum();
        sum * 1.732
    }
}
