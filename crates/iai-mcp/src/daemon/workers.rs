//! Fixed sets of threads that answer calls, each set behind a bounded queue, each call with a
//! deadline. Whoever asks does not stand behind those who write: a write waits for the disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use iai_wire::{Call, code, error_reply, result_reply};
use serde_json::Value;

use super::handlers::{self, Failure};
use super::priority::{self, Standing};

const READERS: usize = 3;
/// One writes; another reads what was sent meanwhile.
const WRITERS: usize = 2;
/// Captures wait for a commit that they share: the more of them wait, the fewer commits they need.
const CAPTURERS: usize = 16;
/// Those who wait for work over the whole store wait for seconds.
const PATIENT: usize = 2;
/// Calls that wait in one queue; one more is told that the daemon is busy.
const QUEUE_MAX: usize = 256;
/// After this the caller gets an answer, whatever the worker is doing.
pub(super) const DEADLINE: Duration = Duration::from_secs(20);

/// What answers a call.
pub(super) type Answer = dyn Fn(&Call) -> Result<Value, Failure> + Send + Sync;

struct Job {
    call: Call,
    reply: SyncSender<Value>,
}

/// The way to the workers; cheap to clone.
#[derive(Clone)]
pub(super) struct Workers {
    reading: SyncSender<Job>,
    writing: SyncSender<Job>,
    capturing: SyncSender<Job>,
    waiting: SyncSender<Job>,
}

impl Workers {
    /// Starts the threads. They end with the process.
    pub(super) fn start(answer: &Arc<Answer>) -> std::io::Result<Self> {
        Ok(Self {
            reading: start("reader", READERS, Standing::First, answer)?,
            writing: start("writer", WRITERS, Standing::First, answer)?,
            capturing: start("capturer", CAPTURERS, Standing::Second, answer)?,
            waiting: start("patient", PATIENT, Standing::First, answer)?,
        })
    }

    fn queue(&self, method: &str) -> &SyncSender<Job> {
        match method {
            _ if handlers::may_take_long(method) => &self.waiting,
            "memory_capture" => &self.capturing,
            _ if handlers::is_write(method) => &self.writing,
            _ => &self.reading,
        }
    }

    /// Has a call answered, and answers for the workers when they cannot in time.
    pub(super) fn answer(&self, call: Call, deadline: Duration) -> Value {
        let id = call.id.clone();
        let (reply, replied) = mpsc::sync_channel(1);
        match self.queue(&call.method).try_send(Job { call, reply }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                let message = format!("{QUEUE_MAX} requests are waiting already; try again");
                return error_reply(&id, code::BUSY, &message);
            }
            Err(TrySendError::Disconnected(_)) => {
                return error_reply(&id, code::INTERNAL, "no worker is left; restart the daemon");
            }
        }
        match replied.recv_timeout(deadline) {
            Ok(reply) => reply,
            Err(RecvTimeoutError::Timeout) => {
                let message = format!("not answered within {} s; try again", deadline.as_secs());
                error_reply(&id, code::DEADLINE, &message)
            }
            Err(RecvTimeoutError::Disconnected) => {
                error_reply(&id, code::INTERNAL, "the worker vanished; see `iai-mcp daemon logs`")
            }
        }
    }
}

/// Starts the threads behind one queue.
fn start(
    name: &str,
    n_threads: usize,
    standing: Standing,
    answer: &Arc<Answer>,
) -> std::io::Result<SyncSender<Job>> {
    let (queue, jobs) = mpsc::sync_channel(QUEUE_MAX);
    let jobs = Arc::new(Mutex::new(jobs));
    for place in 0..n_threads {
        let jobs = Arc::clone(&jobs);
        let answer = Arc::clone(answer);
        thread::Builder::new().name(format!("{name}-{place}")).spawn(move || {
            priority::stand(standing);
            work(&jobs, &*answer);
        })?;
    }
    Ok(queue)
}

fn work(jobs: &Mutex<Receiver<Job>>, answer: &Answer) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { call, reply }) = job else { return };
        let answered = catch_unwind(AssertUnwindSafe(|| answer(&call)));
        let message = match answered {
            Ok(Ok(result)) => result_reply(&call.id, result),
            Ok(Err(failure)) => error_reply(&call.id, failure.code, &failure.message),
            Err(_) => {
                tracing::error!(method = call.method, "a handler panicked");
                let message = format!("`{}` broke; see `iai-mcp daemon logs`", call.method);
                error_reply(&call.id, code::INTERNAL, &message)
            }
        };
        // The caller may have given up waiting; then nobody needs the answer.
        reply.send(message).ok();
    }
}

#[cfg(test)]
mod tests {
    use iai_wire::Params;
    use serde_json::json;

    use super::*;

    fn call(method: &str) -> Call {
        Call { id: json!(1), method: method.to_owned(), params: Params::Read(json!({})) }
    }

    #[test]
    fn a_panic_is_a_reply_and_the_next_call_is_answered() {
        let answer: Arc<Answer> = Arc::new(|call: &Call| match call.method.as_str() {
            "panic" => panic!("as ordered"),
            _ => Ok(json!("fine")),
        });
        let workers = Workers::start(&answer).unwrap();
        for _ in 0..2 * READERS {
            let reply = workers.answer(call("panic"), DEADLINE);
            assert_eq!(reply["error"]["code"], code::INTERNAL);
        }
        assert_eq!(workers.answer(call("other"), DEADLINE)["result"], "fine");
    }

    #[test]
    fn a_slow_call_is_answered_at_its_deadline_and_a_full_queue_at_once() {
        let gate = Arc::new(Mutex::new(()));
        let held = gate.lock().unwrap();
        let at_gate = Arc::clone(&gate);
        let answer: Arc<Answer> = Arc::new(move |_: &Call| {
            drop(at_gate.lock().unwrap());
            Ok(json!("late"))
        });
        let workers = Workers::start(&answer).unwrap();
        let soon = Duration::from_millis(1);
        let mut codes = Vec::new();
        for _ in 0..READERS + QUEUE_MAX + 2 {
            codes.push(workers.answer(call("slow"), soon)["error"]["code"].clone());
        }
        assert!(codes.contains(&json!(code::DEADLINE)));
        assert_eq!(codes.last(), Some(&json!(code::BUSY)));
        drop(held);
    }
    #[test]
    fn who_asks_does_not_stand_behind_those_who_write() {
        let gate = Arc::new(Mutex::new(()));
        let held = gate.lock().unwrap();
        let at_gate = Arc::clone(&gate);
        let answer: Arc<Answer> = Arc::new(move |call: &Call| {
            if call.method == "memory_capture" || call.method == "memory_consolidate" {
                drop(at_gate.lock().unwrap());
            }
            Ok(json!("done"))
        });
        let workers = Workers::start(&answer).unwrap();
        let soon = Duration::from_millis(1);
        for _ in 0..CAPTURERS + PATIENT {
            workers.answer(call("memory_capture"), soon);
            workers.answer(call("memory_consolidate"), soon);
        }
        assert_eq!(workers.answer(call("memory_recall"), DEADLINE)["result"], "done");
        drop(held);
    }
}
