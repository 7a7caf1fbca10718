//! Who is connected: so many at once, and whoever has kept silent the longest makes room.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Connections at once, where the system lets us have as many.
const SEATS_MAX: usize = 256;
/// A connection that has waited for its client for less than this is in use.
const SILENT_MIN: Duration = Duration::from_secs(1);
/// Open files we ask for: the seats, every reader of the store, and room to spare.
const FILES_WANTED: u64 = 4096;
/// With fewer the store cannot be opened, and the reason it gives would be another.
const FILES_MIN: u64 = 64;

/// The open connections, by the order in which they came.
pub(super) struct Seats {
    n_max: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    n_ever: u64,
    seats: BTreeMap<u64, Arc<Seat>>,
}

/// One connection.
pub(super) struct Seat {
    pub(super) stream: UnixStream,
    /// Since when it waits for a whole request; `None` while one is answered.
    silent_since: Mutex<Option<Instant>>,
}

/// Gives the seat back however its thread ends.
pub(super) struct Held {
    seats: Arc<Seats>,
    number: u64,
    pub(super) seat: Arc<Seat>,
}

impl Seats {
    /// Has as many seats as half of `n_files` allows; the other half is the store's.
    pub(super) fn new(n_files: u64) -> Arc<Self> {
        let n_max = usize::try_from(n_files / 2).unwrap_or(SEATS_MAX).min(SEATS_MAX);
        Arc::new(Self { n_max, taken: Mutex::default() })
    }

    pub(super) fn n_max(&self) -> usize {
        self.n_max
    }

    /// Seats a connection; gives it back where everybody who sits is busy.
    pub(super) fn take(self: &Arc<Self>, stream: UnixStream) -> Result<Held, UnixStream> {
        let is_full = self.taken().seats.len() >= self.n_max;
        if is_full && !self.make_room(SILENT_MIN) {
            return Err(stream);
        }
        let seat = Arc::new(Seat { stream, silent_since: Mutex::new(Some(Instant::now())) });
        let mut taken = self.taken();
        taken.n_ever += 1;
        let number = taken.n_ever;
        taken.seats.insert(number, Arc::clone(&seat));
        Ok(Held { seats: Arc::clone(self), number, seat })
    }

    /// Closes the connection that has been silent the longest, if any was for `silent_min`. Clients
    /// of ours connect again when they have something to say.
    pub(super) fn make_room(&self, silent_min: Duration) -> bool {
        let mut taken = self.taken();
        let silent = taken.seats.iter().filter_map(|(number, seat)| {
            let since = (*seat.silent_since())?;
            (silent_min <= since.elapsed()).then_some((since, *number))
        });
        let Some((_, number)) = silent.min() else { return false };
        if let Some(seat) = taken.seats.remove(&number) {
            // Its thread reads the end of the stream and leaves; one that is closed has none.
            seat.stream.shutdown(Shutdown::Both).ok();
        }
        true
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    pub(super) fn begin_answer(&self) {
        *self.silent_since() = None;
    }

    pub(super) fn end_answer(&self) {
        *self.silent_since() = Some(Instant::now());
    }

    fn silent_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.silent_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.seats.taken().seats.remove(&self.number);
    }
}

/// Lets this process open as many files as it wants and may, and returns how many that are.
pub(super) fn raise_file_limit() -> anyhow::Result<u64> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES_WANTED, |most| most.min(FILES_WANTED));
    let mut n_files = limit.current.unwrap_or(FILES_WANTED);
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    if n_files < wanted && setrlimit(Resource::Nofile, raised).is_ok() {
        n_files = wanted;
    }
    anyhow::ensure!(
        FILES_MIN <= n_files,
        "this process may open {n_files} files, and the daemon needs {FILES_MIN}; raise the limit \
         (`ulimit -n`) and start it again"
    );
    Ok(n_files)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn pair() -> (UnixStream, UnixStream) {
        UnixStream::pair().unwrap()
    }

    #[test]
    fn the_one_that_kept_silent_the_longest_makes_room_and_no_one_who_is_answered() {
        let seats = Seats::new(6);
        assert_eq!(seats.n_max(), 3);
        let (mut clients, mut held) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let (ours, theirs) = pair();
            clients.push(theirs);
            held.push(seats.take(ours).ok().unwrap());
        }
        assert!(seats.take(pair().0).is_err(), "nobody was silent for long");
        held[0].seat.begin_answer();
        assert!(seats.make_room(Duration::ZERO));
        let mut byte = [0];
        assert_eq!(clients[1].read(&mut byte).unwrap(), 0, "the second came before the third");
        clients[0].set_nonblocking(true).unwrap();
        assert!(clients[0].read(&mut byte).is_err(), "it is still open");
        let fourth = seats.take(pair().0).ok().unwrap();
        drop(held.remove(1));
        assert!(seats.take(pair().0).is_err(), "a seat that was taken away is not given back");
        drop(fourth);
        held[0].seat.end_answer();
        assert!(seats.take(pair().0).is_ok());
    }

    #[test]
    fn few_files_make_few_seats() {
        for (n_files, expect) in [(64, 32), (512, 256), (1 << 40, 256)] {
            assert_eq!(Seats::new(n_files).n_max(), expect);
        }
    }
}
