//! Bytes of the derived state: little-endian numbers, short numbers in few bytes, a checksum.

/// Appends a number in as few bytes as it needs, seven bits in each.
pub(crate) fn put_short(to: &mut Vec<u8>, mut number: u32) {
    while let rest @ 1.. = number >> 7 {
        to.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number = rest;
    }
    to.push(u8::try_from(number & 0x7f).unwrap_or_default());
}

/// Takes such a number from the front; bytes that end too early read as zero.
#[inline]
pub(crate) fn take_short(from: &mut &[u8]) -> u32 {
    let mut number = 0;
    let mut shift = 0_u32;
    while let Some((byte, rest)) = from.split_first() {
        *from = rest;
        number |= u32::from(byte & 0x7f).wrapping_shl(shift);
        if *byte < 0x80 {
            break;
        }
        shift = shift.saturating_add(7);
    }
    number
}

/// Reads four bytes at a place; zero where there are none.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let end = at.saturating_add(4);
    bytes.get(at..end).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Reads eight bytes at a place; zero where there are none.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let end = at.saturating_add(8);
    bytes.get(at..end).and_then(|eight| eight.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Sums bytes up so that a change of any is noticed. The pages below are authenticated already:
/// this finds what a bug or a foreign program wrote, not what an attacker did.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        sum = (sum.rotate_left(29) ^ u64::from_le_bytes(*word)).wrapping_mul(SPREAD);
    }
    for byte in rest {
        sum = (sum.rotate_left(29) ^ u64::from(*byte)).wrapping_mul(SPREAD);
    }
    sum ^ (sum >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_read_back() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, u32::MAX - 1, u32::MAX];
        let mut bytes = Vec::new();
        for number in numbers {
            put_short(&mut bytes, number);
        }
        let mut rest = bytes.as_slice();
        assert_eq!(numbers, numbers.map(|_| take_short(&mut rest)));
        assert_eq!((rest.len(), take_short(&mut rest)), (0, 0));
    }

    #[test]
    fn a_changed_byte_changes_the_sum() {
        let bytes: Vec<u8> = (0..100).collect();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert_ne!(checksum(&changed), checksum(&bytes), "{place}");
        }
        assert_ne!(checksum(&bytes[..99]), checksum(&bytes));
    }
}
