//! HPACK (RFC 7541) for one response: no dynamic table, which our SETTINGS forbid, and Huffman as a canonical code.

use super::protobuf::append_varint;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HpackError;

pub type Header = (Vec<u8>, Vec<u8>);

/// The number of bits in the code of each byte (RFC 7541, appendix B). Codes of the same length are in the order of the
/// bytes, so the lengths are the whole code.
#[rustfmt::skip]
const CODE_BITS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];
/// The length of the longest codes, the end-of-string symbol among them.
const MAX_BITS: u8 = 30;

/// The number of entries in the static table.
const STATIC_ENTRIES: usize = 61;

pub fn decode(mut block: &[u8]) -> Result<Vec<Header>, HpackError> {
    let mut headers = Vec::new();
    while let Some(&first) = block.first() {
        if first & 0x80 != 0 {
            let (name, value) = static_entry(integer(&mut block, 7)?)?;
            headers.push((name.into(), value.into()));
        } else if first & 0xe0 == 0x20 {
            // A table of no size is the only one that was offered.
            if integer(&mut block, 5)? != 0 {
                return Err(HpackError);
            }
        } else {
            let bits = if first & 0x40 != 0 { 6 } else { 4 };
            let name = match integer(&mut block, bits)? {
                0 => string(&mut block)?,
                index => static_entry(index)?.0.into(),
            };
            headers.push((name, string(&mut block)?));
        }
    }
    Ok(headers)
}

/// Appends a header that no table keeps. `is_secret` forbids every hop to do so.
pub(super) fn encode(block: &mut Vec<u8>, name: &str, value: &str, is_secret: bool) {
    block.push(if is_secret { 0x10 } else { 0 });
    for text in [name, value] {
        append_length(block, text.len());
        block.extend(text.as_bytes());
    }
}

/// Appends an integer whose first 7 bits are in the first byte, as that of a string without Huffman codes.
fn append_length(block: &mut Vec<u8>, length: usize) {
    const PREFIX: u8 = 0x7f;
    match u8::try_from(length) {
        Ok(small) if small < PREFIX => block.push(small),
        _ => {
            block.push(PREFIX);
            append_varint(block, length - usize::from(PREFIX));
        }
    }
}

/// The entries of the static table that a response of gRPC can use; the others have no name here.
fn static_entry(index: usize) -> Result<(&'static str, &'static str), HpackError> {
    Ok(match index {
        8 => (":status", "200"),
        9 => (":status", "204"),
        10 => (":status", "206"),
        11 => (":status", "304"),
        12 => (":status", "400"),
        13 => (":status", "404"),
        14 => (":status", "500"),
        31 => ("content-type", ""),
        1..=STATIC_ENTRIES => ("", ""),
        _ => return Err(HpackError),
    })
}

