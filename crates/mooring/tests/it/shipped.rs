//! What the shipped binary contains.

/// Returns true if a text is in the bytes.
fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn binary_has_no_simulator_no_certificate_authority_and_no_scenario() {
    let binary = std::fs::read(env!("CARGO_BIN_EXE_mooring")).unwrap();
    // Names of symbols and panics: what is linked is found.
    assert!(has(&binary, "mooring_controller") && has(&binary, "crates/repair/src"));
    for absent in
        ["mooring_simulator", "mooring_demo", "lab/simulator/src", "rcgen", "first-five-minutes"]
    {
        assert!(!has(&binary, absent), "{absent}");
    }
}
