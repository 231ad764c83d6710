//! Reading of texts to explain.

use std::io::{self, Read};

use mooring_diagnosis::{DiagnosisStream, Hints, StreamDiagnoses};
use mooring_redact::identifier;

use crate::output::failure::CommandFailure;

/// Bounds the time; memory does not grow with the input. The logs of a fleet fit, a disk image does not.
const MAX_BYTES: u64 = 256 << 20;
const CHUNK: usize = 64 << 10;

/// Passes the input to the diagnosis in chunks; also returns true if it is blank.
pub(super) fn read(
    source: &mut dyn Read,
    name: &str,
    hints: Hints,
) -> Result<(StreamDiagnoses, bool), CommandFailure> {
    read_up_to(MAX_BYTES, source, name, hints)
}

fn read_up_to(
    max: u64,
    source: &mut dyn Read,
    name: &str,
    hints: Hints,
) -> Result<(StreamDiagnoses, bool), CommandFailure> {
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
        if total > max {
            let limit = max >> 20;
            return Err(unreadable(
                name,
                &format!("larger than {limit} MiB; pass the part around the failure"),
            ));
        }
        is_blank &= chunk[..length].trim_ascii().is_empty();
        stream.push(&chunk[..length]);
    }
}

/// Returns the error for input that cannot be read.
pub(super) fn unreadable(name: &str, why: &str) -> CommandFailure {
    let name = identifier(name);
    CommandFailure::io(format!(
        "cannot explain `{name}`: {why}\nhint: `mooring explain --help` lists the supported input"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two bytes at a time, after an interrupted read.
    struct Slow(usize, bool);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let length = self.0.min(2);
            buffer[..length].fill(b' ');
            self.0 -= length;
            Ok(length)
        }
    }

    #[test]
    fn input_is_read_up_to_its_limit() {
        let read = |bytes| read_up_to(3 << 20, &mut Slow(bytes, false), "x", Hints::default());
        let read = |bytes| read(bytes).map(|(_, is_blank)| is_blank);
        assert_eq!(read(0).ok(), Some(true));
        assert_eq!(read(5).ok(), Some(true));
        let few = |bytes| read_up_to(4, &mut Slow(bytes, false), "x", Hints::default());
        assert!(few(4).is_ok());
        assert!(few(5).is_err());
        let long = [b' '; 5].as_slice();
        let limit = |max| read_up_to(max, &mut { long }, "x", Hints::default()).err().unwrap();
        let text = limit(4).text().to_owned();
        assert!(text.starts_with("cannot explain `x`: larger than 0 MiB; pass "), "{text}");
        let mut endless = io::repeat(b' ');
        let failure = read_up_to(1 << 20, &mut endless, "x", Hints::default()).err().unwrap();
        assert!(failure.text().contains("larger than 1 MiB"), "{}", failure.text());
    }

    #[test]
    fn failed_read_is_an_error() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let failure = read(&mut Failing, "x", Hints::default()).err().unwrap();
        assert!(failure.text().starts_with("cannot explain `x`: broken\n"), "{}", failure.text());
    }
}
