//! Where dependencies come from and what they may be used for, as `cargo metadata` tells it.

use serde_json::Value;

use super::Complaint;

/// Licences that ask for no more than their own text.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "ISC",
    "Zlib",
    "Unlicense",
    "CC0-1.0",
    "Unicode-3.0",
    "blessing",
    "WTFPL",
    "Apache-2.0 WITH LLVM-exception",
];
/// The one place where packages come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// Packages that call out, or that we have an own room for.
const BANNED: &[&str] = &["reqwest", "ureq", "curl", "native-tls", "openssl", "openssl-sys"];
/// Packages there are two versions of, because others have not moved on yet.
const TWICE: &[&str] = &[
    "base64",
    "bitflags",
    "fallible-iterator",
    "getrandom",
    "signal-hook",
    "syn",
    "wasi",
    "windows-sys",
];
const LOCK: &str = "Cargo.lock";

/// Complains about packages from elsewhere, under other licences, banned, or there twice.
pub(super) fn check(metadata: &str) -> Vec<Complaint> {
    let Ok(metadata) = serde_json::from_str::<Value>(metadata) else {
        return vec![Complaint::new(LOCK, 1, "`cargo metadata` printed no JSON")];
    };
    let packages = metadata.get("packages").and_then(Value::as_array);
    let mut seen = Vec::new();
    let mut complaints = Vec::new();
    for package in packages.into_iter().flatten() {
        let told = |field: &str| package.get(field).and_then(Value::as_str);
        let (name, source) = (told("name").unwrap_or("?"), told("source"));
        let mut complain =
            |what: String| complaints.push(Complaint::new(LOCK, 1, format!("{name}: {what}")));
        let licence = told("license").unwrap_or_default();
        if !is_allowed(licence) {
            complain(format!("under `{licence}`; allow it here or leave it out"));
        }
        if source.is_some_and(|source| source != REGISTRY) {
            complain(format!("comes from {}", source.unwrap_or_default()));
        }
        if BANNED.contains(&name) {
            complain("is banned: nothing here calls out".to_owned());
        }
        if seen.contains(&name.to_owned()) && !TWICE.contains(&name) {
            complain("is there in two versions; `cargo tree -d` says why".to_owned());
        }
        seen.push(name.to_owned());
    }
    complaints
}

/// Judges `A OR B`, `A/B`, `A AND B` and `(A OR B) AND C`.
fn is_allowed(licence: &str) -> bool {
    let either = |part: &str| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        part.replace('/', " OR ").split(" OR ").any(|one| ALLOWED.contains(&one.trim()))
    };
    licence.split(" AND ").all(either)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_allowed_when_one_can_be_chosen_of_every_part() {
        for (licence, want) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0 OR MIT", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-3.0", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(licence), want, "{licence}");
        }
    }

    #[test]
    fn every_kind_of_wrong_package_is_named() {
        let package = |name: &str, source: &str| {
            let licence = "MIT";
            serde_json::json!({"name": name, "license": licence, "source": source})
        };
        let packages = [
            package("a", REGISTRY),
            package("a", REGISTRY),
            package("b", "git+https://elsewhere"),
            package("reqwest", REGISTRY),
            serde_json::json!({"name": "c", "license": "GPL-3.0", "source": null}),
        ];
        let metadata = serde_json::json!({"packages": packages}).to_string();
        let told: Vec<String> = check(&metadata).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 4, "{told:?}");
        assert_eq!(check("nonsense").len(), 1);
    }
}
