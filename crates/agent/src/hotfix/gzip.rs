//! gzip with a limit: a small file cannot become a large one.

use std::io::Read as _;

use flate2::Crc;
use flate2::bufread::MultiGzDecoder;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum GzipError {
    #[error("not gzip, or damaged: {0}")]
    Damaged(String),
    #[error("larger than {0} bytes when decompressed")]
    TooLarge(usize),
}

/// Decompresses all members of a file, into `limit` bytes at most.
pub(super) fn decompress_all(text: &[u8], limit: usize) -> Result<Vec<u8>, GzipError> {
    let mut out = Vec::new();
    // One byte more than allowed distinguishes content of the limit's size from larger content.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    MultiGzDecoder::new(text)
        .take(most)
        .read_to_end(&mut out)
        .map_err(|error| GzipError::Damaged(error.to_string()))?;
    if out.len() > limit { Err(GzipError::TooLarge(limit)) } else { Ok(out) }
}

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write as _;

    use flate2::{Compression, GzBuilder};

    use super::*;

    /// A file with a name, an extra field and a comment.
    pub(crate) fn compress(content: &[u8]) -> Vec<u8> {
        let header = GzBuilder::new().extra([1, 2, 3]).filename("name").comment("comment");
        let mut file = header.write(Vec::new(), Compression::default());
        file.write_all(content).unwrap();
        file.finish().unwrap()
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
            assert!(decompress_all(&changed, 1000).is_err(), "{at}");
        }
        assert!(decompress_all(&[file, b"garbage".to_vec()].concat(), 1000).is_err());
    }
}
