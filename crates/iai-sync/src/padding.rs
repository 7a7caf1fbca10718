//! Lengths that tell little: content is filled up to one of few sizes.
//!
//! Sizes are a power of two from 256 on, and three steps between each and the next, so that at most
//! a quarter is filling, about a tenth on average.

/// The smallest size: most pins, links and short turns cannot be told apart.
const SMALLEST: usize = 256;
/// Sizes between a power of two and the next.
const STEPS: usize = 4;
/// The length of the content stands before it.
const LENGTH_BYTES: usize = 4;

/// Returns `length (u32, little-endian) ‖ content ‖ zeros`, unless that is longer than `bytes_max`.
pub(crate) fn pad(content: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let length = u32::try_from(content.len()).ok()?;
    let size = bucket(content.len().checked_add(LENGTH_BYTES)?);
    if size > bytes_max {
        return None;
    }
    let mut padded = Vec::with_capacity(size);
    padded.extend_from_slice(&length.to_le_bytes());
    padded.extend_from_slice(content);
    padded.resize(size, 0);
    Some(padded)
}

/// Returns the content, unless this is not what [`pad`] makes.
pub(crate) fn unpad(mut padded: Vec<u8>) -> Option<Vec<u8>> {
    let (length, rest) = padded.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let filling = rest.get(length..)?;
    let is_canonical =
        padded.len() == bucket(length + LENGTH_BYTES) && filling.iter().all(|byte| *byte == 0);
    if !is_canonical {
        return None;
    }
    padded.truncate(LENGTH_BYTES + length);
    padded.drain(..LENGTH_BYTES);
    Some(padded)
}

/// Returns the smallest size that holds so many bytes.
fn bucket(length: usize) -> usize {
    if length <= SMALLEST {
        return SMALLEST;
    }
    // The power of two below or at the length, cut into steps.
    let power = 1 << (usize::BITS - 1 - length.leading_zeros());
    length.next_multiple_of(power / STEPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_few_and_near() {
        let cases = [
            (0, 256),
            (256, 256),
            (257, 320),
            (320, 320),
            (321, 384),
            (512, 512),
            (513, 640),
            (1_000_000, 1_048_576),
            (1_048_577, 1_310_720),
        ];
        for (length, want) in cases {
            assert_eq!(bucket(length), want, "{length}");
        }
        let sizes: std::collections::BTreeSet<usize> = (0..1 << 20).map(bucket).collect();
        assert_eq!(sizes.len(), 49);
        let filling: usize =
            (300..1 << 20).map(|length| (bucket(length) - length) * 100 / length).sum();
        assert!(filling / ((1 << 20) - 300) < 12, "{filling}");
    }

    #[test]
    fn what_was_padded_comes_back_and_nothing_else_does() {
        for length in [0, 1, 251, 252, 253, 5000] {
            let content = vec![7; length];
            let padded = pad(&content, 1 << 20).unwrap();
            assert_eq!(unpad(padded.clone()).unwrap(), content);
            let mut filled = padded.clone();
            *filled.last_mut().unwrap() ^= 1;
            let is_filling = padded.len() > length + LENGTH_BYTES;
            assert_eq!(unpad(filled).is_none(), is_filling);
            assert!(unpad(padded[..padded.len() - 1].to_vec()).is_none());
        }
        assert!(pad(&[0; 300], 319).is_none());
        assert!(pad(&[0; 300], 320).is_some());
        assert!(unpad(u32::MAX.to_le_bytes().to_vec()).is_none());
        assert!(unpad(vec![]).is_none());
    }
}
