//! Length of a complete ELF file.

/// As long as the longest header.
pub(crate) const HEADER_BYTES: u64 = 64;

/// A table of a file that is longer than this is none: real programs have some ten entries.
const MAX_TABLE_BYTES: u64 = 1 << 20;

/// A section without content in the file.
const NO_BITS: u64 = 8;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Elf {
    is_64_bit: bool,
    is_big_endian: bool,
    machine: u64,
    programs: Table,
    sections: Table,
}

/// Offset of a table, and size of its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Table {
    at: u64,
    entry: u64,
    count: u64,
}

impl Elf {
    /// Reads a header; `None` if the file is not an ELF file or its header is truncated.
    pub(crate) fn read(head: &[u8]) -> Option<Self> {
        if !head.starts_with(b"\x7fELF") {
            return None;
        }
        let (is_64_bit, is_big_endian) = (*head.get(4)? == 2, *head.get(5)? == 2);
        let number = |at, length| number(head, at, length, is_big_endian);
        let table = |at, length, entry, count| {
            Some(Table {
                at: number(at, length)?,
                entry: number(entry, 2)?,
                count: number(count, 2)?,
            })
        };
        let (programs, sections) = if is_64_bit {
            (table(32, 8, 54, 56)?, table(40, 8, 58, 60)?)
        } else {
            (table(28, 4, 42, 44)?, table(32, 4, 46, 48)?)
        };
        Some(Self { is_64_bit, is_big_endian, machine: number(18, 2)?, programs, sections })
    }

    pub(crate) fn architecture(&self) -> &'static str {
        match self.machine {
            0x03 => "x86",
            0x28 => "arm",
            0x3e => "x86-64",
            0xb7 => "arm64",
            0xf3 => "riscv",
            _ => "another machine",
        }
    }

    /// Returns the minimum length of the file according to its tables; `read` returns fewer bytes at the end.
    pub(crate) fn needed_length(&self, mut read: impl FnMut(u64, u64) -> Vec<u8>) -> u64 {
        // Per entry: where its bytes begin, how many they are, and for sections the kind.
        let (programs, sections, width) =
            if self.is_64_bit { ((8, 32), (24, 32), 8) } else { ((4, 16), (16, 20), 4) };
        let mut needed = HEADER_BYTES.min(if self.is_64_bit { 64 } else { 52 });
        for (table, (offset, size), kind) in
            [(self.programs, programs, None), (self.sections, sections, Some(4))]
        {
            let length = table.entry.saturating_mul(table.count);
            if table.at == 0 || length == 0 {
                continue;
            }
            needed = needed.max(table.at.saturating_add(length));
            let bytes = read(table.at, length.min(MAX_TABLE_BYTES));
            let entry = usize::try_from(table.entry).unwrap_or(usize::MAX);
            for entry in bytes.chunks_exact(entry) {
                let field = |at, length| number(entry, at, length, self.is_big_endian);
                if kind.is_some_and(|kind| field(kind, 4) == Some(NO_BITS)) {
                    continue;
                }
                if let (Some(at), Some(size)) = (field(offset, width), field(size, width)) {
                    needed = needed.max(at.saturating_add(size));
                }
            }
        }
        needed
    }
}

fn number(bytes: &[u8], at: usize, length: usize, is_big_endian: bool) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?.iter();
    let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    Some(if is_big_endian { bytes.fold(0, add) } else { bytes.rev().fold(0, add) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(program: &[u8]) -> Option<u64> {
        let read = |at: u64, length: u64| {
            let at = usize::try_from(at).unwrap().min(program.len());
            let end = at.saturating_add(usize::try_from(length).unwrap()).min(program.len());
            program[at..end].to_vec()
        };
        Elf::read(program).map(|elf| elf.needed_length(read))
    }

    #[test]
    fn real_binary_has_the_length_of_its_tables() {
        let program = std::fs::read("/proc/self/exe").unwrap();
        let length = u64::try_from(program.len()).unwrap();
        let whole = needed(&program).unwrap();
        assert!(whole <= length && whole > length / 2, "{whole} of {length}");
        // Any truncated file is too short.
        for part in [64, 4096, program.len() / 2, program.len() * 9 / 10] {
            let cut = &program[..part];
            assert!(needed(cut).unwrap() > u64::try_from(part).unwrap(), "{part}");
        }
        assert_eq!(needed(&program[..40]), None, "half a header");
    }

    #[test]
    fn machines_are_named_in_both_byte_orders() {
        for (machine, name) in [
            (0x03, "x86"),
            (0x28, "arm"),
            (0x3e, "x86-64"),
            (0xb7, "arm64"),
            (0xf3, "riscv"),
            (0x15, "another machine"),
        ] {
            for (order, at) in [(1, 18), (2, 19)] {
                let mut head = [0x7f, b'E', b'L', b'F', 2, order].to_vec();
                head.resize(64, 0);
                head[at] = machine;
                assert_eq!(Elf::read(&head).unwrap().architecture(), name);
            }
        }
    }

    #[test]
    fn hostile_headers_are_read_without_harm() {
        for head in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &[0xff; 64]] {
            assert_eq!(Elf::read(head), None);
        }
        let mut head = b"\x7fELF\x02\x01\x01".to_vec();
        head.resize(64, 0xff);
        assert_eq!(needed(&head), Some(u64::MAX));
        let mut entries_of_nothing = head.clone();
        entries_of_nothing[54..56].fill(0);
        entries_of_nothing[58..60].fill(0);
        assert_eq!(needed(&entries_of_nothing), Some(64));
    }
}
