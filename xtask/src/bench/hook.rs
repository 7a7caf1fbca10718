//! What a hook costs its host: wall and processor time of one capture, with the daemon down and up.

use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use super::Contender;
use crate::figures::{self, Times};
use crate::{procfs, sample};

pub(crate) const N_RUNS: u32 = 200;

pub(crate) fn run(binary: &Path, n_runs: u32) -> Result<(), String> {
    let mut contenders = vec![Contender::ours(binary)?];
    // Only ours gets a daemon: the other program's capture never talks to one.
    contenders.extend(Contender::from_environment("Python", "IAI_PYTHON_CLI")?);
    println!("capture-transcript --no-spawn, daemon down:");
    measure(&contenders, n_runs)?;
    for ours in contenders.iter_mut().take(1) {
        ours.product.start_daemon()?;
    }
    println!("capture-transcript --no-spawn, daemon up:");
    measure(&contenders, n_runs)?;
    drop(contenders);
    let mut ours = Contender::ours(binary)?;
    println!("hook stop after each exchange of a growing session:");
    let down = measure_stops(&ours, n_runs)?;
    ours.product.start_daemon()?;
    let up = measure_stops(&ours, n_runs)?;
    let rows = [("daemon down".to_owned(), down.summary()), ("daemon up".to_owned(), up.summary())];
    println!("{}", figures::table(&rows));
    Ok(())
}

/// Each run adds a question and an answer to a transcript and fires the hook, as a host does.
fn measure_stops(ours: &Contender, n_runs: u32) -> Result<Times, String> {
    let scratch =
        |name: &str| ours.product.scratch(name).ok_or("a bench runs in a throw-away home");
    let (transcript, payload) = (scratch("session.jsonl")?, scratch("payload.json")?);
    let failed = |error: std::io::Error| format!("cannot write the session: {error}");
    let told = json!({"session_id": "bench", "transcript_path": transcript, "cwd": "/tmp"});
    std::fs::write(&payload, told.to_string()).map_err(failed)?;
    let mut session =
        std::fs::File::options().create(true).append(true).open(&transcript).map_err(failed)?;
    let mut times = Times::default();
    for n in 0..n_runs {
        for role in ["user", "assistant"] {
            let line = json!({
                "type": role, "uuid": format!("{role}-{n}"), "sessionId": "bench",
                "message": {"role": role, "content": format!("{role} says something, time {n}")},
            });
            writeln!(session, "{line}").map_err(failed)?;
        }
        times.push(ours.product.fire_hook("stop", &payload)?);
    }
    Ok(times)
}

fn measure(contenders: &[Contender], n_runs: u32) -> Result<(), String> {
    let transcript = sample::path();
    let mut costs: Vec<Cost> = contenders.iter().map(|_| Cost::default()).collect();
    // Turn about, so that a noisy second on this machine hits everyone alike.
    for _ in 0..n_runs {
        for (contender, cost) in contenders.iter().zip(&mut costs) {
            let before = procfs::children_ticks();
            cost.wall.push(contender.product.capture(&transcript, "bench")?);
            cost.add_ticks(before, procfs::children_ticks());
        }
    }
    let mut rows = Vec::new();
    for (contender, cost) in contenders.iter().zip(&costs) {
        rows.push((contender.name.to_owned(), cost.wall.summary()));
        let mean = figures::or_unknown(cost.mean_ms(n_runs), " ms user+sys, mean");
        rows.push((format!("{}, processor", contender.name), mean));
    }
    rows.extend(ratios(contenders, &costs));
    println!("{}", figures::table(&rows));
    Ok(())
}

fn ratios(contenders: &[Contender], costs: &[Cost]) -> Vec<(String, String)> {
    let Some((ours, others)) = costs.split_first() else {
        return Vec::new();
    };
    let names = contenders.iter().skip(1).map(|contender| contender.name);
    let row = |(name, theirs): (&str, &Cost)| {
        let ratio = figures::ratio(&ours.wall, &theirs.wall)?;
        Some((format!("{name} / ours, p50"), ratio))
    };
    names.zip(others).filter_map(row).collect()
}

#[derive(Default)]
struct Cost {
    wall: Times,
    /// Processor time of all runs; unknown for good once the system did not tell.
    ticks: Ticks,
}

enum Ticks {
    Known(u64),
    Unknown,
}

impl Default for Ticks {
    fn default() -> Self {
        Self::Known(0)
    }
}

impl Cost {
    fn add_ticks(&mut self, before: Option<u64>, after: Option<u64>) {
        self.ticks = match (&self.ticks, before, after) {
            (Ticks::Known(sum), Some(before), Some(after)) => Ticks::Known(sum + after - before),
            _ => Ticks::Unknown,
        };
    }

    fn mean_ms(&self, n_runs: u32) -> Option<String> {
        let Ticks::Known(ticks) = self.ticks else {
            return None;
        };
        let hundredths = ticks * 100_000 / procfs::TICKS_PER_SECOND / u64::from(n_runs.max(1));
        Some(format!("{}.{:02}", hundredths / 100, hundredths % 100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_a_mean_over_all_runs() {
        let mut cost = Cost::default();
        cost.add_ticks(Some(100), Some(130));
        cost.add_ticks(Some(135), Some(145));
        assert_eq!(cost.mean_ms(200), Some("2.00".to_owned()));
        cost.add_ticks(None, Some(1));
        assert_eq!(cost.mean_ms(200), None);
    }
}
