//! What a running daemon takes from its machine while nobody asks it anything.

use std::path::Path;
use std::time::Duration;

use super::Contender;
use crate::figures::{self, megabytes, or_unknown};
use crate::{process, procfs, sample};

const IDLE_SECONDS: u64 = 5;
/// Time to finish what the capture caused, so that idle means idle.
const SETTLE: Duration = Duration::from_secs(2);

pub(crate) fn run(binary: &Path) -> Result<(), String> {
    let mut ours = Contender::ours(binary)?;
    let started = ours.product.start_daemon()?;
    let n_turns = u64::try_from(sample::turns()?.len()).unwrap_or(u64::MAX);
    ours.product.capture(&sample::path(), sample::SESSION)?;
    ours.product.wait_stored(|status| status.number("stored") >= Some(n_turns))?;
    let pid = ours.product.status()?.number("pid").ok_or("the status names no pid")?;

    process::pause(SETTLE);
    let before = procfs::own_ticks(pid);
    process::pause(Duration::from_secs(IDLE_SECONDS));
    let idle = procfs::own_ticks(pid).zip(before).map(|(after, before)| after - before);

    let size = std::fs::metadata(binary)
        .map_err(|error| format!("cannot look at {}: {error}", binary.display()))?
        .len();
    let resident = procfs::resident_kib(pid).map(|kib| megabytes(kib * 1024));
    let ticks =
        format!(" ticks of {} in {IDLE_SECONDS} s", IDLE_SECONDS * procfs::TICKS_PER_SECOND);
    let rows = [
        ("binary".to_owned(), megabytes(size)),
        ("daemon start to status".to_owned(), figures::milliseconds(started)),
        ("daemon memory (RSS)".to_owned(), or_unknown(resident, "")),
        ("idle processor time".to_owned(), or_unknown(idle, &ticks)),
        ("threads".to_owned(), or_unknown(procfs::n_threads(pid), "")),
        ("open files".to_owned(), or_unknown(procfs::n_open_files(pid), "")),
    ];
    println!("iai-mcp daemon:\n{}", figures::table(&rows));
    Ok(())
}
