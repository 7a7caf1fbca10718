//! Figures the kernel keeps about processes. Linux tells them as files; elsewhere they are absent.

use std::fs;

/// Returns the resident memory of `pid` in KiB.
pub(crate) fn resident_kib(pid: u64) -> Option<u64> {
    status_number(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmRSS:")
}

/// Returns how many threads `pid` has.
pub(crate) fn n_threads(pid: u64) -> Option<u64> {
    status_number(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "Threads:")
}

/// Returns how many files and connections `pid` has open.
pub(crate) fn n_descriptors(pid: u64) -> Option<u64> {
    u64::try_from(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count()).ok()
}

fn status_number(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_numbers_are_found_by_key() {
        let status = "Name:\tx\nVmRSS:\t   8124 kB\nThreads:\t5\n";
        assert_eq!(status_number(status, "VmRSS:"), Some(8124));
        assert_eq!(status_number(status, "Threads:"), Some(5));
        assert_eq!(status_number(status, "VmSwap:"), None);
    }
}
