//! Inputs that several tests share.

use std::collections::BTreeMap;

use mooring_contract::custom_data::{Boundary, CustomData, CustomDataForm, Features};

/// 00, 01, 02 … 1d.
pub(crate) fn boundary() -> Boundary {
    Boundary::from_random(std::array::from_fn(|index| u8::try_from(index).unwrap()))
}

pub(crate) fn features(toggles: &[(&str, &str)]) -> Features {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    Features::from(toggles.iter().map(owned).collect::<BTreeMap<_, _>>())
}

/// Values that a shell would act upon, were they not quoted.
pub(crate) const TRICKY: &[(&str, &str)] = &[
    ("_under", ""),
    ("Z_LAST", r#"a=b 'c' "d" $(e) `f` \g"#),
    ("ENABLE_PROVISIONING_HOTFIX", "true"),
];

pub(crate) fn render(format: CustomDataForm, config: &[u8], features: &Features) -> CustomData {
    CustomData::render(format, config, features, &boundary()).unwrap()
}

pub(crate) fn boothook(config: &[u8], features: &Features) -> CustomData {
    render(CustomDataForm::Boothook, config, features)
}
