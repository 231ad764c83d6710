//! Feeds damaged messages to the decoder:
//! `cargo run --release -p mooring-diagnosis --example soak -- 10000000 [seed]`.
//!
//! Every input is a corpus case, or a mixture of two, that a seeded generator truncates, escapes, quotes, wraps and
//! damages. A panic, a diagnosis without an action, high confidence without evidence, or a line that is too long or not
//! printable ends the run and prints the seed of that input.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "developer tool, which fails by panicking"
)]

#[path = "../tests/corpus/reader.rs"]
mod reader;

use std::env;
use std::path::Path;

use mooring_contract::CseStatus;
use mooring_diagnosis::{Confidence, Hints, MAX_LINE_CHARS, diagnose};

/// `SplitMix64`: each seed gives one input, so that any failure can be reproduced alone.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }
}

fn main() {
    let mut args = env::args().skip(1);
    let wanted: u64 = args.next().map_or(1_000_000, |arg| arg.parse().unwrap());
    let first: u64 = args.next().map_or(1, |arg| arg.parse().unwrap());
    let corpus = corpus();
    println!("{} seeds of the corpus, {wanted} inputs from seed {first}", corpus.len());
    let (mut bytes, mut found) = (0_u64, 0_u64);
    for seed in first..first + wanted {
        let input = input(&corpus, &mut Random(seed));
        bytes += u64::try_from(input.len()).unwrap();
        found += u64::try_from(check(&input, seed)).unwrap();
        if (seed - first + 1).is_multiple_of(1_000_000) {
            println!("{} inputs, {} MB, {found} diagnoses", seed - first + 1, bytes / 1_000_000);
        }
    }
    println!("done: {wanted} inputs, {} MB, {found} diagnoses", bytes / 1_000_000);
}

fn corpus() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    reader::read(&directory).unwrap().into_iter().map(|case| case.text).collect()
}

/// Returns a damaged message.
fn input(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        if input.is_empty() {
            break;
        }
        let at = random.below(input.len());
        match random.below(9) {
            0 => drop(input.drain(..at)),
            1 => input.truncate(at + 1),
            2 => input[at] = random.next().to_le_bytes()[0],
            3 => drop(input.splice(at..at, random.next().to_le_bytes())),
            4 => input = escaped(&input),
            5 => drop(input.splice(at..at, *b"\r\n> ")),
            6 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                input.extend_from_slice(&other[from..]);
            }
            7 => {
                let end = input.len().min(at + random.below(200));
                drop(input.drain(at..end));
            }
            _ => {
                let end = input.len().min(at + random.below(300));
                let copy = input[at..end].to_vec();
                drop(input.splice(at..at, copy));
            }
        }
    }
    input.truncate(1 << 16);
    input
}

fn escaped(input: &[u8]) -> Vec<u8> {
    let mut output = vec![b'"'];
    for byte in input {
        match byte {
            b'"' | b'\\' => output.extend([b'\\', *byte]),
            b'\n' => output.extend(b"\\n"),
            _ => output.push(*byte),
        }
    }
    output.push(b'"');
    output
}

/// Returns the number of diagnoses; panics if one is invalid.
fn check(input: &[u8], seed: u64) -> usize {
    // The strict parser of reports must not panic either.
    let _ = CseStatus::read(input);
    let diagnoses = diagnose(input, Hints::default());
    for diagnosis in &diagnoses {
        let lines = || diagnosis.evidence.iter().map(|evidence| &evidence.line);
        let complete = !diagnosis.reason.is_empty() && !diagnosis.actions.is_empty();
        let sure = diagnosis.confidence < Confidence::High || lines().next().is_some();
        let clean = lines().all(|line| {
            line.chars().count() <= MAX_LINE_CHARS && !line.chars().any(char::is_control)
        });
        assert!(complete && sure && clean, "seed {seed}: {diagnosis:?}");
    }
    diagnoses.len()
}
