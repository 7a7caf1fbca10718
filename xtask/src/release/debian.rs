//! The Debian package: where its files go, and what it says about itself.

use super::{Product, Release, VERSION};
use crate::archive::{Entry, ar, gzip, tar};

/// The first packaging of a version.
const REVISION: &str = "1";
const DOCS: &str = "usr/share/doc/iai-mcp";
/// A program that names no version of the C library needs at least this one.
const GLIBC_MIN: (u32, u32) = (2, 28);

/// Returns the package; none for systems that are not Debian's.
pub(super) fn package(release: &Release) -> Result<Option<Product>, String> {
    let Some(architecture) = architecture(&release.target) else { return Ok(None) };
    let files = files(release)?;
    let control = Entry::data("control", control(release, architecture, &files));
    let seconds = release.seconds;
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&tar(&[control], "./", seconds)?)?),
        ("data.tar.gz", gzip(&tar(&files, "./", seconds)?)?),
    ];
    let name = format!("iai-mcp_{VERSION}-{REVISION}_{architecture}.deb");
    Ok(Some((name, ar(&members, seconds))))
}

fn architecture(target: &str) -> Option<&'static str> {
    match target {
        "x86_64-unknown-linux-gnu" => Some("amd64"),
        "aarch64-unknown-linux-gnu" => Some("arm64"),
        _ => None,
    }
}

/// Returns every file where Debian wants it.
fn files(release: &Release) -> Result<Vec<Entry>, String> {
    let mut files = vec![
        Entry::program("usr/bin/iai-mcp", release.program.clone()),
        Entry::data(format!("{DOCS}/copyright"), copyright(release)),
    ];
    for entry in &release.beside {
        files.extend(placed(entry)?);
    }
    Ok(files)
}

fn placed(entry: &Entry) -> Result<Option<Entry>, String> {
    let plain = |path: String| Some(Entry::data(path, entry.content.clone()));
    let packed = |path: String| Ok(Some(Entry::data(path, gzip(&entry.content)?)));
    Ok(match entry.path.as_str() {
        // Their words stand in `copyright`.
        "LICENSE-MIT" | "LICENSE-APACHE" => None,
        "CHANGELOG.md" => return packed(format!("{DOCS}/changelog.gz")),
        "completions/iai-mcp.bash" => {
            plain("usr/share/bash-completion/completions/iai-mcp".to_owned())
        }
        "completions/_iai-mcp" => plain("usr/share/zsh/vendor-completions/_iai-mcp".to_owned()),
        "completions/iai-mcp.fish" => {
            plain("usr/share/fish/vendor_completions.d/iai-mcp.fish".to_owned())
        }
        path => match path.split_once('/') {
            Some(("man", page)) => return packed(format!("usr/share/man/man1/{page}.gz")),
            Some(("plugins", rest)) => plain(format!("usr/share/iai-mcp/plugins/{rest}")),
            _ => plain(format!("{DOCS}/{path}")),
        },
    })
}

/// The words of both licences: MIT's whole, Apache's where Debian keeps it.
fn copyright(release: &Release) -> String {
    let mit = release.beside.iter().find(|entry| entry.path == "LICENSE-MIT");
    let mit = mit.map(|entry| String::from_utf8_lossy(&entry.content).into_owned());
    let indented: String = mit
        .unwrap_or_default()
        .lines()
        .map(|line| if line.trim().is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
        .collect();
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: iai-mcp\n\n\
         Files: *\nCopyright: the iai-mcp authors\nLicense: Expat or Apache-2.0\n\n\
         License: Expat\n{indented}\n\
         License: Apache-2.0\n On Debian systems, the text is in\n \
         /usr/share/common-licenses/Apache-2.0.\n"
    )
}

fn control(release: &Release, architecture: &str, files: &[Entry]) -> String {
    let n_bytes: usize = files.iter().map(|entry| entry.content.len()).sum();
    let (major, minor) = glibc(&release.program);
    format!(
        "Package: iai-mcp\nVersion: {VERSION}-{REVISION}\nArchitecture: {architecture}\n\
         Maintainer: The iai-mcp authors <iai-mcp@localhost.localdomain>\n\
         Installed-Size: {}\nDepends: libc6 (>= {major}.{minor}), libgcc-s1\n\
         Section: utils\nPriority: optional\n\
         Description: long-term memory of AI assistants\n \
         Captures every turn of every session word for word, keeps it encrypted on\n \
         this machine, finds it again and tells a new session what was said before.\n \
         One program: command line, daemon, MCP server and hooks. No network.\n",
        n_bytes.div_ceil(1024)
    )
}

/// Returns the newest version of the C library that the program asks for.
fn glibc(program: &[u8]) -> (u32, u32) {
    const MARK: &[u8] = b"GLIBC_";
    let starts = program.windows(MARK.len()).enumerate().filter(|(_, bytes)| *bytes == MARK);
    let version = |(at, _): (usize, &[u8])| {
        let rest = program.get(at + MARK.len()..)?;
        let end = rest.iter().position(|byte| !(byte.is_ascii_digit() || *byte == b'.'));
        let text = std::str::from_utf8(rest.get(..end.unwrap_or(rest.len()))?).ok()?;
        let mut numbers = text.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    starts.filter_map(version).max().map_or(GLIBC_MIN, |newest| newest.max(GLIBC_MIN))
}

#[cfg(test)]
mod tests {
    use super::super::tests::stand_in;
    use super::*;

    #[test]
    fn every_file_has_its_place() {
        let files = files(&stand_in()).unwrap();
        let mut paths: Vec<&str> = files.iter().map(|entry| entry.path.as_str()).collect();
        paths.sort_unstable();
        let want = [
            "usr/bin/iai-mcp",
            "usr/share/bash-completion/completions/iai-mcp",
            "usr/share/doc/iai-mcp/README.md",
            "usr/share/doc/iai-mcp/changelog.gz",
            "usr/share/doc/iai-mcp/copyright",
            "usr/share/fish/vendor_completions.d/iai-mcp.fish",
            "usr/share/iai-mcp/plugins/iai-mcp/.mcp.json",
            "usr/share/man/man1/iai-mcp.1.gz",
            "usr/share/zsh/vendor-completions/_iai-mcp",
        ];
        assert_eq!(paths, want);
    }

    #[test]
    fn the_newest_c_library_is_asked_for() {
        let control = control(&stand_in(), "amd64", &[]);
        assert!(control.contains("\nDepends: libc6 (>= 2.34), libgcc-s1\n"), "{control}");
        assert_eq!(glibc(b"GLIBC_PRIVATE GLIBC_2.2.5"), GLIBC_MIN);
    }

    #[test]
    fn a_system_that_is_not_debians_gets_none() {
        let mac = Release { target: "aarch64-apple-darwin".to_owned(), ..stand_in() };
        assert_eq!(package(&mac), Ok(None));
    }

    #[test]
    fn both_licences_are_told() {
        let text = copyright(&stand_in());
        assert!(text.contains("\nLicense: Expat\n Permission is hereby granted\n"), "{text}");
        assert!(text.contains("common-licenses/Apache-2.0"));
    }
}
