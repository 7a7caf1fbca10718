//! `bench`: figures about this program, for people and as JSON.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::output::Output;
use crate::bench::{self, Format, RecallBench, Report, Source};
use crate::settings::Settings;

#[derive(Subcommand)]
pub(super) enum BenchCommand {
    /// How well recall finds what was said: folders with corpus.jsonl and queries.jsonl
    Recall(FolderArguments),
    /// The same, over LongMemEval's own file
    Longmemeval(FileArguments),
    /// The same, over LoCoMo's own file
    Locomo(FileArguments),
    /// Score a ranking file again, from the file and the data alone
    Score(ScoreArguments),
}

#[derive(Args)]
pub(super) struct FolderArguments {
    /// Where the haystacks are, at any depth
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Only this set; may be given again
    #[arg(long = "set", value_name = "NAME")]
    sets: Vec<String>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Args)]
pub(super) struct FileArguments {
    /// The file, as its authors published it
    file: PathBuf,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Args)]
struct RunArguments {
    /// Write a ranking file and a report per set into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// At most so many questions of each set
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Args)]
pub(super) struct ScoreArguments {
    /// What `--out` wrote: <set>.rankings.jsonl
    file: PathBuf,
    /// The data the rankings are about
    #[arg(long, value_name = "PATH")]
    data: PathBuf,
    /// How the data is written
    #[arg(long, value_enum, default_value_t = Format::Folder)]
    format: Format,
}

pub(super) fn run(
    command: &BenchCommand,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match command {
        BenchCommand::Recall(given) => {
            let source = Source::new(&given.data, Format::Folder);
            recall(source, &given.sets, &given.run, settings, output)
        }
        BenchCommand::Longmemeval(given) => {
            let source = Source::new(&given.file, Format::Longmemeval);
            recall(source, &[], &given.run, settings, output)
        }
        BenchCommand::Locomo(given) => {
            let source = Source::new(&given.file, Format::Locomo);
            recall(source, &[], &given.run, settings, output)
        }
        BenchCommand::Score(given) => {
            let source = Source::new(&given.data, given.format);
            Ok(show(&bench::score_again(&given.file, &source)?, output))
        }
    }
}

fn recall(
    source: Source,
    sets: &[String],
    given: &RunArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let progress = |text: &str| output.progress(text);
    let report = bench::recall(&RecallBench {
        settings,
        source,
        sets,
        n_questions_max: given.limit.unwrap_or(usize::MAX),
        out: given.out.as_deref(),
        progress: &progress,
    });
    output.end_progress();
    Ok(show(&report?, output))
}

fn show(report: &Report, output: &Output) -> ExitCode {
    output.show(&report.document(), |_| report.text());
    ExitCode::SUCCESS
}
