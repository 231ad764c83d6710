//! Nothing that can be printed holds a secret.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mooring_contract::custom_data::{CustomData, CustomDataForm, Features};
use proptest::prelude::*;

use super::samples::{boundary, features};

/// Everything that can be printed about these inputs, in every format.
fn everything_printed(config: &[u8], features: &Features) -> String {
    let about = |format| match CustomData::render(format, config, features, &boundary()) {
        Ok(data) => format!("{data:?} {data:#?} {:?}", data.dropped()),
        Err(error) => format!("{error} {error:?} {error:#?} {}", error.hint()),
    };
    let altered: Vec<_> = features.altered_keys().collect();
    format!("{features:?} {features:#?} {altered:?} {:?}", CustomDataForm::ALL.map(about))
}

#[test]
fn debug_output_masks_the_document() {
    let features = features(&[("KEY", "hush")]);
    let data =
        CustomData::render(CustomDataForm::Ignition, b"hush", &features, &boundary()).unwrap();
    assert_eq!(
        format!("{data:?}"),
        "CustomData { format: Ignition, document: [secret], dropped: \
         [DroppedFeature { key: \"KEY\", reason: NotCarriedBy(Ignition) }] }"
    );
    assert_eq!(format!("{features:?}"), "Features { valid_keys: [\"KEY\"], dropped: [], .. }");
}

proptest! {
    // The marks cannot occur at random: printed text has no `~`, and base64 is also checked.
    #[test]
    fn neither_config_nor_values_are_ever_printed(
        secret in "~[!-~]{11}",
        keys in proptest::collection::vec("[A-Z]{1,5}|[0-9a-z-]{1,5}", 0..4),
        breaks in any::<bool>(),
        length in prop_oneof![Just(1_usize), Just(10_000)],
    ) {
        let config = secret.repeat(length);
        let value = if breaks { format!("{secret}\n") } else { secret.clone() };
        let toggles: BTreeMap<_, _> = keys.into_iter().map(|key| (key, value.clone())).collect();
        let printed = everything_printed(config.as_bytes(), &Features::from(toggles));
        prop_assert!(!printed.contains(&secret), "{printed}");
        // Twelve bytes are sixteen characters of base64 without a rest.
        prop_assert!(!printed.contains(&STANDARD.encode(&secret)), "{printed}");
    }
}
