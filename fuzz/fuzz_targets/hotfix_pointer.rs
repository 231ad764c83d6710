//! Any bytes as a hotfix pointer: what is read is written and read again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_agent::hotfix::normalize_pointer;

fuzz_target!(|input: &[u8]| {
    if let Some(text) = normalize_pointer(input) {
        assert!(text.starts_with('{') && text.contains("\"hotfixes\":{"), "{text}");
        assert_eq!(normalize_pointer(text.as_bytes()), Some(text));
    }
});
