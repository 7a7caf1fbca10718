//! The shape of files: header, size, names, depth, and that nobody forgot to declare one.

use super::Complaint;
use super::tree::{Source, Tree};

const SHIPPED_LINES_MAX: usize = 500;
const LINE_CHARACTERS_MAX: usize = 100;
const FOLDERS_MAX: usize = 2;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "helpers", "core", "manager", "misc"];

/// Every file says first what it is for.
pub(super) fn header(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in tree.sources.iter().filter(|source| !source.text.starts_with("//!")) {
        let what = "no header; begin with `//!` and say what this file is for";
        complaints.push(Complaint::new(&source.path, 1, what));
    }
}

/// Files and lines end before a reader gets tired. Test modules and test files may be longer.
pub(super) fn size(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in &tree.sources {
        if source.n_shipped_lines > SHIPPED_LINES_MAX {
            let n = source.n_shipped_lines;
            let what = format!("{n} lines, at most {SHIPPED_LINES_MAX}; split the file by purpose");
            complaints.push(Complaint::new(&source.path, n, what));
        }
        for (index, line) in source.text.lines().enumerate() {
            let n = line.chars().count();
            if n > LINE_CHARACTERS_MAX {
                let what = format!("{n} characters, at most {LINE_CHARACTERS_MAX}; break the line");
                complaints.push(Complaint::new(&source.path, index + 1, what));
            }
        }
    }
}

/// No file or folder has an empty name, and a folder's file stands beside it.
pub(super) fn names(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in &tree.sources {
        let parts = source.path.trim_end_matches(".rs").split('/');
        for part in parts.filter(|part| EMPTY_NAMES.contains(part)) {
            let what = format!("`{part}` says nothing; name it after what is inside");
            complaints.push(Complaint::new(&source.path, 1, what));
        }
        if let Some(folder) = source.path.strip_suffix("/mod.rs") {
            let what = format!("no mod.rs; move it to {folder}.rs");
            complaints.push(Complaint::new(&source.path, 1, what));
        }
    }
}

/// A reader finds every file within two folders of `src/`.
pub(super) fn depth(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in &tree.sources {
        let inside = source.path.split_once("/src/").map_or("", |(_, inside)| inside);
        let n_folders = inside.matches('/').count();
        if n_folders > FOLDERS_MAX {
            let what = format!("{n_folders} folders under src/, at most {FOLDERS_MAX}; flatten");
            complaints.push(Complaint::new(&source.path, 1, what));
        }
    }
}

/// A file nobody declares is never compiled, and its tests never run.
pub(super) fn declared(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in &tree.sources {
        match place(&source.path) {
            Place::Declared { name, by } => {
                let parents: Vec<_> = by.iter().filter_map(|path| tree.source(path)).collect();
                if !parents.iter().any(|parent| declares(parent, name)) {
                    let parent = parents.first().map(|parent| parent.path.as_str());
                    let parent = parent.or(by.first().map(String::as_str)).unwrap_or_default();
                    let what = format!("never compiled; add `mod {name};` to {parent}");
                    complaints.push(Complaint::new(&source.path, 1, what));
                }
            }
            Place::SecondTestBinary => {
                let what = "one integration binary per crate; move it into tests/it/";
                complaints.push(Complaint::new(&source.path, 1, what));
            }
            Place::Root => {}
        }
    }
}

enum Place<'a> {
    /// A module, and the files one of which has to declare it.
    Declared {
        name: &'a str,
        by: Vec<String>,
    },
    SecondTestBinary,
    /// Cargo compiles it by itself, or it is none of ours.
    Root,
}

fn place(path: &str) -> Place<'_> {
    let Some((folder, file)) = path.rsplit_once('/') else {
        return Place::Root;
    };
    let name = file.trim_end_matches(".rs");
    let is_root_folder = folder.ends_with("/src") || folder.ends_with("/tests/it");
    if folder.ends_with("/tests") && !folder.contains("/src/") {
        Place::SecondTestBinary
    } else if is_root_folder && matches!(name, "main" | "lib") {
        Place::Root
    } else if is_root_folder {
        let main = format!("{folder}/main.rs");
        let by = if folder.ends_with("/src") {
            vec![format!("{folder}/lib.rs"), main]
        } else {
            vec![main]
        };
        Place::Declared { name, by }
    } else if folder.ends_with("/src/bin") {
        Place::Root
    } else if folder.contains("/src/") || folder.contains("/tests/it/") {
        Place::Declared { name, by: vec![format!("{folder}.rs")] }
    } else {
        Place::Root
    }
}

