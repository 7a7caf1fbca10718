//! `bench`: figures about this program, for people and as JSON.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::output::Output;
use crate::bench::SyncBench;
use crate::bench::{self, ContradictionBench, Format, Lending, RecallBench, Report, Sheet, Source};
use crate::settings::Settings;

const HOOK_RUNS: u32 = 200;
const MCP_RUNS: u32 = 50;

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
    /// Whether the current fact is found after it changed, in made-up lives
    Contradiction(ContradictionArguments),
    /// How long recall takes over a made-up history: cold, warm, through MCP, while turns come in
    Latency {
        /// How many turns; several sizes are separated by commas
        #[arg(long, value_name = "TURNS", value_delimiter = ',', default_values_t = [10_000])]
        n: Vec<usize>,
        /// Keep the made-up stores in this folder, and use those that are there
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// How fast history is taken in
    Ingest {
        /// How many turns
        #[arg(long, value_name = "TURNS", default_value_t = 10_000)]
        n: usize,
    },
    /// What consolidation costs, and how much longer a recall takes meanwhile
    Consolidate {
        /// How many turns
        #[arg(long, value_name = "TURNS", default_value_t = 10_000)]
        n: usize,
    },
    /// What a hook costs its host, with the daemon down and up
    Hook(RepeatArguments),
    /// What a session costs: the start of an MCP process, its first and second recall
    Mcp(RepeatArguments),
    /// What a daemon takes from its machine
    Footprint {
        /// How many turns are stored
        #[arg(long, value_name = "TURNS", default_value_t = 1000)]
        n: usize,
    },
    /// How often secrets and orders to the assistant are found, and ordinary words taken for them
    Guards {
        /// A .jsonl file, or a folder of them: {"text": "words", "label": "secret"|"clean"|"order"|
        /// "ordinary"} per line
        #[arg(long, value_name = "PATH")]
        data: PathBuf,
    },
    /// What a place that machines sync through takes and gives; it is filled with made-up entries
    Sync(SyncArguments),
}

#[derive(Args)]
pub(super) struct SyncArguments {
    /// A folder, or postgres://… of somebody who may prepare it
    #[arg(long)]
    address: String,
    /// A vault that an earlier run has filled
    #[arg(long, value_name = "ID")]
    vault: Option<String>,
    /// How many entries are added
    #[arg(long, value_name = "ENTRIES", default_value_t = 10_000)]
    n: u64,
    /// How many bytes an entry seals
    #[arg(long, value_name = "BYTES", default_value_t = 1024)]
    bytes: usize,
}

#[derive(Args)]
pub(super) struct RepeatArguments {
    /// How often; a hook 200 times, an MCP process 50 times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Another program's command line, measured in the same loop
    #[arg(long, value_name = "COMMAND")]
    beside: Option<String>,
}

#[derive(Args)]
pub(super) struct ContradictionArguments {
    /// How many sessions a life has, each with a fact
    #[arg(long, value_name = "N", default_value_t = 1000)]
    sessions: usize,
    /// How many lives
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// With the installed model; without this only words are compared
    #[arg(long)]
    model: bool,
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
    /// What `--out` wrote: `NAME.rankings.jsonl`
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
        BenchCommand::Contradiction(given) => contradiction(given, settings, output),
        BenchCommand::Latency { n, keep } => latency(n, keep.as_deref(), settings, output),
        BenchCommand::Ingest { n } => Ok(show_sheets(&[bench::ingest(settings, *n)?], output)),
        BenchCommand::Consolidate { n } => {
            let sheet = bench::consolidate(settings, *n, &|text| output.progress(text));
            output.end_progress();
            Ok(show_sheets(&[sheet?], output))
        }
        BenchCommand::Hook(given) => {
            let n_runs = given.runs.unwrap_or(HOOK_RUNS);
            let sheet = bench::hook(settings, n_runs, given.beside.as_deref())?;
            Ok(show_sheets(&[sheet], output))
        }
        BenchCommand::Mcp(given) => {
            let n_runs = given.runs.unwrap_or(MCP_RUNS);
            let sheet = bench::handshake(settings, n_runs, given.beside.as_deref())?;
            Ok(show_sheets(&[sheet], output))
        }
        BenchCommand::Footprint { n } => {
            Ok(show_sheets(&[bench::footprint(settings, *n)?], output))
        }
        BenchCommand::Guards { data } => Ok(show_sheets(&[bench::guards(data)?], output)),
        BenchCommand::Sync(given) => {
            let sheet = bench::sync(&SyncBench {
                address: &given.address,
                vault: given.vault.as_deref(),
                n_entries: given.n,
                n_bytes: given.bytes,
                progress: &|text| output.progress(text),
            });
            output.end_progress();
            Ok(show_sheets(&[sheet?], output))
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

fn contradiction(
    given: &ContradictionArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let progress = |text: &str| output.progress(text);
    let sheet = bench::contradiction(&ContradictionBench {
        settings,
        n_sessions: given.sessions.max(1),
        n_seeds: given.seeds,
        lending: if given.model { Lending::Models } else { Lending::Nothing },
        progress: &progress,
    });
    output.end_progress();
    Ok(show_sheets(&[sheet?], output))
}

fn latency(
    sizes: &[usize],
    keep: Option<&Path>,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let progress = |text: &str| output.progress(text);
    let measure = |n_turns: &usize| bench::latency(settings, *n_turns, keep, &progress);
    let sheets: anyhow::Result<Vec<Sheet>> = sizes.iter().map(measure).collect();
    output.end_progress();
    Ok(show_sheets(&sheets?, output))
}

/// One sheet is one document; several are a list.
fn show_sheets(sheets: &[Sheet], output: &Output) -> ExitCode {
    let told = match sheets {
        [only] => only.document(),
        several => several.iter().map(Sheet::document).collect(),
    };
    output.show(&told, |_| sheets.iter().map(Sheet::text).collect::<Vec<_>>().join("\n"));
    ExitCode::SUCCESS
}
