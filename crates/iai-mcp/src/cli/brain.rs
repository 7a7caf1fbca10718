//! `brain`: opens a page on this machine that shows what is remembered.

use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use serde_json::json;

use super::output::Output;
use crate::client::Client;
use crate::settings::Settings;
use crate::web::Page;

/// What opens an address in the user's browser.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

#[derive(Args)]
pub(super) struct BrainArguments {
    /// The port of the page; 0 takes one that is free
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Print the address and open no browser
    #[arg(long)]
    no_open: bool,
}

pub(super) fn run(
    client: Client,
    arguments: &BrainArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let page = Page::bind(arguments.port)?;
    let address = page.address();
    let told = json!({"url": address, "port": page.port(), "pid": std::process::id()});
    let announce = || {
        output.show(&told, |_| {
            format!(
                "{address}\n\
                 The address is good for one browser, once. Ctrl-C ends the page; so does an hour \
                 without a visit."
            )
        });
        let opened = if arguments.no_open { Ok(()) } else { open(&address) };
        if let Err(error) = opened {
            let told = format!("`{OPENER}` does not start ({error}); open the address yourself");
            output.remark(&told);
        }
    };
    page.serve(client, settings.clone(), announce)?;
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::disallowed_methods, reason = "the user asked for a page in their browser")]
fn open(address: &str) -> std::io::Result<()> {
    let mut opener = Command::new(OPENER);
    opener.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut opener = opener.spawn()?;
    // Somebody has to take note of its end.
    std::thread::spawn(move || opener.wait());
    Ok(())
}
