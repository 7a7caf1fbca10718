//! Which commit this program was built from, as `cargo xtask` writes it into the finished file.
//!
//! Not a variable of the build: then every commit would compile and link the program anew.

/// Room for the name of a commit, and where in the stamp it stands.
const COMMIT_BYTES: usize = 40;
const COMMIT_START: usize = 15;

/// Found in the file by its beginning, which therefore stands nowhere else; the blanks are filled.
static STAMP: [u8; 56] = *b"iai-mcp:commit[                                        ]";

/// Returns the commit; `None` for a program nobody stamped.
pub(crate) fn commit() -> Option<&'static str> {
    // The compiler must not decide what the bytes are: they change after it is done.
    let stamp: &'static [u8; 56] = std::hint::black_box(&STAMP);
    let commit = stamp.get(COMMIT_START..COMMIT_START + COMMIT_BYTES)?;
    let commit = std::str::from_utf8(commit).ok()?.trim();
    (!commit.is_empty()).then_some(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blanks_stand_where_they_are_read() {
        let (start, end) = (COMMIT_START, COMMIT_START + COMMIT_BYTES);
        assert_eq!((STAMP[start - 1], STAMP[end]), (b'[', b']'));
        assert!(STAMP[start..end].iter().all(|byte| *byte == b' '));
        assert_eq!(commit(), None);
    }
}
