//! gzip with a limit: a small file cannot become a large one.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum GzipError {
    #[error("not gzip")]
    Header,
    #[error("the compressed data is damaged")]
    Data,
    #[error("the checksum differs")]
    Checksum,
    #[error("larger than {0} bytes when decompressed")]
    TooLarge(usize),
}

/// Decompresses all members of a file, into `limit` bytes at most.
pub(super) fn decompress_all(text: &[u8], limit: usize) -> Result<Vec<u8>, GzipError> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let begin = out.len();
        let body = skip_header(rest).ok_or(GzipError::Header)?;
        let consumed = inflate(body, &mut out, limit)?;
        let (trailer, behind) = body[consumed..].split_first_chunk::<8>().ok_or(GzipError::Data)?;
        let [c0, c1, c2, c3, l0, l1, l2, l3] = *trailer;
        let member = &out[begin..];
        let length = u32::try_from(member.len()).map_err(|_| GzipError::TooLarge(limit))?;
        if u32::from_le_bytes([c0, c1, c2, c3]) != crc32(member)
            || u32::from_le_bytes([l0, l1, l2, l3]) != length
        {
            return Err(GzipError::Checksum);
        }
        if behind.is_empty() {
            return Ok(out);
        }
        rest = behind;
    }
}

/// Returns the rest of a member after its header.
fn skip_header(text: &[u8]) -> Option<&[u8]> {
    const HEADER_CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let (head, mut rest) = text.split_first_chunk::<10>()?;
    let [0x1f, 0x8b, 8, flags, ..] = *head else { return None };
    if flags & EXTRA != 0 {
        let (length, behind) = rest.split_first_chunk::<2>()?;
        rest = behind.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for _ in 0..u8::from(flags & NAME != 0) + u8::from(flags & COMMENT != 0) {
        let end = rest.iter().position(|&byte| byte == 0)?;
        rest = &rest[end + 1..];
    }
    if flags & HEADER_CRC != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

/// Appends one member's content to `out`; returns how many bytes of `body` that took.
fn inflate(body: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<usize, GzipError> {
    let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let begin = out.len();
    let mut state = Box::<DecompressorOxide>::default();
    let (mut read, mut written) = (0, 0);
    loop {
        // One byte more than allowed distinguishes content of the limit's size from larger content.
        let room = (out.len() - begin).saturating_mul(2).max(16 * 1024);
        out.resize((begin + room).min(limit + 1), 0);
        let (status, consumed, produced) =
            decompress(&mut state, &body[read..], &mut out[begin..], written, flags);
        read += consumed;
        written += produced;
        if begin + written > limit {
            return Err(GzipError::TooLarge(limit));
        }
        match status {
            TINFLStatus::Done => {
                out.truncate(begin + written);
                return Ok(read);
            }
            TINFLStatus::HasMoreOutput => {}
            _ => return Err(GzipError::Data),
        }
    }
}

const CHECKSUMS: [u32; 256] = {
    let mut checksums = [0; 256];
    let mut byte: u32 = 0;
    while byte < 256 {
        let (mut sum, mut bit) = (byte, 0);
        while bit < 8 {
            sum = sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        checksums[byte as usize] = sum;
        byte += 1;
    }
    checksums
};

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        let low = sum.to_le_bytes()[0];
        sum >> 8 ^ CHECKSUMS[usize::from(low ^ byte)]
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file with a name, an extra field, a comment and a header checksum.
    pub(crate) fn compress(content: &[u8]) -> Vec<u8> {
        let mut file = vec![0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3];
        file.extend([3, 0, 1, 2, 3]);
        file.extend(b"name\0comment\0\0\0");
        file.extend(miniz_oxide::deflate::compress_to_vec(content, 6));
        file.extend(crc32(content).to_le_bytes());
        file.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
        file
    }

    #[test]
    fn content_comes_back_whole_up_to_the_limit() {
        let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let file = compress(&content);
        assert_eq!(decompress_all(&file, content.len()).unwrap(), content);
        let too_large = Err(GzipError::TooLarge(content.len() - 1));
        assert_eq!(decompress_all(&file, content.len() - 1), too_large);
        let twice = [compress(b"a"), compress(b""), compress(b"b")].concat();
        assert_eq!(decompress_all(&twice, 2).unwrap(), b"ab");
        assert_eq!(decompress_all(&twice, 1), Err(GzipError::TooLarge(1)));
        // As the shell's `gzip` writes it.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn damaged_files_are_refused_at_every_byte() {
        let file = compress(b"some content that is long enough to be compressed, compressed");
        for cut in 0..file.len() {
            assert!(decompress_all(&file[..cut], 1000).is_err(), "{cut}");
        }
        // Checksum and length.
        for at in file.len() - 8..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 1;
            assert_eq!(decompress_all(&changed, 1000), Err(GzipError::Checksum), "{at}");
        }
        let followed = [file, b"garbage".to_vec()].concat();
        assert_eq!(decompress_all(&followed, 1000), Err(GzipError::Header));
    }
}
