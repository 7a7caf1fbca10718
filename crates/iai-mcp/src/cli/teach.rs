//! `teach`: files into passages that are found again; listed and taken back as sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::forget::forget;
use super::output::{Output, counted};
use crate::capture::{check_config, current_folder, project_of};
use crate::client::Client;
use crate::clock;
use crate::exit::Exit;
use crate::fields::Fields as _;
use crate::settings::Settings;
use crate::teach::{
    self, FILE_BYTES_MAX, FoundFile, Lesson, Material, Origin, Refusal, Removed, Taught, parse_set,
};

/// Passages taught at once.
const PASSAGES_MAX: usize = 200_000;
/// From here on somebody has to say that they mean it.
const PASSAGES_UNASKED_MAX: usize = 5_000;
/// What was left out is told one by one up to here; the rest is a number.
const SKIPPED_SHOWN_MAX: usize = 20;
/// What a set takes of the name of its first file.
const NAMED_CHARS_MAX: usize = 60;
/// Files of a set that are listed beside other sets.
const LISTED_MAX: usize = 20;

/// Teach the memory what files say: text, Markdown, source code, HTML, PDF, docx
///
/// Each file is cut into passages that recall finds like anything else, marked as taught from that
/// file. A file taught again adds what is new in it and lets go of what it no longer says. Hidden,
/// binary and ignored files are left out.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct TeachArguments {
    #[command(subcommand)]
    command: Option<TeachCommand>,
    /// Files and folders; `./list` for a file called like a subcommand
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The set they belong to, by which they are listed and removed; else the first name
    #[arg(long = "as", value_name = "NAME", value_parser = parse_set)]
    set: Option<String>,
    /// Show what would be taught, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Teach more than 5,000 passages at once
    #[arg(long)]
    yes: bool,
    /// Teach what was removed before, too
    #[arg(long)]
    again: bool,
}

