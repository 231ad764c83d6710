//! Members that may be absent, `null` or strange.

use serde::{Deserialize, Deserializer};

/// What Azure sends as an error, top-level or nested.
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
enum Maybe<T> {
    Is(T),
    Strange(serde::de::IgnoredAny),
}

/// The default for `null` and for a value of an unexpected kind.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(match Maybe::deserialize(from)? {
        Maybe::Is(value) => value,
        Maybe::Strange(_) => T::default(),
    })
}

/// The items that can be read, of a list or of whatever stands in its place.
pub(super) fn listed<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let items: Maybe<Vec<Maybe<T>>> = Maybe::deserialize(from)?;
    Ok(match items {
        Maybe::Is(items) => items
            .into_iter()
            .filter_map(|item| match item {
                Maybe::Is(item) => Some(item),
                Maybe::Strange(_) => None,
            })
            .collect(),
        Maybe::Strange(_) => Vec::new(),
    })
}