fn declares(source: &Source, name: &str) -> bool {
    source.reading.tokens.windows(3).any(|tokens| match tokens {
        [keyword, module, end] => {
            keyword.word() == Some("mod") && module.word() == Some(name) && end.is_mark(';')
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn a_file_begins_with_its_purpose() {
        expect(header, &[("a/src/lib.rs", "//! Purpose.\n")], &[]);
        let want = "a/src/lib.rs:1: no header; begin with `//!` and say what this file is for";
        for text in ["", "fn f() {}\n", "// A note.\n", "/// A doc.\n"] {
            expect(header, &[("a/src/lib.rs", text)], &[want]);
        }
    }

    #[test]
    fn a_file_ends_at_five_hundred_lines_tests_apart() {
        let (full, over) = ("x\n".repeat(500), "x\n".repeat(501));
        let tests = "#[cfg(test)]\nmod tests {\nx\n}\n";
        expect(size, &[("a/src/lib.rs", &format!("{full}{tests}"))], &[]);
        expect(size, &[("a/tests/it/main.rs", &over), ("a/src/b/tests.rs", &over)], &[]);
        let want = "a/src/lib.rs:501: 501 lines, at most 500; split the file by purpose";
        expect(size, &[("a/src/lib.rs", &format!("{over}{tests}"))], &[want]);
        let declared_first = format!("#[cfg(test)]\nmod fake;\n{full}");
        let want = "a/src/lib.rs:502: 502 lines, at most 500; split the file by purpose";
        expect(size, &[("a/src/lib.rs", &declared_first)], &[want]);
    }

    #[test]
    fn a_line_ends_at_one_hundred_characters() {
        expect(size, &[("a.rs", &"é".repeat(100))], &[]);
        let want = "a.rs:2: 101 characters, at most 100; break the line";
        expect(size, &[("a.rs", &format!("x\n{}\n", "é".repeat(101)))], &[want]);
    }

    #[test]
    fn a_name_says_what_is_inside() {
        for name in EMPTY_NAMES {
            let (file, folder) = (format!("a/src/{name}.rs"), format!("a/src/{name}/x.rs"));
            for path in [file, folder] {
                let want = format!("{path}:1: `{name}` says nothing; name it after what is inside");
                expect(names, &[(&path, "")], &[&want]);
            }
        }
        expect(names, &[("a/src/utilities_of_war.rs", "")], &[]);
        let want = "a/tests/it/x/mod.rs:1: no mod.rs; move it to a/tests/it/x.rs";
        expect(names, &[("a/tests/it/x/mod.rs", "")], &[want]);
    }

    #[test]
    fn two_folders_are_deep_enough() {
        expect(depth, &[("a/src/b/c/d.rs", ""), ("a/b/c/d/src/e.rs", "")], &[]);
        let want = "a/src/b/c/d/e.rs:1: 3 folders under src/, at most 2; flatten";
        expect(depth, &[("a/src/b/c/d/e.rs", "")], &[want]);
    }

    #[test]
    fn every_file_is_declared_by_its_parent() {
        let good = [
            ("a/src/lib.rs", "pub(crate) mod b;"),
            ("a/src/b.rs", "mod c;"),
            ("a/src/b/c.rs", ""),
            ("a/src/main.rs", ""),
            ("a/src/bin/d.rs", ""),
            ("a/tests/it/main.rs", "mod e;"),
            ("a/tests/it/e.rs", ""),
            ("a/build.rs", ""),
        ];
        expect(declared, &good, &[]);
        let cases: &[(&[(&str, &str)], &str)] = &[
            (
                &[("a/src/lib.rs", "// mod b;\nmod bb;"), ("a/src/b.rs", "")],
                "a/src/b.rs:1: never compiled; add `mod b;` to a/src/lib.rs",
            ),
            (&[("a/src/b/c.rs", "")], "a/src/b/c.rs:1: never compiled; add `mod c;` to a/src/b.rs"),
            (
                &[("a/tests/it/main.rs", ""), ("a/tests/it/e.rs", "")],
                "a/tests/it/e.rs:1: never compiled; add `mod e;` to a/tests/it/main.rs",
            ),
            (
                &[("a/tests/f.rs", "")],
                "a/tests/f.rs:1: one integration binary per crate; move it into tests/it/",
            ),
        ];
        for (files, want) in cases {
            expect(declared, files, &[want]);
        }
    }
}
