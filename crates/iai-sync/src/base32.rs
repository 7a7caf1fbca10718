//! Bytes as digits and capitals that people do not confuse (the alphabet of Crockford's base 32),
//! which a QR code has a dense mode for.

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DIGIT_BITS: u32 = 5;

/// Returns bytes as text; the bits that are missing at the end are zeros.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    let (mut held, mut n_held) = (0_u32, 0);
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        n_held += 8;
        while n_held >= DIGIT_BITS {
            n_held -= DIGIT_BITS;
            text.push(digit(held >> n_held));
        }
    }
    if n_held > 0 {
        text.push(digit(held << (DIGIT_BITS - n_held)));
    }
    text
}

/// Reads text, in small or capital letters, with hyphens and blanks wherever; `O` is a zero, `I`
/// and `L` are a one. Nothing when it is not what [`encode`] makes of any bytes.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut held, mut n_held) = (0_u32, 0);
    for letter in text.chars().filter(|letter| !letter.is_whitespace() && *letter != '-') {
        held = held << DIGIT_BITS | value(letter)?;
        n_held += DIGIT_BITS;
        if n_held >= 8 {
            n_held -= 8;
            bytes.push(u8::try_from(held >> n_held & 0xff).ok()?);
        }
        held &= (1 << n_held) - 1;
    }
    let is_whole = n_held < DIGIT_BITS && held == 0;
    is_whole.then_some(bytes)
}

fn digit(value: u32) -> char {
    let index = usize::try_from(value & 31).unwrap_or_default();
    ALPHABET.get(index).copied().map_or('0', char::from)
}

fn value(letter: char) -> Option<u32> {
    let letter = match u8::try_from(letter.to_ascii_uppercase()).ok()? {
        b'O' => b'0',
        b'I' | b'L' => b'1',
        other => other,
    };
    let value = ALPHABET.iter().position(|known| *known == letter)?;
    u32::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_known_and_forgiving() {
        assert_eq!(encode(&[0xff, 0, 0x12]), "ZW014");
        assert_eq!(decode("zw-Oi 4"), Some(vec![0xff, 0, 0x12]));
        assert_eq!(decode("iL"), decode("11"));
        for wrong in ["U", "0", "ZW015", "ZW0140", "é", "Z!"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
