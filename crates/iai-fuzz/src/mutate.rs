//! Ways to damage bytes: single bits, whole pieces, numbers, and words parsers look for.

/// The longest input that is made.
const BYTES_MAX: usize = 64 * 1024;
/// The longest piece that is cut, doubled or moved.
const PIECE_MAX: u64 = 64;
/// The most changes of one input.
const CHANGES_MAX: u64 = 6;

/// What parsers look for, or stumble over.
const WORDS: &[&[u8]] = &[
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"{\"\":",
    b"[[[[[[[[",
    b"\"",
    b"\\",
    b"\\ud800",
    b"\\u0000",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"\xe2\x80\x8b",
    b"\xf0\x9f\x94\x91",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"-9223372036854775808",
    b"0.1",
    b"//",
    b"/*",
    b"*/",
    b",,",
    b"../",
    b"<private>",
    b"</private>",
    b"-----BEGIN PRIVATE KEY-----",
    b"last Tuesday",
    b"0000-00-00",
    b"9999-12-31T23:59:60Z",
];

/// Changes inputs, decided by a seed.
pub(crate) struct Mutator<'a> {
    inputs: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(inputs: &'a [Vec<u8>], seed: u64) -> Self {
        Self { inputs, state: seed }
    }

    /// Returns one of the inputs with a few changes.
    pub(crate) fn changed(&mut self) -> Vec<u8> {
        let mut bytes = self.any_input();
        for _ in 0..=self.below(CHANGES_MAX) {
            self.change(&mut bytes);
        }
        bytes.truncate(BYTES_MAX);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.place(bytes.len());
        let piece = at..bytes.len().min(at + self.place_below(PIECE_MAX) + 1);
        match self.below(9) {
            0 => {
                let bit = self.below(8);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            1 => drop(bytes.drain(piece)),
            2 => {
                let doubled = bytes.get(piece).unwrap_or_default().to_vec();
                bytes.splice(at..at, doubled);
            }
            3 => bytes.truncate(at),
            4 => {
                let n = self.below(8);
                let noise: Vec<u8> = (0..n).map(|_| self.byte()).collect();
                bytes.splice(at..at, noise);
            }
            5 => self.replace_number(bytes, at),
            // The beginning of this with the end of another.
            6 => {
                let other = self.any_input();
                let from = self.place(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(other.get(from..).unwrap_or_default());
            }
            7 => {
                let moved: Vec<u8> = bytes.drain(piece).collect();
                let to = self.place(bytes.len());
                bytes.splice(to..to, moved);
            }
            _ => {
                let word = WORDS.get(self.place(WORDS.len())).copied().unwrap_or_default();
                bytes.splice(at..at, word.iter().copied());
            }
        }
    }

    /// Replaces the digits behind `at` by a number at the edge of what a machine counts to.
    fn replace_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        const EDGES: [&str; 6] =
            ["0", "-1", "2147483648", "4294967296", "9223372036854775808", "1e308"];
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(begin) = rest.iter().position(u8::is_ascii_digit) else { return };
        let n_digits = rest.iter().skip(begin).take_while(|byte| byte.is_ascii_digit()).count();
        let edge = EDGES.get(self.place(EDGES.len())).copied().unwrap_or_default();
        bytes.splice(at + begin..at + begin + n_digits, edge.bytes());
    }

    fn any_input(&mut self) -> Vec<u8> {
        self.inputs.get(self.place(self.inputs.len())).cloned().unwrap_or_default()
    }

    /// Returns a place within so many; 0 when there is none.
    fn place(&mut self, length: usize) -> usize {
        self.place_below(u64::try_from(length).unwrap_or(u64::MAX))
    }

    fn place_below(&mut self, bound: u64) -> usize {
        usize::try_from(self.below(bound)).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap_or(0)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Names an input (FNV-1a).
pub(crate) fn fingerprint(input: &[u8]) -> u64 {
    input.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
