//! Any config and any toggles survive a round trip.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mooring_contract::custom_data::{Boundary, CustomData, CustomDataForm, Features};
use proptest::prelude::*;

use super::multipart_reader::read;

/// The text between `before` and the next `after`.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap();
    rest.split_once(after).unwrap().0
}

/// The config in a document, found the way its reader on the node finds it.
fn config_of(data: &CustomData) -> Vec<u8> {
    let text = String::from_utf8(data.expose_raw().to_vec()).unwrap();
    let encoded = match data.format() {
        CustomDataForm::Boothook => {
            let script = read(text.as_bytes()).parts.swap_remove(0).body;
            between(&script, "aks-node-controller-config.json\n", "\nEOF\n").to_owned()
        }
        CustomDataForm::CloudConfig => text.rsplit_once("\n   ").unwrap().1.to_owned(),
        CustomDataForm::Ignition => between(&text, "data:;base64,", "\"").to_owned(),
    };
    STANDARD.decode(encoded).unwrap()
}

/// The toggles in a boothook, read as the launcher does: line by line, split at the first `=`.
fn toggles_of(data: &CustomData) -> BTreeMap<String, String> {
    let script = read(data.expose_raw()).parts.swap_remove(0).body;
    let Some((_, rest)) =
        script.split_once("cat <<'EOF' >/opt/azure/containers/enabled_features.sh\n")
    else {
        return BTreeMap::new();
    };
    let (lines, _) = rest.split_once("EOF\nchmod 0600 ").unwrap();
    let toggle = |line: &str| {
        let (key, value) = line.split_once('=').unwrap();
        (key.to_owned(), value.to_owned())
    };
    lines.split_terminator('\n').map(toggle).collect()
}

proptest! {
    #[test]
    fn any_config_survives_every_format(
        config in proptest::collection::vec(any::<u8>(), 0..4_000),
        random in any::<[u8; 30]>(),
    ) {
        for format in CustomDataForm::ALL {
            let boundary = Boundary::from_random(random);
            let data = CustomData::render(format, &config, &Features::default(), &boundary).unwrap();
            prop_assert_eq!(config_of(&data), config.clone());
            prop_assert_eq!(STANDARD.decode(data.expose_base64()).unwrap(), data.expose_raw());
        }
    }

    #[test]
    fn toggles_are_delivered_unchanged_or_reported_as_dropped(
        toggles in proptest::collection::btree_map("[A-C_=\r\n-]{0,3}|\\PC{0,3}", "[a=\r\n']{0,3}|\\PC{0,20}", 0..8),
        random in any::<[u8; 30]>(),
    ) {
        let toggles: BTreeMap<String, String> = toggles;
        let features = Features::from(toggles.clone());
        let boundary = Boundary::from_random(random);
        let data = CustomData::render(CustomDataForm::Boothook, b"{}", &features, &boundary).unwrap();
        let delivered = toggles_of(&data);
        prop_assert_eq!(delivered.len() + data.dropped().len(), toggles.len());
        for (key, value) in &delivered {
            prop_assert_eq!(toggles.get(key), Some(value));
        }
        prop_assert_eq!(read(data.expose_raw()).parts.len(), 2);
        for format in [CustomDataForm::CloudConfig, CustomDataForm::Ignition] {
            let data = CustomData::render(format, b"{}", &features, &boundary).unwrap();
            prop_assert_eq!(data.dropped().len(), toggles.len());
        }
    }
}
