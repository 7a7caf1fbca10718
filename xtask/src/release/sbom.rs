//! What the program is made of: every package that is compiled into it, as `CycloneDX`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Release, VERSION, pretty, read};
use crate::{process, repository};

const METADATA_DEADLINE: Duration = Duration::from_mins(2);
const SPEC_VERSION: &str = "1.5";

/// Returns the list for this repository as `cargo` resolves it.
pub(super) fn of_repository(release: &Release) -> Result<Vec<u8>, String> {
    let platform = ["--filter-platform", &release.target];
    let metadata = repository::cargo(
        &[&["metadata", "--format-version", "1", "--locked"][..], &platform].concat(),
    );
    let told = process::capture(metadata, METADATA_DEADLINE)?;
    let metadata: Value = serde_json::from_str(&told.stdout)
        .map_err(|error| format!("cargo metadata: {error}: {}", told.stderr))?;
    let lock = read(&repository::root().join("Cargo.lock"))?;
    let sums = checksums(&String::from_utf8_lossy(&lock));
    let sbom = sbom(&metadata, &sums).ok_or("cargo metadata has another shape than expected")?;
    Ok(pretty(&sbom))
}

/// What `Cargo.lock` says of a package's archive, by name and version.
type Checksums = BTreeMap<(String, String), String>;

fn checksums(lock: &str) -> Checksums {
    let mut sums = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let field = |name: &str| {
            let start = format!("{name} = \"");
            let line = package.lines().find_map(|line| line.strip_prefix(&*start));
            line.and_then(|rest| rest.strip_suffix('"')).map(str::to_owned)
        };
        if let (Some(name), Some(version), Some(sum)) =
            (field("name"), field("version"), field("checksum"))
        {
            sums.insert((name, version), sum);
        }
    }
    sums
}

fn sbom(metadata: &Value, sums: &Checksums) -> Option<Value> {
    let by_id = |list: &'static str, parent: Option<&'static str>| {
        let holder = parent.map_or(Some(metadata), |parent| metadata.get(parent));
        let items = holder?.get(list)?.as_array()?.iter();
        items
            .map(|item| Some((item.get("id")?.as_str()?, item)))
            .collect::<Option<BTreeMap<_, _>>>()
    };
    let (packages, nodes) = (by_id("packages", None)?, by_id("nodes", Some("resolve"))?);
    let is_product = |package: &&Value| package.get("name") == Some(&json!(repository::PRODUCT));
    let product = packages.values().find(|package| is_product(package))?.get("id")?.as_str()?;
    let reached = reached(product, &nodes);
    let refer = |id: &str| packages.get(id).and_then(|package| purl(package));
    let parts = reached.iter().filter(|id| **id != product);
    let mut components: Vec<Value> =
        parts.map(|id| component(packages.get(id)?, sums)).collect::<Option<_>>()?;
    components.sort_by_key(|component| component.get("bom-ref").map(Value::to_string));
    let dependencies = reached.iter().map(|id| {
        let mut on: Vec<String> = needs(nodes.get(id)?).into_iter().filter_map(refer).collect();
        on.sort();
        on.dedup();
        Some(json!({"ref": refer(id)?, "dependsOn": on}))
    });
    let mut dependencies: Vec<Value> = dependencies.collect::<Option<_>>()?;
    dependencies.sort_by_key(|dependency| dependency.get("ref").map(Value::to_string));
    let mut whole = component(packages.get(product)?, sums)?;
    whole.as_object_mut()?.insert("type".to_owned(), json!("application"));
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "version": 1,
        "metadata": {"component": whole, "tools": {"components": [
            {"type": "application", "name": "iai-mcp xtask", "version": VERSION},
        ]}},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// Returns everything that is compiled into the product, build scripts' own code included.
fn reached<'a>(product: &'a str, nodes: &BTreeMap<&'a str, &'a Value>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![product];
    while let Some(id) = open.pop() {
        if let Some(node) = nodes.get(id).filter(|_| reached.insert(id)) {
            open.extend(needs(node));
        }
    }
    reached
}

/// Returns what a package needs to be built; what only its tests need is no part of the product.
fn needs(node: &Value) -> Vec<&str> {
    let dependencies = node.get("deps").and_then(Value::as_array).into_iter().flatten();
    let is_built_in = |dependency: &&Value| {
        let kinds = dependency.get("dep_kinds").and_then(Value::as_array).into_iter().flatten();
        kinds.into_iter().any(|kind| kind.get("kind") != Some(&json!("dev")))
    };
    let built_in = dependencies.filter(is_built_in);
    built_in.filter_map(|dependency| dependency.get("pkg")?.as_str()).collect()
}

fn component(package: &Value, sums: &Checksums) -> Option<Value> {
    let field = |name: &str| package.get(name).and_then(Value::as_str).map(str::to_owned);
    let (name, version, purl) = (field("name")?, field("version")?, purl(package)?);
    let mut component = json!({
        "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
    });
    let fields = component.as_object_mut()?;
    if let Some(licence) = field("license") {
        // Older packages write a slash where the grammar wants a word.
        let expression = licence.replace('/', " OR ");
        fields.insert("licenses".to_owned(), json!([{"expression": expression}]));
    }
    if let Some(sum) = sums.get(&(name, version)) {
        fields.insert("hashes".to_owned(), json!([{"alg": "SHA-256", "content": sum}]));
    }
    Some(component)
}

fn purl(package: &Value) -> Option<String> {
    let (name, version) = (package.get("name")?.as_str()?, package.get("version")?.as_str()?);
    Some(format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, licence: &str) -> Value {
        let version = "1.0.0+x";
        json!({"id": name, "name": name, "version": version, "license": licence})
    }

    #[test]
    fn what_is_compiled_in_is_listed_and_what_only_tests_need_is_not() {
        let needs = |on: &str, kind: Value| json!({"pkg": on, "dep_kinds": [{"kind": kind}]});
        let node = |name: &str, needs: Vec<Value>| json!({"id": name, "deps": needs});
        let metadata = json!({
            "packages": [
                package("iai-mcp", "MIT"), package("lib", "MIT/Apache-2.0"),
                package("script", "ISC"), package("trial", "MIT"), package("other", "MIT"),
            ],
            "resolve": {"nodes": [
                node("iai-mcp", vec![needs("lib", json!(null)), needs("trial", json!("dev"))]),
                node("lib", vec![needs("script", json!("build"))]),
                node("script", vec![]), node("trial", vec![]), node("other", vec![]),
            ]},
        });
        let lock = "[[package]]\nname = \"lib\"\nversion = \"1.0.0+x\"\nchecksum = \"00ff\"\n";
        let sbom = sbom(&metadata, &checksums(lock)).unwrap();
        let names: Vec<&Value> =
            sbom["components"].as_array().unwrap().iter().map(|part| &part["name"]).collect();
        assert_eq!(names, ["lib", "script"]);
        let lib = &sbom["components"][0];
        assert_eq!(lib["purl"], "pkg:cargo/lib@1.0.0%2Bx");
        assert_eq!(lib["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(lib["hashes"][0]["content"], "00ff");
        assert_eq!(sbom["metadata"]["component"]["name"], "iai-mcp");
        let first = &sbom["dependencies"][0];
        assert_eq!(first["dependsOn"], json!(["pkg:cargo/lib@1.0.0%2Bx"]));
    }
}
