//! Our own exports: the daemon reads the file itself, piece by piece, so that a memory may be
//! larger than a message.

use std::path::Path;

use serde_json::json;

use super::{Purpose, SharedTally, Work};
use crate::fields::Fields as _;

/// Has the daemon take a whole file.
pub(super) fn take(work: &Work<'_>, path: &Path, tally: &SharedTally) -> anyhow::Result<()> {
    let file = std::path::absolute(path)?;
    let untrusted_too = work.purpose == Purpose::StoreUntrusted;
    let (mut offset, mut n_lines) = (0_u64, 0_u64);
    let (mut is_ended, mut is_refused) = (false, false);
    loop {
        let wanted = json!({"file": file, "offset": offset, "untrusted_too": untrusted_too});
        let told = work.client.call_daemon("export_take", &wanted)?;
        let count = |name: &str| told.at(name).as_u64().unwrap_or(0);
        let problems = told.at("problems").as_array().into_iter().flatten();
        for problem in problems {
            is_refused = true;
            let line = n_lines + problem.get(0).and_then(|n| n.as_u64()).unwrap_or(0) + 1;
            let why = problem.get(1).and_then(|why| why.as_str()).unwrap_or_default();
            tally.add_problem(format!("{}:{line}: {why}", path.display()));
        }
        tally.with(|tally| {
            tally.n_found += count("stored") + count("known") + count("forgotten");
            tally.n_stored += count("stored");
            tally.n_known += count("known");
            tally.n_forgotten += count("forgotten");
            let untold = told.at("untold").as_array().into_iter().flatten();
            tally.untold.extend(untold.filter_map(|name| name.as_str()).map(str::to_owned));
        });
        if told.at("is_newer") == true {
            tally.with(|tally| tally.n_exports_broken += 1);
            return Ok(());
        }
        n_lines += count("lines");
        is_ended |= told.at("is_ended") == true;
        let next = count("next");
        if next <= offset {
            break;
        }
        offset = next;
    }
    tally.with(|tally| tally.n_exports_broken += u64::from(!is_ended || is_refused));
    if !is_ended {
        tally.add_problem(format!("{}: its last line is missing; it was cut off", path.display()));
    }
    Ok(())
}
