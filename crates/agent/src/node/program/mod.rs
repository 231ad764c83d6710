//! The file of a program: complete, executable and for this machine, or the reason why not.

pub(crate) mod elf;
mod state;

pub(crate) use state::{HEAD_BYTES, ProgramState, elf_state, examine_program, this_machine};
