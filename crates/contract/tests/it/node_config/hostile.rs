//! Any bytes end in a config or an error: no panic, no stack overflow, no quadratic time.

use mooring_contract::node_config::{MAX_BYTES, parse};
use proptest::prelude::*;

use super::golden::CONFIGS;

fn filled(head: &str, repeated: &str, tail: &str) -> String {
    let count = (MAX_BYTES - head.len() - tail.len()) / repeated.len();
    format!("{head}{}{tail}", repeated.repeat(count))
}

#[test]
fn warnings_are_kept_up_to_a_limit_and_counted_beyond() {
    let document = format!("{{{}\"version\":\"v1\"}}", "\"x\":1,".repeat(1000));
    let parsed = parse(document.as_bytes()).unwrap();
    assert_eq!((parsed.warnings.len(), parsed.warnings_dropped), (100, 900));
}

#[test]
fn truncated_configs_are_errors() {
    let (_, config) = &CONFIGS[0];
    for end in 0..config.trim_end().len() {
        assert!(parse(&config.as_bytes()[..end]).is_err(), "cut at {end}");
    }
}

proptest! {
    #[test]
    fn any_bytes_end_in_a_config_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn any_text_of_json_marks_ends_in_a_config_or_an_error(
        text in "[\\[\\]{}\",:0-9eE+.tfn\\\\u -]{0,60}",
    ) {
        let _ = parse(format!("{{\"vm_size\":{text}").as_bytes());
    }

    #[test]
    fn a_damaged_config_ends_in_a_config_or_an_error(
        which in 0_usize..119, place in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = CONFIGS[which].1.clone().into_bytes();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        let _ = parse(&bytes);
    }
}

mod slow {
    use super::*;

    /// A parser that read the document again, or copied it, for each of these would take hours; a
    /// measurement is not needed.
    #[test]
    fn the_largest_documents_of_every_shape_end() {
        let keys = (0..300_000).map(|n| format!("\"{n}\":\"\"")).collect::<Vec<_>>().join(",");
        for (document, valid) in [
            (filled("{", "\"x\":1,", "\"y\":1}"), true),
            (filled("{\n", "\"x\":{},\n", "\"y\":1}"), true),
            (filled("{\"vm_size\":\"", "\\u0041", "\"}"), true),
            (filled("{\"vm_size\":\"", "é", "\"}"), true),
            (filled("{\"custom_ca_certs\":[", "\"\",", "\"\"]}"), true),
            (format!("{{\"enabled_features\":{{{keys}}}}}"), true),
            (filled("{\"x\":", "[", ""), false),
            (filled("{\"x\":", "{\"a\":", ""), false),
            (filled("{\"x\":\"", "\\\"", ""), false),
            (filled("{\"cse_timeout\":", "9", "}"), false),
            (filled("{\"cse_timeout\":1e", "9", "}"), false),
            (filled("{\"cse_timeout\":0.", "0", "}"), true),
            (filled("{\"cse_timeout\":\"", " ", "5\"}"), false),
            (filled("", "{\"cluster_config\":", ""), false),
            (filled("", "\n", ""), false),
        ] {
            assert!(document.len() <= MAX_BYTES);
            assert_eq!(parse(document.as_bytes()).is_ok(), valid, "{}", &document[..40]);
        }
    }
}
