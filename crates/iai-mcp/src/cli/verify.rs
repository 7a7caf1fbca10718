//! `verify`: proves that the store is whole, or that the hosts' transcripts are in it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::import;
use super::output::{Output, Tone, counted};
use crate::client::{Extent, Vectors, verify_store};
use crate::exit::Exit;
use crate::fields::Fields as _;
use crate::settings::Settings;

#[derive(Args)]
pub(super) struct VerifyArguments {
    /// Compare the store with every transcript still on disk instead
    #[arg(long, conflicts_with_all = ["full", "deep"])]
    transcripts: bool,
    /// Only these transcripts or folders
    #[arg(requires = "transcripts")]
    paths: Vec<PathBuf>,
    /// Make every index again and compare it, not only samples
    #[arg(long)]
    full: bool,
    /// Embed some memories again and compare the vectors
    #[arg(long)]
    deep: bool,
}

pub(super) fn run(
    arguments: &VerifyArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if arguments.transcripts {
        return import::verify(&arguments.paths, settings, output);
    }
    let extent = if arguments.full { Extent::Full } else { Extent::Sample };
    let vectors = if arguments.deep { Vectors::MadeAgain } else { Vectors::AsTheyAre };
    let working = output.working("reading every page of the store and the index over it");
    let found = verify_store(settings, extent, vectors);
    drop(working);
    let report = found.to_json();
    output.show(&report, |report| {
        let mut lines: Vec<String> = found.findings.iter().map(|one| one.told()).collect();
        let is_read = report.at("database_read") == true;
        let looked = match is_read {
            true => format!(
                "{} memories and every page of the database, {} waiting turns",
                report.at("memories"),
                report.at("spooled_turns")
            ),
            false => format!(
                "files and {} waiting turns, no database could be opened",
                report.at("spooled_turns")
            ),
        };
        lines.push(match found.findings.len() {
            0 if !is_read => "there is no store yet: nothing to look at".to_owned(),
            0 => format!("{}: {looked}", output.tint(Tone::Good, "whole")),
            n => format!("{}; looked at {looked}", output.tint(Tone::Bad, &counted(n, "finding"))),
        });
        if let Some(n) = report.at("vectors_made_again").as_u64() {
            let worst = report.at("vectors_cosine_min").as_f64().unwrap_or_default();
            lines.push(format!("{n} embedded again, the worst cosine is {worst:.4}"));
        }
        lines.join("\n")
    });
    Ok(if found.findings.is_empty() { ExitCode::SUCCESS } else { Exit::Failure.into() })
}
