//! Phrases of logs that show a cause (`data/clues.toml`). Text in any case matches.

include!(concat!(env!("OUT_DIR"), "/clues.rs"));
