//! The `ar` format, which a Debian package is.

const MAGIC: &[u8] = b"!<arch>\n";

/// Returns the archive, its members in the order given: `dpkg` insists on it.
pub(crate) fn ar(members: &[(&str, Vec<u8>)], seconds: u64) -> Vec<u8> {
    let mut archive = MAGIC.to_vec();
    for (name, content) in members {
        let n_bytes = content.len();
        let header =
            format!("{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{n_bytes:<10}`\n", 0, 0, "100644");
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(content);
        if n_bytes % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_at_even_places() {
        let archive = ar(&[("a", b"xyz".to_vec()), ("b", b"1".to_vec())], 7);
        let text = String::from_utf8(archive).unwrap();
        let line =
            |name: &str, n: usize| format!("{name:<16}7           0     0     100644  {n:<10}`\n");
        assert_eq!(text, format!("!<arch>\n{}xyz\n{}1\n", line("a", 3), line("b", 1)));
    }
}
