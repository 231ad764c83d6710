//! Azure's limit, to the byte.

use mooring_contract::custom_data::{
    CustomData, CustomDataForm, Features, MAX_BASE64_CHARS, MAX_RAW_BYTES, TooLarge,
};

use super::samples::{boundary, features};

fn render(
    format: CustomDataForm,
    config: usize,
    features: &Features,
) -> Result<CustomData, TooLarge> {
    CustomData::render(format, &vec![b'x'; config], features, &boundary())
}

/// A toggle with a value of `length` bytes; base64 grows in fours, this grows by one.
fn padding(length: usize) -> Features {
    features(&[("PAD", &"p".repeat(length))])
}

#[test]
fn exactly_65535_bytes_pass_and_one_more_is_refused() {
    let room =
        MAX_RAW_BYTES - render(CustomDataForm::Boothook, 30_000, &padding(0)).unwrap().raw_bytes();
    let full = render(CustomDataForm::Boothook, 30_000, &padding(room)).unwrap();
    assert_eq!(full.expose_raw().len(), 65_535);
    assert_eq!(full.expose_base64().len(), MAX_BASE64_CHARS);

    let refused = render(CustomDataForm::Boothook, 30_000, &padding(room + 1)).unwrap_err();
    assert_eq!(refused.raw_bytes(), 65_536);
    assert_eq!(refused.excess(), 1);
}

#[test]
fn suggested_config_size_is_the_maximum_in_all_formats() {
    for format in CustomDataForm::ALL {
        let refused = render(format, 100_000, &Features::default()).unwrap_err();
        let fits = refused.largest_config_that_fits().unwrap();
        let data = render(format, fits, &Features::default()).unwrap();
        assert!((MAX_RAW_BYTES - 3..=MAX_RAW_BYTES).contains(&data.raw_bytes()));
        assert!(render(format, fits + 1, &Features::default()).is_err());
    }
}

#[test]
fn size_error_contains_size_excess_and_hint() {
    let refused = render(CustomDataForm::Ignition, 60_000, &Features::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "ignition custom data would be 80249 bytes (107000 in base64), 14714 more than Azure's \
         limit of 65535 (87380 in base64)\n\
         hint: the node config is the largest part (60000 bytes, 80000 in base64); reduce it \
         to 48963 bytes, for example by omitting certificates or files that the image can contain"
    );
    assert_eq!(TooLarge::REASON, "CustomDataTooLarge");
}

#[test]
fn toggles_that_a_format_does_not_carry_do_not_count() {
    for format in [CustomDataForm::CloudConfig, CustomDataForm::Ignition] {
        assert!(render(format, 1_000, &padding(100_000)).is_ok());
    }
    let refused = render(CustomDataForm::Boothook, 1_000, &padding(100_000)).unwrap_err();
    assert!(refused.hint().starts_with("the feature toggles alone "), "{}", refused.hint());
}
