//! Deserialization of fields that may be absent, `null` or of an unexpected type.

use serde::{Deserialize, Deserializer};

/// An error body of Azure, top-level or nested.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorBody {
    #[serde(deserialize_with = "lenient")]
    pub(super) code: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) message: String,
    #[serde(deserialize_with = "listed")]
    pub(super) details: Vec<ErrorBody>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct StatusBody {
    #[serde(deserialize_with = "lenient")]
    pub(super) code: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) message: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Lenient<T> {
    Is(T),
    Strange(serde::de::IgnoredAny),
}

/// Returns the default for `null` and for a value of an unexpected type.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(match Lenient::deserialize(from)? {
        Lenient::Is(value) => value,
        Lenient::Strange(_) => T::default(),
    })
}

/// Returns the items that can be parsed; none if the value is not a list.
pub(super) fn listed<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let items: Lenient<Vec<Lenient<T>>> = Lenient::deserialize(from)?;
    Ok(match items {
        Lenient::Is(items) => items
            .into_iter()
            .filter_map(|item| match item {
                Lenient::Is(item) => Some(item),
                Lenient::Strange(_) => None,
            })
            .collect(),
        Lenient::Strange(_) => Vec::new(),
    })
}
