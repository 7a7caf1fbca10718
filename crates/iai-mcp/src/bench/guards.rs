//! How often the two guards are right: texts with labels, judged by the rules that are shipped.
//! What is a secret, and what gives orders, is for the rules to know; where the texts come from,
//! for whoever asks.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::sheet::Sheet;
use crate::capture::{SecretPolicy, secret_marks};

/// Of the wrongly judged texts so many are named, in the document for programs.
const NAMED_MAX: usize = 1000;

/// A text and what a person says about it.
#[derive(Deserialize)]
struct Row {
    text: String,
    label: Label,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Label {
    /// Holds a secret …
    Secret,
    /// … or none.
    Clean,
    /// Gives orders to an assistant …
    Order,
    /// … or does not.
    Ordinary,
}

impl Label {
    /// In the order they are told; what has to be found, and what must not be.
    const ALL: [(Self, &'static str); 4] = [
        (Self::Secret, "secrets found"),
        (Self::Clean, "taken for secrets by mistake"),
        (Self::Order, "orders found"),
        (Self::Ordinary, "taken for orders by mistake"),
    ];

    /// Says what the rules say about a text with this label.
    fn is_marked(self, text: &str) -> bool {
        match self {
            Self::Secret | Self::Clean => !secret_marks(text, &SecretPolicy::default()).is_empty(),
            Self::Order | Self::Ordinary => iai_memory::distrust(text).is_some(),
        }
    }

    fn must_be_marked(self) -> bool {
        matches!(self, Self::Secret | Self::Order)
    }
}

/// Judges every line of a `.jsonl` file, or of all those in a folder: `{"text": …, "label": …}`.
pub(crate) fn run(data: &Path) -> anyhow::Result<Sheet> {
    let mut counts = [(0_u64, 0_u64); Label::ALL.len()];
    let mut wrong = Vec::new();
    for path in files(data)? {
        let text = fs::read_to_string(&path).with_context(|| format!("reading {path:?}"))?;
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let row: Row = serde_json::from_str(line)
                .with_context(|| format!("line {number} of {}", path.display()))?;
            let is_marked = row.label.is_marked(&row.text);
            for ((label, _), (n_marked, n)) in Label::ALL.iter().zip(&mut counts) {
                *n += u64::from(*label == row.label);
                *n_marked += u64::from(*label == row.label && is_marked);
            }
            if is_marked != row.label.must_be_marked() && wrong.len() < NAMED_MAX {
                wrong.push(json!({"file": path.display().to_string(), "line": number}));
            }
        }
    }
    Ok(told(data, &counts, wrong))
}

fn told(data: &Path, counts: &[(u64, u64)], wrong: Vec<Value>) -> Sheet {
    let mut sheet = Sheet::new(format!("the guards over {}", data.display()), &Value::Null);
    let rows = Label::ALL.iter().zip(counts).filter(|(_, (_, n))| 0 < *n);
    for ((_, name), (n_marked, n)) in rows {
        let value = json!({"n": n_marked, "of": n});
        sheet.add(name, format!("{n_marked} of {n}"), value);
    }
    let shown = format!("{} (with --json: which)", wrong.len());
    sheet.add("judged wrongly", shown, wrong);
    sheet
}

fn files(data: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !data.is_dir() {
        return Ok(vec![data.to_owned()]);
    }
    let listed = fs::read_dir(data).with_context(|| format!("listing {}", data.display()))?;
    let mut paths = Vec::new();
    for entry in listed {
        let path = entry.with_context(|| format!("listing {}", data.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    anyhow::ensure!(!paths.is_empty(), "no .jsonl file in {}", data.display());
    Ok(paths)
}
