//! Any bytes as a hotfix pointer: round trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_agent::hotfix::normalize_pointer;

fuzz_target!(|input: &[u8]| {
    if let Some(text) = normalize_pointer(input) {
        assert!(text.starts_with('{') && text.contains("\"hotfixes\":{"), "{text}");
        assert_eq!(normalize_pointer(text.as_bytes()), Some(text));
    }
});
