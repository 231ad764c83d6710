//! Delivered and dropped toggles.

use mooring_contract::custom_data::DropReason::{
    KeyIsNoIdentifier, NotCarriedBy, ValueBreaksTheLine,
};
use mooring_contract::custom_data::{CustomDataForm, DropReason, DroppedFeature, Features};

use super::samples::{features, render};

fn list(dropped: &[DroppedFeature]) -> Vec<(&str, DropReason)> {
    dropped.iter().map(|dropped| (dropped.key.as_str(), dropped.reason)).collect()
}

#[test]
fn keys_are_ascii_identifiers() {
    for key in ["A", "z", "_", "_0", "EOF", "ENABLE_PROVISIONING_HOTFIX"] {
        let features = features(&[(key, "true")]);
        assert_eq!(features.valid_keys().collect::<Vec<_>>(), [key]);
        assert!(features.dropped().is_empty());
    }
    for key in ["", "0A", "A-B", "A B", "A=B", " A", "A\n", "Ä", "#A", "A\0"] {
        let features = features(&[(key, "true")]);
        assert_eq!(features.valid_keys().count(), 0, "{key:?}");
        assert_eq!(features.dropped()[0].reason, KeyIsNoIdentifier, "{key:?}");
    }
}

#[test]
fn a_value_is_anything_without_a_line_break() {
    for value in ["", " ", "a=b", "$(reboot)", "EOF", "\t'\"\\`", "\u{2028}\u{85}"] {
        assert!(features(&[("A", value)]).dropped().is_empty(), "{value:?}");
    }
    for value in ["\n", "a\nB=1", "a\r", "\r\n", "x\nEOF\nreboot"] {
        let features = features(&[("A", value)]);
        assert_eq!(list(features.dropped()), [("A", ValueBreaksTheLine)], "{value:?}");
    }
}

#[test]
fn dropped_toggle_is_reported_without_its_value() {
    let features = features(&[("B", "hush-1\n"), ("A-A", "hush-2"), ("C", "hush-3")]);
    for format in CustomDataForm::ALL {
        let data = render(format, b"{}", &features);
        let mut expected = vec![("A-A", KeyIsNoIdentifier), ("B", ValueBreaksTheLine)];
        if format != CustomDataForm::Boothook {
            expected.push(("C", NotCarriedBy(format)));
        }
        assert_eq!(list(data.dropped()), expected);
        for dropped in data.dropped() {
            assert!(!format!("{dropped} {dropped:?}").contains("hush"));
        }
    }
}

#[test]
fn undeliverable_toggles_are_reported_by_key() {
    let data =
        render(CustomDataForm::Ignition, b"{}", &features(&[("Z", "1"), ("M-M", "1"), ("A", "1")]));
    assert_eq!(
        list(data.dropped()),
        [
            ("A", NotCarriedBy(CustomDataForm::Ignition)),
            ("M-M", KeyIsNoIdentifier),
            ("Z", NotCarriedBy(CustomDataForm::Ignition)),
        ]
    );
    assert_eq!(
        data.dropped()[0].to_string(),
        "feature toggle `A` is not delivered: the ignition format carries no toggles"
    );
}

#[test]
fn a_hostile_key_is_escaped_and_cut() {
    let key = format!("\u{1b}[31m\n{}", "k".repeat(10_000));
    let features = features(&[(&key, "true")]);
    let shown = &features.dropped()[0].key;
    assert!(shown.starts_with("\\u{1b}[31m\\nkkk"), "{shown}");
    assert!(shown.ends_with("... (10006 bytes)"), "{shown}");
    assert!(format!("{features:?}").len() < 200);
}

#[test]
fn toggle_lines_cannot_end_their_heredoc() {
    let features = features(&[("EOF", ""), ("A", "EOF"), ("B", "\nEOF\n"), ("EOF\n", "")]);
    let data = render(CustomDataForm::Boothook, b"{}", &features);
    let text = std::str::from_utf8(data.expose_raw()).unwrap();
    let (_, toggles) = text.split_once("enabled_features.sh\n").unwrap();
    let mut lines = toggles.lines();
    assert_eq!(lines.next(), Some("A=EOF"));
    assert_eq!(lines.next(), Some("EOF="));
    assert_eq!(lines.next(), Some("EOF"), "only our own line ends it");
    assert_eq!(text.lines().filter(|line| *line == "EOF").count(), 2, "config and toggles");
}

#[test]
fn toggle_altered_in_transit_is_delivered_and_reported() {
    let features =
        features(&[("OK", "~ \t\u{7f}"), ("ACCENT", "é"), ("NUL", "a\0b"), ("N-O", "é")]);
    assert_eq!(features.altered_keys().collect::<Vec<_>>(), ["ACCENT", "NUL"]);
    assert_eq!(features.valid_keys().collect::<Vec<_>>(), ["ACCENT", "NUL", "OK"]);
}

#[test]
fn empty_toggles_equal_no_toggles() {
    assert_eq!(Features::default(), features(&[]));
}
