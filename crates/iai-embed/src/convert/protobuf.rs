//! As much of protobuf as reading a message takes.

use std::ops::Range;

/// A field of a message: a number, or where its bytes are.
pub(super) enum Content {
    Number(u64),
    Bytes(Range<usize>),
}

/// Returns a field that is text.
pub(super) fn text(bytes: &[u8], content: &Content) -> Option<String> {
    String::from_utf8(bytes.get(content.bytes()?)?.to_vec()).ok()
}

/// Returns the fields of one message; `None` when it is cut short.
pub(super) fn fields(bytes: &[u8], mut range: Range<usize>) -> Option<Vec<(u64, Content)>> {
    let mut fields = Vec::new();
    while !range.is_empty() {
        let key = varint(bytes, &mut range)?;
        let content = match key & 7 {
            0 => Content::Number(varint(bytes, &mut range)?),
            1 => Content::Bytes(taken(&mut range, 8)?),
            2 => {
                let length = varint(bytes, &mut range)?;
                Content::Bytes(taken(&mut range, usize::try_from(length).ok()?)?)
            }
            5 => Content::Bytes(taken(&mut range, 4)?),
            _ => return None,
        };
        fields.push((key >> 3, content));
    }
    Some(fields)
}

fn taken(range: &mut Range<usize>, length: usize) -> Option<Range<usize>> {
    let end = range.start.checked_add(length).filter(|end| *end <= range.end)?;
    Some(std::mem::replace(&mut range.start, end)..end)
}

/// Takes a number of seven bits a byte, the lowest first.
pub(super) fn varint(bytes: &[u8], range: &mut Range<usize>) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let at = taken(range, 1)?;
        let byte = *bytes.get(at.start)?;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

impl Content {
    pub(super) fn bytes(&self) -> Option<Range<usize>> {
        match self {
            Self::Bytes(range) => Some(range.clone()),
            Self::Number(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_numbers_are_refused() {
        assert_eq!(varint(&[0xff; 20], &mut (0..20)), None);
        assert_eq!(varint(&[0x80, 0x01], &mut (0..2)), Some(128));
    }
}
