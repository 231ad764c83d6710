//! Objects in the binary format of the API server, which it encodes in a fraction of the time of JSON.
//!
//! A reader of messages, without their definitions: callers name fields by number.

/// Value of the header `Accept`; servers without the format respond with JSON.
pub const ACCEPT: &str = "application/vnd.kubernetes.protobuf, application/json";

/// First bytes of every response in the format.
const PREFIX: &[u8] = b"k8s\0";
/// Fields of the envelope and of a status.
const RAW: u64 = 2;
const STATUS_MESSAGE: u64 = 3;

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValue<'a> {
    Number(u64),
    /// A text or a message.
    Bytes(&'a [u8]),
}

impl<'a> FieldValue<'a> {
    /// Returns a text; empty for anything else.
    pub fn text(self) -> &'a str {
        self.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }

    /// Returns the fields of a message; none if it is not one.
    pub fn message(self) -> Option<Vec<(u64, FieldValue<'a>)>> {
        fields(self.bytes()?)
    }
}

/// Returns the fields of a message with their numbers, in its order; none if it is broken.
pub fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, FieldValue<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = number(&mut bytes)?;
        let value = match key & 7 {
            0 => FieldValue::Number(number(&mut bytes)?),
            1 => FieldValue::Bytes(take(&mut bytes, 8)?),
            2 => {
                let length = number(&mut bytes)?;
                FieldValue::Bytes(take(&mut bytes, length)?)
            }
            5 => FieldValue::Bytes(take(&mut bytes, 4)?),
            _ => return None,
        };
        fields.push((key >> 3, value));
    }
    Some(fields)
}

/// Returns the object in a response; none if it has another format.
pub fn object(response: &[u8]) -> Option<&[u8]> {
    let envelope = fields(response.strip_prefix(PREFIX)?)?;
    envelope.into_iter().find(|(field, _)| *field == RAW)?.1.bytes()
}

/// Returns the message of an error, in either format.
pub fn error_message(response: &[u8]) -> Option<String> {
    let Some(status) = object(response) else {
        let status: serde_json::Value = serde_json::from_slice(response).ok()?;
        return status["message"].as_str().map(str::to_owned);
    };
    let message = fields(status)?.into_iter().find(|(field, _)| *field == STATUS_MESSAGE)?.1;
    Some(message.text().to_owned())
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// Reads seven bits per byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_all_kinds_are_read() {
        let message =
            [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8];
        let read = fields(&message).unwrap();
        assert_eq!(read[0], (1, FieldValue::Number(150)));
        assert_eq!((read[1].0, read[1].1.text()), (2, "hi"));
        assert_eq!(read[2], (3, FieldValue::Bytes(&[1, 2, 3, 4])));
        assert_eq!(read[3], (4, FieldValue::Bytes(&[1, 2, 3, 4, 5, 6, 7, 8])));
    }

    #[test]
    fn broken_message_is_not_read_in_part() {
        let message = [0x12, 2, b'h', b'i', 0x12, 2, b'h', b'i'];
        assert_eq!(fields(&message).unwrap().len(), 2);
        for length in [1, 2, 3, 5, 6, 7] {
            assert_eq!(fields(&message[..length]), None, "{length}");
        }
        // A number of more than 64 bits, a length beyond the end, an unknown kind.
        assert_eq!(fields(&[0xff; 11]), None);
        assert_eq!(
            fields(&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
            None
        );
        assert_eq!(fields(&[0x0b]), None);
    }

    #[test]
    fn object_and_error_message_are_in_an_envelope() {
        let status = [b"\x1a\x04" as &[u8], b"no!!"].concat();
        let envelope = [b"k8s\0\x0a\x00\x12\x06" as &[u8], &status].concat();
        assert_eq!(object(&envelope), Some(&status[..]));
        assert_eq!(error_message(&envelope).unwrap(), "no!!");
        assert_eq!(error_message(br#"{"message": "no"}"#).unwrap(), "no");
        assert_eq!((object(b"{}"), error_message(b"<html>")), (None, None));
    }
}