#[derive(Subcommand)]
enum TeachCommand {
    /// List what was taught, by set and file
    List {
        /// Only this set
        set: Option<String>,
    },
    /// Forget a set: shows what would go, and does it only with `--yes`
    Remove {
        /// The set's name, as `teach list` shows it
        set: String,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(
    arguments: &TeachArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let client = Client::new(settings.clone());
    match &arguments.command {
        Some(TeachCommand::List { set }) => list(&client, set.as_deref(), output),
        Some(TeachCommand::Remove { set, yes }) => remove(&client, set, *yes, output),
        None => teach(arguments, &client, settings, output),
    }
}

/// Reads one file for `teach`, in a process that is limited; hidden.
pub(super) fn parse(name: &str, output: &Output) -> anyhow::Result<ExitCode> {
    output.document(&teach::parse_alone(name)?);
    Ok(ExitCode::SUCCESS)
}

fn teach(
    arguments: &TeachArguments,
    client: &Client,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    check_config(settings)?;
    let found = teach::find_files(&arguments.paths, &settings.switched_off)?;
    let set = arguments.set.clone().unwrap_or_else(|| named_after(arguments.paths.first()));
    // Whoever names several files is told how their set came by its name.
    let origin = match arguments.set.is_none() && 1 < arguments.paths.len() {
        true => ", after the first file (`--as NAME` gives it another name)",
        false => "",
    };
    let mut skipped = found.skipped;
    let materials = read_all(&found.files, &mut skipped, output)?;
    let n_passages: usize = materials.iter().map(|material| material.passages.len()).sum();
    if arguments.dry_run {
        show_plan(&set, &materials, &skipped, output);
        return Ok(ExitCode::SUCCESS);
    }
    if PASSAGES_UNASKED_MAX < n_passages && !arguments.yes {
        let n_files = counted(materials.len(), "file");
        let question = format!("teach {n_passages} passages of {n_files}?");
        if output.ask(&question) != Some(true) {
            bail!("{n_passages} passages of {n_files} are many; `--yes` teaches them");
        }
    }
    let removed = if arguments.again { Removed::ComeBack } else { Removed::StayAway };
    let watch = |taught: &Taught| {
        let n_done = taught.n_stored + taught.n_known + taught.n_forgotten;
        output.progress(&format!("{n_done} of {n_passages} passages"));
    };
    let secrets = &settings.secrets;
    let lesson = Lesson { client, secrets, set: &set, removed, watch: &watch };
    let mut taught = teach::send(&lesson, &materials)?;
    taught.n_retired += teach::retire_lost(client, &found.folders)?;
    output.end_progress();
    output.show(&told(&set, &taught, &skipped), |_| describe((&set, origin), &taught, &skipped));
    let is_well = taught.sample.missed.is_empty() && taught.problems.is_empty();
    let is_nothing = taught.n_files == 0 && !skipped.is_empty();
    Ok(if is_well && !is_nothing { ExitCode::SUCCESS } else { Exit::Failure.into() })
}

fn read_all(
    files: &[FoundFile],
    skipped: &mut Vec<(String, String)>,
    output: &Output,
) -> anyhow::Result<Vec<Material>> {
    let (mut materials, mut n_passages) = (Vec::new(), 0);
    for (file_idx, file) in files.iter().enumerate() {
        output.progress(&format!("reading {} of {} · {}", file_idx + 1, files.len(), file.name));
        match read_one(file).with_context(|| format!("reading {}", file.path.display()))? {
            Ok(material) => {
                n_passages += material.passages.len();
                materials.push(material);
            }
            Err(refusal) => skipped.push((file.name.clone(), refusal.to_string())),
        }
        if PASSAGES_MAX < n_passages {
            bail!("these are more than {PASSAGES_MAX} passages; teach the folders one by one");
        }
    }
    output.end_progress();
    Ok(materials)
}

fn read_one(file: &FoundFile) -> anyhow::Result<Result<Material, Refusal>> {
    let facts = std::fs::metadata(&file.path)?;
    if FILE_BYTES_MAX < facts.len() {
        return Ok(Err(Refusal::TooLarge { bytes: facts.len() }));
    }
    let written_at = facts.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
    let origin = Origin {
        name: file.name.clone(),
        file: Some(file.path.clone()),
        written_at: written_at.unwrap_or_else(clock::now),
        project: project_for(&file.path),
    };
    Material::read(origin, std::fs::read(&file.path)?)
}

/// The repository a file lies in, or the folder the user stands in, where that is above it.
fn project_for(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let project = project_of(folder);
    if Path::new(&project) != folder || folder.join(".git").exists() {
        return Some(project);
    }
    let here = current_folder();
    folder.starts_with(&here).then(|| project_of(Path::new(&here)))
}

fn named_after(path: Option<&PathBuf>) -> String {
    let whole = path.and_then(|path| std::fs::canonicalize(path).ok()).unwrap_or_default();
    let name = if whole.is_dir() { whole.file_name() } else { whole.file_stem() };
    let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = name.chars().take(NAMED_CHARS_MAX).collect();
    parse_set(&name).unwrap_or_else(|_| "files".to_owned())
}

fn show_plan(set: &str, materials: &[Material], skipped: &[(String, String)], output: &Output) {
    let files: Vec<Value> = materials
        .iter()
        .map(|material| json!({"file": material.name, "passages": material.passages.len()}))
        .collect();
    let n_passages: usize = materials.iter().map(|material| material.passages.len()).sum();
    let plan = json!({
        "dry_run": true,
        "set": set,
        "files": files,
        "passages": n_passages,
        "skipped": skipped_told(skipped),
    });
    output.show(&plan, |_| {
        let mut lines = vec![format!(
            "{} · {} would be taught as `{set}`",
            counted(materials.len(), "file"),
            counted(n_passages, "passage"),
        )];
        let file = |material: &Material| {
            format!("  {} · {}", material.name, counted(material.passages.len(), "passage"))
        };
        lines.extend(materials.iter().map(file));
        lines.extend(skipped_lines(skipped));
        lines.push("Nothing was changed.".to_owned());
        lines.join("\n")
    });
}

fn told(set: &str, taught: &Taught, skipped: &[(String, String)]) -> Value {
    let mut told = taught.told(set);
    told.set("skipped", skipped_told(skipped));
    told
}

fn describe((set, origin): (&str, &str), taught: &Taught, skipped: &[(String, String)]) -> String {
    let mut head = format!(
        "{} · {} · {} stored · {} already known",
        counted(taught.n_files, "file"),
        counted(taught.n_passages, "passage"),
        taught.n_stored,
        taught.n_known
    );
    for (n, what) in [
        (taught.n_repeated, "said in another of these files"),
        (taught.n_retired, "retired: no longer in their files"),
        (taught.n_forgotten, "removed on purpose, and stay so (`--again` brings a set back)"),
        (taught.n_cut, "without what is private or secret in them"),
    ] {
        if 0 < n {
            head.push_str(&format!(" · {n} {what}"));
        }
    }
    let mut lines = vec![head];
    if 0 < taught.n_files {
        lines.push(format!("set `{set}`{origin} · `iai-mcp teach remove {set}` takes it back"));
    }
    for (name, other) in taught.elsewhere.iter().take(SKIPPED_SHOWN_MAX) {
        lines.push(format!("  {name} stays in the set `{other}`, as which it was taught before"));
    }
    let sample = &taught.sample;
    if 0 < sample.n_asked {
        let (found, asked) = (sample.n_found, sample.n_asked);
        lines.push(format!("{found} of {asked} found by their own words"));
    } else if let Some(why) = unasked(taught) {
        lines.push(format!("none asked back by their own words: {why}"));
    }
    lines.extend(sample.missed.iter().map(|source| format!("  not found: {source}")));
    lines.extend(taught.problems.iter().map(|problem| format!("  {problem}")));
    lines.extend(skipped_lines(skipped));
    lines.join("\n")
}

/// Says why nothing of what was taught was looked for again.
fn unasked(taught: &Taught) -> Option<&'static str> {
    match (taught.n_passages, taught.n_stored) {
        (0, _) => None,
        (_, 0) => Some("nothing is new"),
        (_, _) => Some("they have too few words to be told from others"),
    }
}

fn skipped_told(skipped: &[(String, String)]) -> Vec<Value> {
    skipped.iter().map(|(name, why)| json!({"file": name, "reason": why})).collect()
}

fn skipped_lines(skipped: &[(String, String)]) -> Vec<String> {
    let mut lines = Vec::new();
    if !skipped.is_empty() {
        lines.push(format!("left out {}:", skipped.len()));
    }
    let shown = skipped.iter().take(SKIPPED_SHOWN_MAX);
    lines.extend(shown.map(|(name, why)| format!("  {name}: {why}")));
    let n_more = skipped.len().saturating_sub(SKIPPED_SHOWN_MAX);
    if 0 < n_more {
        lines.push(format!("  … {n_more} more"));
    }
    lines
}

fn list(client: &Client, set: Option<&str>, output: &Output) -> anyhow::Result<ExitCode> {
    let files = teach::taught_files(client, set)?;
    let told = json!({"count": files.len(), "files": files});
    output.show(&told, |_| match files.is_empty() {
        true => "nothing was taught".to_owned(),
        false => describe_sets(&files, set.is_some()),
    });
    Ok(ExitCode::SUCCESS)
}

fn describe_sets(files: &[Value], is_whole: bool) -> String {
    let text = |file: &Value, name: &str| file.at(name).as_str().unwrap_or("-").to_owned();
    let n_passages = |file: &Value| {
        file.at("passages").as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    };
    let mut sets: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for file in files {
        sets.entry(text(file, "set")).or_default().push(file);
    }
    let mut lines = Vec::new();
    for (set, files) in sets {
        let all = counted(files.iter().map(|file| n_passages(file)).sum(), "passage");
        lines.push(format!("{set} · {} · {all}", counted(files.len(), "file")));
        let n_shown = if is_whole { files.len() } else { LISTED_MAX };
        lines.extend(files.iter().take(n_shown).map(|file| {
            let day: String = text(file, "taught_at").chars().take(10).collect();
            let passages = counted(n_passages(file), "passage");
            format!("  {} · {passages} · {day}", text(file, "name"))
        }));
        let n_more = files.len().saturating_sub(n_shown);
        if 0 < n_more {
            lines.push(format!("  … {n_more} more; `iai-mcp teach list {set}` shows all"));
        }
    }
    lines.join("\n")
}

fn remove(client: &Client, set: &str, yes: bool, output: &Output) -> anyhow::Result<ExitCode> {
    if teach::taught_files(client, Some(set))?.is_empty() {
        bail!("there is no set `{set}`; `iai-mcp teach list` shows them");
    }
    forget(client, &json!({"taught": set}), yes, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_nothing_back_says_why() {
        let check = |n_passages: usize, n_stored: u64, want: Option<&str>| {
            let taught = Taught { n_files: 1, n_passages, n_stored, ..Taught::default() };
            let told = describe(("notes", ""), &taught, &[]);
            let line = told.lines().find_map(|line| line.strip_prefix("none asked back by "));
            assert_eq!(line, want, "{told}");
        };
        check(0, 0, None);
        check(3, 0, Some("their own words: nothing is new"));
        let few = "their own words: they have too few words to be told from others";
        check(3, 2, Some(few));
    }

    #[test]
    fn what_was_asked_back_is_counted() {
        let mut taught = Taught { n_files: 1, n_passages: 3, n_stored: 3, ..Taught::default() };
        taught.sample.n_asked = 2;
        taught.sample.n_found = 2;
        let told = describe(("notes", ""), &taught, &[]);
        assert!(told.contains("2 of 2 found by their own words"), "{told}");
        assert!(!told.contains("none asked"), "{told}");
    }
}
