//! The house rules the compiler cannot check. Each rule is a pure function over the whole tree.

mod licences;
mod manifests;
mod maps;
mod names;
mod pages;
mod rooms;
mod shape;
mod tokens;
mod tree;
mod words;

use std::fmt;

use crate::repository;
use tree::Tree;

/// A place in the tree that breaks a rule, and what to do about it.
struct Complaint {
    path: String,
    line: usize,
    what: String,
}

impl Complaint {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Looks at the tree and adds what it finds.
type Rule = fn(&Tree, &mut Vec<Complaint>);

const RULES: &[Rule] = &[
    rooms::barred,
    rooms::confined,
    shape::header,
    shape::size,
    shape::names,
    shape::depth,
    shape::declared,
    words::comments,
    words::attributes,
    words::denied,
    manifests::arrows,
    manifests::lints,
    maps::architecture,
    maps::links,
    pages::configuration,
];

pub(crate) fn run() -> Result<(), String> {
    let root = repository::root();
    let tree = Tree::read(&root).map_err(|error| format!("cannot read the tree: {error}"))?;
    let mut complaints = check(&tree);
    complaints.extend(licences::check(&repository::metadata()?));
    for complaint in &complaints {
        println!("{complaint}");
    }
    match complaints.len() {
        0 => Ok(()),
        1 => Err("one complaint about the house rules".to_owned()),
        n => Err(format!("{n} complaints about the house rules")),
    }
}

fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for rule in RULES {
        rule(tree, &mut complaints);
    }
    complaints.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs one rule over a tree of `(path, text)` and compares what it prints.
    #[track_caller]
    pub(super) fn expect(rule: Rule, files: &[(&str, &str)], want: &[&str]) {
        let mut complaints = Vec::new();
        rule(&Tree::of(files), &mut complaints);
        let got: Vec<String> = complaints.iter().map(ToString::to_string).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn complaints_are_sorted_by_place() {
        let long = format!("//! X.\n{}\n// {}\n", "x".repeat(101), concat!("TO", "DO"));
        let files = [("b/src/main.rs", long.as_str()), ("a/src/main.rs", "x\n")];
        let complaints = check(&Tree::of(&files));
        let places: Vec<_> = complaints.iter().map(|c| (c.path.as_str(), c.line)).collect();
        let architecture = ("ARCHITECTURE.md", 1);
        let want = [architecture, ("a/src/main.rs", 1), ("b/src/main.rs", 2), ("b/src/main.rs", 3)];
        assert_eq!(places, want);
    }
}
