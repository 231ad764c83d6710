//! Log phrases that indicate a cause (`data/clues.toml`), matched in any case.

include!(concat!(env!("OUT_DIR"), "/clues.rs"));
