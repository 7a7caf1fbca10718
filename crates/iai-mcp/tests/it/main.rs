//! System tests: the real binary in a throw-away HOME.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and these start the program they test"
)]

mod pty;
mod support;
mod sync;

#[path = "../../../iai-embed/tests/it/source.rs"]
mod source;

mod bad_input;
mod bench;
mod cli;
mod consolidation;
mod corrections;
mod crash;
mod daemon;
mod doctor;
mod first_tries;
mod forgetting;
mod founding;
mod full_disk;
mod guards;
mod history;
mod hooks;
mod install;
mod integrity;
mod keeping;
mod life;
mod load;
mod looking;
mod lost;
mod lost_log;
mod models;
mod offers;
mod page;
mod protocol;
mod reflection;
#[cfg(target_os = "linux")]
mod scale;
mod secrecy;
mod setup;
mod standing;
mod strange;
#[cfg(target_os = "linux")]
mod strangers;
mod teach;
mod terminal;
mod tools;
mod way_in;
