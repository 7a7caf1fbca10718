//! What was measured, and on what: named in every result, because figures without it mean nothing.

use serde_json::{Value, json};

use crate::fields::Fields as _;

/// Returns the machine and the program; `status` is the measured daemon's.
pub(super) fn describe(status: &Value) -> Value {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    json!({
        "machine": {"cores": n_cores, "cpu": cpu_model(), "os": std::env::consts::OS},
        "program": {
            "version": env!("CARGO_PKG_VERSION"),
            "commit": crate::stamp::commit(),
            "build": if cfg!(debug_assertions) { "debug" } else { "release" },
        },
        "model": status.at("embedding_model"),
    })
}

/// Returns the same in one line.
pub(super) fn line(described: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    let (machine, program) = (described.at("machine"), described.at("program"));
    let model = described.at("model").as_str().unwrap_or("none, words only");
    format!(
        "iai-mcp {} ({}, commit {}) · model: {model} · {} × {}",
        word(program.at("version")),
        word(program.at("build")),
        word(program.at("commit")),
        machine.at("cores"),
        word(machine.at("cpu")),
    )
}

/// Linux tells it as a file; elsewhere the architecture has to do.
fn cpu_model() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_name(&told).unwrap_or(std::env::consts::ARCH).to_owned()
}

fn model_name(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named() {
        let told = "processor\t: 0\nmodel name\t: A Fast One @ 3 GHz\nflags\t: x\n";
        assert_eq!(model_name(told), Some("A Fast One @ 3 GHz"));
        assert_eq!(model_name(""), None);
    }

    #[test]
    fn a_line_names_program_model_and_machine() {
        let line = line(&describe(&json!({"embedding_model": "small-1"})));
        assert!(line.contains(env!("CARGO_PKG_VERSION")) && line.contains("small-1"), "{line}");
        assert!(super::line(&describe(&Value::Null)).contains("words only"));
    }
}
