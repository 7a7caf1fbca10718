//! Benchmarks of this program, by this program: through the shipped way in and the shipped way out.
//!
//! A client like any other. Everything runs in throw-away homes with daemons of their own; the
//! user's memory is never touched. Printing is left to the command line.

mod chance;
mod consolidate;
mod contradiction;
mod corpus;
mod dataset;
mod disguise;
mod figures;
mod footprint;
mod guards;
mod handshake;
mod hook;
mod household;
mod ingest;
mod latency;
mod life;
mod loading;
mod machine;
mod mcp;
mod metrics;
mod process;
mod procfs;
mod published;
mod rankings;
mod recall;
mod scores;
mod sheet;
mod sources;
mod sync;
mod synthetic;

pub(crate) use consolidate::run as consolidate;
pub(crate) use contradiction::{ContradictionBench, run as contradiction};
pub(crate) use footprint::run as footprint;
pub(crate) use guards::run as guards;
pub(crate) use handshake::run as handshake;
pub(crate) use hook::run as hook;
pub(crate) use household::Lending;
pub(crate) use ingest::run as ingest;
pub(crate) use latency::run as latency;
pub(crate) use recall::{RecallBench, run as recall, score_again};
pub(crate) use scores::Report;
pub(crate) use sheet::Sheet;
pub(crate) use sources::{Format, Source};
pub(crate) use sync::{SyncBench, run as sync};
