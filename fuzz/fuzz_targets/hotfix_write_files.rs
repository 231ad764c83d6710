//! Any bytes as the custom data of a script hotfix: bounded, and rejected with a printable reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_agent::hotfix::write_files::read;

fuzz_target!(|input: &[u8]| match read(input) {
    Ok(files) => {
        assert!(files.len() <= 256);
        let total: usize = files.iter().map(|file| file.content.len()).sum();
        assert!(total <= 16 << 20, "{total} bytes");
        assert!(files.iter().all(|file| !file.path.is_empty() && file.mode <= 0o777));
    }
    Err(why) => assert!(!why.is_empty() && !why.chars().any(char::is_control), "{why:?}"),
});
