//! Figures the kernel keeps about processes. Linux tells them as files; elsewhere they are absent.

use std::fs;

/// Clock ticks per second in `/proc`: the same on every platform we build for.
pub(super) const TICKS_PER_SECOND: u64 = 100;

/// Returns the resident memory of `pid` in KiB.
pub(super) fn resident_kib(pid: u32) -> Option<u64> {
    status_number(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmRSS:")
}

/// Returns the number of threads of `pid`.
pub(super) fn n_threads(pid: u32) -> Option<u64> {
    status_number(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "Threads:")
}

/// Returns the number of files `pid` holds open.
pub(super) fn n_open_files(pid: u32) -> Option<usize> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
}

/// Returns the processor time of `pid`, user and system, in ticks.
pub(super) fn own_ticks(pid: u32) -> Option<u64> {
    ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?, Whose::Own)
}

/// Returns the processor time of our children that ended, user and system, in ticks.
pub(super) fn children_ticks() -> Option<u64> {
    ticks(&fs::read_to_string("/proc/self/stat").ok()?, Whose::Children)
}

#[derive(Clone, Copy)]
enum Whose {
    Own,
    Children,
}

fn ticks(stat: &str, whose: Whose) -> Option<u64> {
    // A program's name may contain spaces and brackets; the fields follow its last bracket.
    let (_, fields) = stat.rsplit_once(") ")?;
    let skipped = match whose {
        Whose::Own => 11,
        Whose::Children => 13,
    };
    let mut numbers = fields.split(' ').skip(skipped).map(str::parse::<u64>);
    let (user, system) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(user + system)
}

fn status_number(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_any_program_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        assert_eq!(ticks(stat, Whose::Own), Some(11 + 12));
        assert_eq!(ticks(stat, Whose::Children), Some(13 + 14));
        assert_eq!(ticks("garbage", Whose::Own), None);
    }

    #[test]
    fn status_numbers_are_found_by_key() {
        let status = "Name:\tx\nVmRSS:\t   8124 kB\nThreads:\t5\n";
        assert_eq!(status_number(status, "VmRSS:"), Some(8124));
        assert_eq!(status_number(status, "Threads:"), Some(5));
        assert_eq!(status_number(status, "VmSwap:"), None);
    }
}
