//! Who goes first when everybody wants the processor: whoever waits for an answer.

/// Where a thread stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Somebody waits for what it finds.
    First,
    /// Somebody waits, but for the disk in the first place, or will wait soon. It keeps a third of
    /// a share, so that a lock it holds is never held for long.
    Second,
    /// Nobody waits.
    Last,
}

/// Lets the scheduler prefer other threads to this one. Where that is a matter of the whole
/// process, the answers would suffer too, and it is left alone.
pub(super) fn stand(standing: Standing) {
    let steps = match standing {
        Standing::First => return,
        Standing::Second => 5,
        Standing::Last => 19,
    };
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(steps) {
        tracing::debug!(%error, "working at the usual priority");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = steps;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn standing_back_is_a_matter_of_one_thread() {
        let nice = || rustix::process::nice(0).unwrap();
        let before = nice();
        let in_thread = std::thread::spawn(move || {
            stand(Standing::First);
            let first = nice();
            stand(Standing::Second);
            (first, nice())
        });
        let (first, second) = in_thread.join().unwrap();
        assert_eq!(first, before);
        assert_eq!(second, (before + 5).min(19));
        assert_eq!(nice(), before);
    }
}