/// An integer whose first `bits` bits are in the first byte.
fn integer(block: &mut &[u8], bits: u32) -> Result<usize, HpackError> {
    let mut next = || {
        let (&byte, rest) = block.split_first().ok_or(HpackError)?;
        *block = rest;
        Ok(byte)
    };
    let prefix = (1 << bits) - 1;
    let mut value = usize::from(next()? & prefix);
    if value < usize::from(prefix) {
        return Ok(value);
    }
    // Four bytes are more than any header block that is accepted.
    for shift in [0, 7, 14, 21] {
        let byte = next()?;
        value += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(HpackError)
}

fn string(block: &mut &[u8]) -> Result<Vec<u8>, HpackError> {
    let is_huffman = block.first().ok_or(HpackError)? & 0x80 != 0;
    let length = integer(block, 7)?;
    let text = block.get(..length).ok_or(HpackError)?;
    *block = &block[length..];
    if is_huffman { huffman(text) } else { Ok(text.to_vec()) }
}

/// Decodes a canonical code: of each length, the first code and how many there are.
fn huffman(text: &[u8]) -> Result<Vec<u8>, HpackError> {
    let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
    bytes.sort_by_key(|byte| CODE_BITS[usize::from(*byte)]);
    let mut counts = [0_u32; MAX_BITS as usize + 1];
    for bits in CODE_BITS {
        counts[usize::from(bits)] += 1;
    }
    let mut decoded = Vec::new();
    let (mut code, mut first, mut index, mut bits) = (0_u32, 0_u32, 0_u32, 0_usize);
    let (mut is_all_ones, mut pending) = (true, 0);
    for bit in text.iter().flat_map(|byte| (0..8).rev().map(move |at| u32::from(byte >> at & 1))) {
        code = code << 1 | bit;
        first <<= 1;
        bits += 1;
        pending += 1;
        is_all_ones &= bit == 1;
        let count = *counts.get(bits).ok_or(HpackError)?;
        if code < first + count {
            let at = usize::try_from(index + code - first).map_err(|_| HpackError)?;
            decoded.push(*bytes.get(at).ok_or(HpackError)?);
            (code, first, index, bits) = (0, 0, 0, 0);
            (is_all_ones, pending) = (true, 0);
        } else {
            index += count;
            first += count;
        }
    }
    // What is left over is the beginning of the end-of-string symbol, less than a byte of it.
    if pending < 8 && is_all_ones { Ok(decoded) } else { Err(HpackError) }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn decoded(block: &[u8]) -> Result<Vec<(String, String)>, HpackError> {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ok(decode(block)?.into_iter().map(|(name, value)| (text(name), text(value))).collect())
    }

    #[expect(clippy::unnecessary_wraps, reason = "compared with what is decoded")]
    fn pairs(pairs: &[(&str, &str)]) -> Result<Vec<(String, String)>, HpackError> {
        Ok(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// Codes as RFC 7541 lists them, to encode with.
    pub(crate) fn huffman_encoded(text: &[u8]) -> Vec<u8> {
        let mut order: Vec<u8> = (0..=u8::MAX).collect();
        order.sort_by_key(|byte| CODE_BITS[usize::from(*byte)]);
        let mut codes = [0_u64; 256];
        let (mut code, mut bits) = (0_u64, 0);
        for byte in order {
            let own = CODE_BITS[usize::from(byte)];
            code <<= own - bits;
            bits = own;
            codes[usize::from(byte)] = code;
            code += 1;
        }
        let mut out = String::new();
        for byte in text {
            let bits = usize::from(CODE_BITS[usize::from(*byte)]);
            write!(out, "{:0bits$b}", codes[usize::from(*byte)]).unwrap();
        }
        while !out.len().is_multiple_of(8) {
            out.push('1');
        }
        out.as_bytes()
            .chunks(8)
            .map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap())
            .collect()
    }

    #[test]
    fn examples_of_the_standard_are_understood() {
        // RFC 7541, C.6.1, with Huffman codes; no table is kept.
        let block = [
            0x48, 0x82, 0x64, 0x02, 0x58, 0x85, 0xae, 0xc3, 0x77, 0x1a, 0x4b, 0x61, 0x96, 0xd0,
            0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04, 0x0b, 0x81,
            0x66, 0xe0, 0x82, 0xa6, 0x2d, 0x1b, 0xff, 0x6e, 0x91, 0x9d, 0x29, 0xad, 0x17, 0x18,
            0x63, 0xc7, 0x8f, 0x0b, 0x97, 0xc8, 0xe9, 0xae, 0x82, 0xae, 0x43, 0xd3,
        ];
        let expected = [
            (":status", "302"),
            ("", "private"),
            ("", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("", "https://www.example.com"),
        ];
        assert_eq!(decoded(&block), pairs(&expected));
        // RFC 7541, C.1: 10 and 1337 in five bits.
        assert_eq!(integer(&mut &[0b1110_1010][..], 5), Ok(10));
        assert_eq!(integer(&mut &[0xff, 0x9a, 0x0a][..], 5), Ok(1337));
        assert_eq!(
            decoded(&[0x88, 0x20, 0x5f, 0x01, b'x']),
            pairs(&[(":status", "200"), ("content-type", "x")])
        );
        let statuses = ["200", "204", "206", "304", "400", "404", "500"];
        assert_eq!(
            decoded(&[0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e]),
            pairs(&statuses.map(|status| (":status", status)))
        );
        // The last entry of the table.
        assert_eq!(decoded(&[0xbd]), pairs(&[("", "")]));
    }

    #[test]
    fn huffman_code_covers_every_byte() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(huffman(&huffman_encoded(&all)), Ok(all));
        assert_eq!(huffman(b""), Ok(Vec::new()));
        // RFC 7541, C.4.1.
        let example = [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
        assert_eq!(huffman(&example).unwrap(), b"www.example.com");
        assert_eq!(huffman_encoded(b"www.example.com"), example);
    }

    #[test]
    fn encoded_headers_are_read_back() {
        let long = "v".repeat(20_000);
        let mut block = Vec::new();
        for (name, value) in [("a", ""), ("authorization", &long), ("te", &"x".repeat(127))] {
            encode(&mut block, name, value, name == "authorization");
        }
        assert_eq!(block[0], 0);
        assert_eq!(block[4], 0x10, "never indexed");
        assert_eq!(
            decoded(&block),
            pairs(&[("a", ""), ("authorization", &long), ("te", &"x".repeat(127))])
        );
    }

    #[test]
    fn malformed_blocks_are_refused() {
        for bad in [
            &[0x80][..],                                       // index 0
            &[0xbe],                                           // beyond the static table
            &[0x3f, 0xe1, 0x1f],                               // a table of 4096 bytes
            &[0x21],                                           // a table of 1 byte
            &[0x00],                                           // no name
            &[0x00, 0x05, b'a'],                               // half a name
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff],             // an endless integer
            &[0x00, 0x01, b'a', 0x81, 0x00],                   // padding of zeros
            &[0x00, 0x01, b'a', 0x82, 0xff, 0xff],             // a whole byte of padding
            &[0x00, 0x01, b'a', 0x84, 0xff, 0xff, 0xff, 0xff], // the end of the string
        ] {
            assert_eq!(decode(bad), Err(HpackError), "{bad:x?}");
        }
    }
}
