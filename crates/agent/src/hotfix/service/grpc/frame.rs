//! Frames of HTTP/2 (RFC 9113).

use std::io::{self, Read};

/// The longest frame that we accept, which is also the longest that every server accepts.
pub(super) const MAX_FRAME: usize = 16 * 1024;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 0x1;
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

impl Frame {
    /// Reads the next frame; `None` if it is longer than allowed.
    pub(super) fn read(reader: &mut (impl Read + ?Sized)) -> io::Result<Option<Self>> {
        let mut head = [0; 9];
        reader.read_exact(&mut head)?;
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = head;
        let length = usize::from(l0) << 16 | usize::from(l1) << 8 | usize::from(l2);
        if length > MAX_FRAME {
            return Ok(None);
        }
        let mut payload = vec![0; length];
        reader.read_exact(&mut payload)?;
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff;
        Ok(Some(Self { kind, flags, stream, payload }))
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The payload without padding and priority; `None` if these are longer than the frame.
    pub(super) fn content(&self) -> Option<&[u8]> {
        let mut content = self.payload.as_slice();
        let mut padding = 0;
        if self.has(PADDED) {
            let (&length, rest) = content.split_first()?;
            (padding, content) = (usize::from(length), rest);
        }
        if self.kind == HEADERS && self.has(PRIORITY) {
            content = content.get(5..)?;
        }
        content.get(..content.len().checked_sub(padding)?)
    }

    /// The first four bytes as a number.
    pub(super) fn number(&self) -> Option<u32> {
        self.payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
    }
}

/// Appends a frame, whose payload is not longer than [`MAX_FRAME`].
pub(super) fn append(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
    bytes.extend(&length[1..]);
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
}
