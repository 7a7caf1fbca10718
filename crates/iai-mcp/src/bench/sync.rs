//! What a place that keeps logs takes and gives: entries in, entries out, what one more costs when
//! much is there already, and how much room they need.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use iai_sync::{Appended, Entry, EntryName, MachineId, Remote as _, VaultId};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::chance::Chance;
use super::figures::{Times, megabytes};
use super::sheet::Sheet;
use crate::sync::remote::{self, Place};

/// How many entries are handed over at once.
const BATCH: u64 = 200;
/// How much is asked for at once.
const PAGE_BYTES: usize = 1024 * 1024;
/// How often the everyday is repeated.
const N_ROUNDS: usize = 200;

/// What is measured, and where.
pub(crate) struct SyncBench<'a> {
    /// `postgres://…` of somebody who may prepare it, or a folder.
    pub(crate) address: &'a str,
    /// A vault that an earlier run has filled; a new one without.
    pub(crate) vault: Option<&'a str>,
    /// How many entries are added.
    pub(crate) n_entries: u64,
    /// Of how many bytes each.
    pub(crate) n_bytes: usize,
    /// Is told how far it is.
    pub(crate) progress: &'a dyn Fn(&str),
}

/// Fills a vault with one machine's chain, reads it as another, and then does what every day does.
pub(crate) fn run(bench: &SyncBench<'_>) -> anyhow::Result<Sheet> {
    let vault = match bench.vault {
        Some(name) => name.parse().context("reading the name of the vault")?,
        None => VaultId::from_random(random()?),
    };
    let prepared = remote::set_up(bench.address, vault)?;
    let mut sheet = Sheet::new(
        format!("sync through {}, vault {vault}", remote::shown(&prepared.address)),
        &Value::Null,
    );
    for note in &prepared.notes {
        sheet.add("note", note.as_str(), note.as_str());
    }
    let mut place = remote::open(&prepared.address)?;
    let mut chain = Chain::new(vault, bench.n_bytes)?;
    let in_time = fill(&mut place, &mut chain, bench)?;
    if 0 < bench.n_entries {
        add_rate(&mut sheet, "in", bench.n_entries, in_time);
        let mut reader = remote::open(&prepared.address)?;
        let begun = Instant::now();
        let n_read = read(&mut reader, vault, chain.machine)?;
        ensure!(n_read == bench.n_entries, "{n_read} entries came back");
        add_rate(&mut sheet, "out (catching up)", n_read, begun.elapsed());
        if let Some(n_bytes) = place.kept_bytes(vault)? {
            sheet.add("kept", megabytes(n_bytes), n_bytes);
            let each = n_bytes / bench.n_entries;
            let shown = format!("{each} bytes, of which {} are sealed", bench.n_bytes);
            sheet.add("kept per entry", shown, each);
        }
    }
    every_day(&mut sheet, &mut place, Chain::new(vault, bench.n_bytes)?)?;
    for note in place.notes() {
        sheet.add("note", note.as_str(), note.as_str());
    }
    Ok(sheet)
}

fn fill(place: &mut Place, chain: &mut Chain, bench: &SyncBench<'_>) -> anyhow::Result<Duration> {
    let mut took = Duration::ZERO;
    let mut n_left = bench.n_entries;
    while 0 < n_left {
        let batch = chain.next(n_left.min(BATCH));
        let begun = Instant::now();
        let appended = place.append(chain.vault, &batch)?;
        took += begun.elapsed();
        ensure!(appended == Appended::Kept, "{appended:?}");
        n_left -= n_left.min(BATCH);
        (bench.progress)(&format!("{n_left} entries to go"));
    }
    Ok(took)
}

fn read(place: &mut Place, vault: VaultId, machine: MachineId) -> anyhow::Result<u64> {
    let mut counter = 0;
    loop {
        let page = place.fetch(vault, machine, counter, PAGE_BYTES)?;
        match page.last() {
            Some(last) => counter = last.name.counter,
            None => return Ok(counter),
        }
    }
}

