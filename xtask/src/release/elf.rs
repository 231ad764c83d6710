//! Parses the parts of an ELF file that determine where it runs.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElfMachine {
    X86_64,
    Aarch64,
    Other(u16),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Elf {
    pub(crate) machine: ElfMachine,
    /// None for a static binary.
    pub(crate) interpreter: Option<String>,
    /// True for a binary at a fixed address, which needs no relocation at startup.
    pub(crate) is_fixed: bool,
}

/// Parses a 64-bit little-endian file, as used by both architectures.
pub(crate) fn read(file: &[u8]) -> Result<Elf, String> {
    const INTERPRETER: u64 = 3;
    const EXECUTABLE: u64 = 2;
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return Err("not a 64-bit little-endian ELF file".to_owned());
    }
    let number = |at: u64, bytes: u64| -> Option<u64> {
        let (at, end) = (usize::try_from(at).ok()?, usize::try_from(at + bytes).ok()?);
        let bytes = file.get(at..end)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let parts = || {
        let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        let mut interpreter = None;
        for part in (0..count).map(|index| table + index * size) {
            if number(part, 4)? == INTERPRETER {
                let (at, length) = (number(part + 8, 8)?, number(part + 32, 8)?);
                let name =
                    file.get(usize::try_from(at).ok()?..usize::try_from(at + length).ok()?)?;
                interpreter = Some(String::from_utf8_lossy(name).trim_end_matches('\0').to_owned());
            }
        }
        let machine = match u16::try_from(number(18, 2)?).ok()? {
            62 => ElfMachine::X86_64,
            183 => ElfMachine::Aarch64,
            other => ElfMachine::Other(other),
        };
        Some(Elf { machine, interpreter, is_fixed: number(16, 2)? == EXECUTABLE })
    };
    parts().ok_or_else(|| "the ELF file is cut".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elf_parser_reads_this_test_binary() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        if !own.starts_with(b"\x7fELF") {
            return;
        }
        let machine =
            if cfg!(target_arch = "x86_64") { ElfMachine::X86_64 } else { ElfMachine::Aarch64 };
        assert_eq!(read(&own).unwrap().machine, machine);
        assert!(!read(&own).unwrap().is_fixed);
        let mut fixed = own.clone();
        fixed[16] = 2;
        assert!(read(&fixed).unwrap().is_fixed);
        assert_eq!(read(&own[..60]).unwrap_err(), "the ELF file is cut");
        assert!(read(b"#!/bin/sh").is_err());
    }
}
