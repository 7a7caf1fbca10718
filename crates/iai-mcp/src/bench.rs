//! Benchmarks of this program, by this program: through the shipped way in and the shipped way out.
//!
//! A client like any other. Everything runs in throw-away homes with daemons of their own; the
//! user's memory is never touched. Printing is left to the command line.

mod chance;
mod dataset;
mod disguise;
mod figures;
mod household;
mod loading;
mod machine;
mod metrics;
mod process;
mod procfs;
mod published;
mod rankings;
mod recall;
mod scores;
mod sources;

pub(crate) use recall::{RecallBench, run as recall, score_again};
pub(crate) use scores::Report;
pub(crate) use sources::{Format, Source};
