//! `model`: which sentence models there are, and how to get one.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;

use super::output::{Output, Tone};
use crate::model::{self, DEFAULT, KNOWN};
use crate::settings::Settings;

#[derive(Subcommand)]
pub(super) enum ModelCommand {
    /// Show the models that can be installed, and those that are
    List,
    /// Fetch a model and make it ready
    Install {
        /// Which one
        #[arg(default_value = DEFAULT)]
        name: String,
        /// Take it from this folder, with model.safetensors or model.onnx, tokenizer.json and
        /// config.json, instead of fetching it
        #[arg(long, value_name = "FOLDER")]
        from: Option<PathBuf>,
    },
}

pub(super) fn run(
    command: &ModelCommand,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match command {
        ModelCommand::List => list(settings, output),
        ModelCommand::Install { name, from } => {
            let installed = match from {
                Some(folder) => model::install_folder(&settings.home, name, folder)?,
                None => {
                    let mut tell = |text: &str| output.explain(text);
                    model::install_known(&settings.home, name, &mut tell)?
                }
            };
            let path = installed.path.display().to_string();
            let value = json!({"path": path, "model": installed.identity});
            output.show(&value, |_| format!("{name} is ready: {path}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(settings: &Settings, output: &Output) {
    let is_there = |name: &str| settings.home.model(name).exists();
    let models: Vec<_> = KNOWN
        .iter()
        .map(|known| {
            json!({
                "name": known.name, "about": known.about, "licence": known.licence,
                "download_bytes": known.n_bytes(), "installed": is_there(known.name),
            })
        })
        .collect();
    output.show(&json!({"models": models}), |_| {
        let line = |known: &model::Known| {
            let state = if is_there(known.name) {
                output.tint(Tone::Good, "installed")
            } else {
                output.tint(Tone::Quiet, &format!("{} MB", known.n_bytes() / 1_000_000))
            };
            format!("{:<10} {state:<10} {} ({})", known.name, known.about, known.licence)
        };
        KNOWN.iter().map(line).collect::<Vec<_>>().join("\n")
    });
}
