//! `targets`: builds and starts the binaries for every supported target.
//!
//! Not part of the default configuration: `cargo build` is for the host. Compilers and linkers for other targets come
//! from Python packages, in a separate environment.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use crate::python;
use crate::step::{Failed, command, need, output, print, root, run};

const REQUIREMENTS: &str = "packaging/cross-requirements.txt";

/// Cannot be linked without Apple's libraries, but must build on a Mac.
const CHECKED: &str = "aarch64-apple-darwin";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BuildTarget {
    pub(crate) triple: &'static str,
    /// Name in containers and packages.
    pub(crate) architecture: &'static str,
    machine: ElfMachine,
    emulator: &'static str,
}

/// Static binaries for both node architectures of AKS.
pub(crate) const TARGETS: [BuildTarget; 2] = [
    BuildTarget {
        triple: "x86_64-unknown-linux-musl",
        architecture: "amd64",
        machine: ElfMachine::X86_64,
        emulator: "qemu-x86_64-static",
    },
    BuildTarget {
        triple: "aarch64-unknown-linux-musl",
        architecture: "arm64",
        machine: ElfMachine::Aarch64,
        emulator: "qemu-aarch64-static",
    },
];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(super) package: &'static str,
    pub(super) profile: &'static str,
    /// Compiler flags that a profile cannot set.
    flags: &'static str,
    /// Arguments of a test run, and a word of its output.
    starts: (&'static [&'static str], &'static str),
}

pub(crate) const MOORING: Program = Program {
    name: "mooring",
    package: "mooring",
    profile: "release",
    flags: "",
    starts: (&["explain", "211"], "ERR_ORAS_PULL_NETWORK_TIMEOUT"),
};

pub(crate) const AGENT: Program = Program {
    name: "aks-node-controller",
    package: "mooring-agent",
    profile: "agent",
    // A fixed address, like the upstream Go agent: otherwise every start relocates some 7,000 pointers to constants,
    // which is most of its instructions and of its anonymous memory.
    flags: "-C relocation-model=static",
    starts: (&["help"], "provision-wait"),
};

impl Program {
    /// The variable that passes the flags to Cargo, if any.
    fn flags_for(self, triple: &str) -> Option<(String, &'static str)> {
        let triple = triple.to_ascii_uppercase().replace('-', "_");
        (!self.flags.is_empty()).then(|| (format!("CARGO_TARGET_{triple}_RUSTFLAGS"), self.flags))
    }
}

/// The triple of static binaries for this host.
pub(crate) const STATIC_HERE: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-musl"
} else {
    "x86_64-unknown-linux-musl"
};

/// Builds the shipped agent for this host with its own tools; returns the path.
pub(crate) fn build_agent_here(version: Option<&str>) -> Result<PathBuf, Failed> {
    let triple = STATIC_HERE;
    let Program { name, package, profile, .. } = AGENT;
    let mut cargo = command("cargo");
    cargo.args(["build", "--locked", "--quiet", "--target", triple]);
    cargo.args(["--package", package, "--profile", profile]).envs(AGENT.flags_for(triple));
    // Its TLS has parts in C, which the host compiler can compile.
    cargo.env(format!("CC_{}", triple.replace('-', "_")), "cc");
    cargo.envs(version.map(|version| ("AKS_NODE_CONTROLLER_VERSION", version)));
    output(&mut cargo)
        .map_err(|Failed(why)| Failed(format!("{why}\nhint: rustup target add {triple}")))?;
    Ok(root().canonicalize()?.join("target").join(triple).join(profile).join(name))
}

/// Builds and starts everything, then type-checks for Macs.
pub(crate) fn targets() -> Result<(), Failed> {
    let tools = Tools::install(TARGETS.iter().map(|target| target.triple).chain([CHECKED]))?;
    for program in [AGENT, MOORING] {
        for target in TARGETS {
            let binary = tools.build(program, target)?;
            let size = fs::metadata(&binary)?.len();
            let started = start(program, target, &binary)?;
            print(&format!(
                "{:<20} {:<28} {:>6}.{:02} MB, static, {started}\n",
                program.name,
                target.triple,
                size / 1_000_000,
                size % 1_000_000 / 10_000
            ));
        }
    }
    tools.cargo(&["check", "--locked", "--package", "mooring", "--target", CHECKED], None)?;
    print(&format!("{:<20} {CHECKED:<28} type-checks\n", "mooring"));
    Ok(())
}

