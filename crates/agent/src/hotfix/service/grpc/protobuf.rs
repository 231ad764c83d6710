//! A field of a protobuf message.

/// The last string with this number in a protobuf message, empty if there is none; `None` if it is not a message.
pub(super) fn string_field(mut message: &[u8], wanted: u64) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message)?;
        let skipped = match tag & 7 {
            0 => {
                varint(&mut message)?;
                0
            }
            1 => 8,
            2 => usize::try_from(varint(&mut message)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let value = message.get(..skipped)?;
        message = &message[skipped..];
        if tag == wanted << 3 | 2 {
            found = value.to_vec();
        }
    }
    std::str::from_utf8(&found).is_ok().then_some(found)
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

pub(super) fn append_varint(message: &mut Vec<u8>, value: usize) {
    let mut rest = value;
    while rest >= 0x80 {
        message.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
        rest >>= 7;
    }
    message.push(u8::try_from(rest).unwrap_or_default());
}
