//! Reading of texts to explain.

use std::io::{self, Read};

use mooring_diagnosis::{DiagnosisStream, Hints, StreamDiagnoses};

use super::unreadable;
use crate::output::failure::Failure;

/// Bounds the time; memory does not grow with the input. The logs of a fleet fit, a disk image does not.
const MAX_BYTES: u64 = 256 << 20;
const CHUNK: usize = 64 << 10;

/// Passes the input to the diagnosis in chunks; also returns true if it is blank.
pub(super) fn read(
    source: &mut dyn Read,
    name: &str,
    hints: Hints,
) -> Result<(StreamDiagnoses, bool), Failure> {
    let mut stream = DiagnosisStream::new(hints);
    let mut chunk = vec![0; CHUNK];
    let (mut total, mut is_blank) = (0_u64, true);
    loop {
        let length = match source.read(&mut chunk) {
            Ok(0) => return Ok((stream.finish(), is_blank)),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(name, &error.to_string())),
        };
        total += length as u64;
        if total > MAX_BYTES {
            let limit = MAX_BYTES >> 20;
            return Err(unreadable(
                name,
                &format!("larger than {limit} MiB; pass the part around the failure"),
            ));
        }
        is_blank &= chunk[..length].trim_ascii().is_empty();
        stream.push(&chunk[..length]);
    }
}