/// Compilers and linkers for other targets.
pub(crate) struct Tools {
    environment: PathBuf,
    folder: PathBuf,
}

impl Tools {
    /// Installs the tools, and the standard library for these targets.
    pub(crate) fn install<'a>(triples: impl Iterator<Item = &'a str>) -> Result<Self, Failed> {
        let triples: Vec<&str> = triples.collect();
        run("rustup", &[&["target", "add"][..], &triples].concat()).map_err(|Failed(why)| {
            let names = triples.join(", ");
            Failed(format!("{why}\nhint: the standard library is needed for {names}"))
        })?;
        let environment = python::python_environment("cross", Path::new(REQUIREMENTS))?;
        Ok(Self { environment, folder: root().canonicalize()?.join("target/targets") })
    }

    pub(crate) fn build(&self, program: Program, target: BuildTarget) -> Result<PathBuf, Failed> {
        let Program { name, package, profile, .. } = program;
        let what = ["--package", package, "--profile", profile, "--target", target.triple];
        let flags = program.flags_for(target.triple);
        self.cargo(&[&["zigbuild", "--locked"][..], &what].concat(), flags)?;
        Ok(self.folder.join(target.triple).join(profile).join(name))
    }

    /// Runs Cargo with these compilers, in a separate target directory: other settings would rebuild everything in the
    /// default one.
    fn cargo(&self, words: &[&str], flags: Option<(String, &str)>) -> Result<(), Failed> {
        let bin = self.environment.join("bin");
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([bin.clone()].into_iter().chain(env::split_paths(&path)))
            .map_err(|error| Failed(error.to_string()))?;
        let status = Command::new(bin.join("cargo-zigbuild"))
            .args(words)
            .env("PATH", path)
            .env("CARGO_TARGET_DIR", &self.folder)
            .envs(flags)
            .current_dir(root())
            .status()?;
        if status.success() {
            return Ok(());
        }
        Err(Failed(format!("`cargo-zigbuild {}` ended with {status}", words.join(" "))))
    }
}

/// Runs a binary natively or emulated, and returns the result.
fn start(program: Program, target: BuildTarget, binary: &Path) -> Result<String, Failed> {
    let read = read(&fs::read(binary)?).map_err(Failed)?;
    if read.machine != target.machine || read.interpreter.is_some() {
        return Err(Failed(format!("{}: not a static {target:?}: {read:?}", binary.display())));
    }
    if read.is_fixed == program.flags.is_empty() {
        let name = binary.display();
        return Err(Failed(format!("{name}: built without `{}`: {read:?}", program.flags)));
    }
    let at_home = target.triple.starts_with(env::consts::ARCH);
    if !at_home {
        need(target.emulator, "qemu-user-static")?;
    }
    let (words, expected) = program.starts;
    let mut times = Vec::new();
    // An emulator translates each time; one run shows that it starts.
    for _ in 0..if at_home { 21 } else { 1 } {
        let mut command = if at_home {
            Command::new(binary)
        } else {
            let mut command = Command::new(target.emulator);
            command.arg(binary);
            command
        };
        #[expect(clippy::disallowed_methods, reason = "a benchmark sees the real clock")]
        let begun = Instant::now();
        let output = command.args(words).env_clear().output()?;
        times.push(begun.elapsed());
        if !output.status.success() || !String::from_utf8_lossy(&output.stdout).contains(expected) {
            let name = binary.display();
            return Err(Failed(format!("{name} {} printed {output:?}", words.join(" "))));
        }
    }
    times.sort();
    let how = if at_home { "median of 21" } else { "emulated" };
    let milliseconds = times[times.len() / 2].as_secs_f64() * 1000.0;
    Ok(format!("`{}` in {milliseconds:.1} ms ({how})", words.join(" ")))
}

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
mod elf_tests {
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
