//! Lenient deserialization of values that Azure may change.

use serde::{Deserialize, Deserializer};

/// Reads `null` as an empty list or map.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
