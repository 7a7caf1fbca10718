//! `man`: manual pages, made from the same definitions as `--help`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_mangen::Man;
use serde_json::json;

use super::output::{Output, counted};
use crate::exit::Misuse;

const SOURCE: &str = concat!("iai-mcp ", env!("CARGO_PKG_VERSION"));
/// When what the pages say last changed. Without it the other words at their foot stand askew.
const DATE: &str = "2026-11-16";

/// Whoever reads the manual need not be who wrote the pages.
const PAGE_MODE: u32 = 0o644;

#[derive(Args)]
pub(super) struct ManArguments {
    /// The command to print the page of, such as `recall` or `daemon start`; none means the program
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write the page of every command into this folder instead
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

/// Prints one page, or writes all of them.
pub(super) fn run(
    arguments: &ManArguments,
    program: Command,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let pages = pages(program)?;
    if let Some(folder) = &arguments.dir {
        write_all(&pages, folder)?;
        let files: Vec<&String> = pages.iter().map(|page| &page.file).collect();
        output.show(&json!({"folder": folder, "files": files}), |_| {
            format!("{} in {}", counted(pages.len(), "page"), folder.display())
        });
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = std::iter::once("iai-mcp").chain(arguments.command.iter().map(String::as_str));
    let wanted = format!("{}.1", wanted.collect::<Vec<_>>().join("-"));
    let Some(page) = pages.iter().find(|page| page.file == wanted) else {
        let why = "there is no such command; `iai-mcp help` lists them";
        return Err(Misuse(why)).context(format!("`{}`", arguments.command.join(" ")));
    };
    output.text(&page.roff);
    Ok(ExitCode::SUCCESS)
}

/// A page and the file it belongs into.
struct Page {
    file: String,
    roff: String,
}

/// Makes the page of the program and of every command under it.
fn pages(program: Command) -> anyhow::Result<Vec<Page>> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    add_pages(&program, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &Command, pages: &mut Vec<Page>) -> anyhow::Result<()> {
    // Built, a command knows those above it: `iai-mcp-daemon-start`.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let short = command.clone().long_version(None::<&'static str>);
    let man = Man::new(short).title(name.to_uppercase()).section("1");
    let man = man.date(DATE).source(SOURCE).manual("iai-mcp");
    let mut roff = Vec::new();
    man.render(&mut roff).with_context(|| format!("making the page of {name}"))?;
    let roff = String::from_utf8(roff).context("a page is text")?;
    // An empty line between two line ends is one gap, which stricter readers want called so.
    let roff = roff.replace(".br\n\n.br\n", ".sp\n");
    pages.push(Page { file: format!("{name}.1"), roff });
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        add_pages(command, pages)?;
    }
    Ok(())
}

fn write_all(pages: &[Page], folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    for page in pages {
        let path = folder.join(&page.file);
        fs::write(&path, &page.roff)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(PAGE_MODE)))
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}
