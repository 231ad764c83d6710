//! Any bytes as a node config: round trip, and its environment shows no secret.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_agent::environment::{self, ContainerdLayout, GpuImages};
use mooring_contract::node_config::{parse, validate};

fuzz_target!(|input: &[u8]| {
    let parsed = match parse(input) {
        Ok(parsed) => parsed,
        Err(error) => {
            let text = error.to_string();
            assert!(text.len() < 1024 && !text.chars().any(char::is_control), "{text:?}");
            return;
        }
    };
    let config = parsed.config;
    let written = config.to_json_with_secrets();
    let again = parse(written.as_bytes()).expect("our own writing");
    assert_eq!(again.config, config);
    assert!(again.warnings.is_empty() && again.warnings_dropped == 0, "{:?}", again.warnings);
    if validate(&config).is_ok() {
        assert!(config.has_supported_version());
    }
    let gpu = GpuImages::from_components(b"{}").expect("no images");
    if let Ok(built) = environment::build(&config, &gpu, ContainerdLayout::detect(None), None) {
        let printed = format!("{:?} {config:?}", built.environment);
        for secret in config.expose_secrets().into_iter().filter(|secret| secret.len() > 64) {
            assert!(!printed.contains(secret), "a secret is printed");
        }
    }
});