/// One entry is sent, the heads are asked for, and what is new is read, at the end of the longest
/// chain; then some of it is erased.
fn every_day(sheet: &mut Sheet, place: &mut Place, mut chain: Chain) -> anyhow::Result<()> {
    let vault = chain.vault;
    let (mut sent, mut asked) = (Times::default(), Times::default());
    let (mut got, mut erased) = (Times::default(), Times::default());
    for _ in 0..N_ROUNDS {
        let entries = chain.next(1);
        sent.push(timed(|| place.append(vault, &entries))?.1);
        let (heads, took) = timed(|| place.heads(vault))?;
        asked.push(took);
        let longest = heads.iter().max_by_key(|head| head.counter).context("no chain is there")?;
        let before = longest.counter.saturating_sub(1);
        let (page, took) = timed(|| place.fetch(vault, longest.machine, before, PAGE_BYTES))?;
        ensure!(page.len() == 1, "{} entries came instead of the last one", page.len());
        got.push(took);
        let names: Vec<EntryName> = entries.iter().map(|entry| entry.name).collect();
        erased.push(timed(|| place.erase(vault, &names))?.1);
    }
    sheet.add_times("send one", &sent);
    sheet.add_times("ask for heads", &asked);
    sheet.add_times("read the last one", &got);
    sheet.add_times("erase one", &erased);
    Ok(())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let begun = Instant::now();
    work().map(|done| (done, begun.elapsed()))
}

#[expect(clippy::cast_precision_loss, reason = "a count of entries")]
fn add_rate(sheet: &mut Sheet, name: &str, n_entries: u64, took: Duration) {
    let (seconds, n) = (took.as_secs_f64(), n_entries as f64);
    let rate = n / seconds.max(f64::MIN_POSITIVE);
    let value = json!({"seconds": seconds, "entries_per_second": rate.round()});
    sheet.add(name, format!("{seconds:.2} s, {rate:.0} entries/s"), value);
}

/// A chain that is made as it is needed.
struct Chain {
    vault: VaultId,
    machine: MachineId,
    counter: u64,
    previous: [u8; 32],
    n_bytes: usize,
    chance: Chance,
}

impl Chain {
    fn new(vault: VaultId, n_bytes: usize) -> anyhow::Result<Self> {
        let machine = MachineId::from_random(random()?);
        let chance = Chance::new(u64::from_le_bytes(std::array::from_fn(|at| {
            machine.as_bytes().get(at).copied().unwrap_or(0)
        })));
        Ok(Self { vault, machine, counter: 0, previous: [0; 32], n_bytes, chance })
    }

    fn next(&mut self, n: u64) -> Vec<Entry> {
        (0..n).map(|_| self.entry()).collect()
    }

    fn entry(&mut self) -> Entry {
        self.counter += 1;
        let n_words = self.n_bytes.div_ceil(8);
        let mut payload: Vec<u8> =
            (0..n_words).flat_map(|_| self.chance.next().to_le_bytes()).collect();
        payload.truncate(self.n_bytes);
        let entry = Entry {
            name: EntryName { machine: self.machine, counter: self.counter },
            epoch: 1,
            previous: self.previous,
            digest: Sha256::digest(&payload).into(),
            payload: Some(payload),
        };
        self.previous = entry.hash(self.vault);
        entry
    }
}

fn random() -> anyhow::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("random numbers: {error}"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields as _;

    #[test]
    fn a_folder_is_filled_read_and_measured() {
        let folder = tempfile::tempdir().unwrap();
        let vault = VaultId::from_random(random().unwrap()).to_string();
        let mut bench = SyncBench {
            address: folder.path().to_str().unwrap(),
            vault: Some(&vault),
            n_entries: 450,
            n_bytes: 100,
            progress: &|_| {},
        };
        let told = run(&bench).unwrap().document();
        let figures = told.at("figures");
        assert!(figures.at("in").at("entries_per_second").as_f64().unwrap() > 0.0);
        let each = figures.at("kept per entry").as_u64().unwrap();
        assert!((100..250).contains(&each), "{each}");
        assert_eq!(figures.at("send one").at("n"), 200);
        // A vault that is full already is only used.
        bench.n_entries = 0;
        let told = run(&bench).unwrap().document();
        assert!(told.at("figures").at("in").is_null());
        assert_eq!(told.at("figures").at("read the last one").at("n"), 200);
    }
}
