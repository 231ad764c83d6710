//! Lists of the API server, page by page: a cluster of 5,000 nodes takes little memory.

use std::fmt::Write as _;

use mooring_controller::run::{Api, ApiError};
use serde::Deserialize;
use serde_json::value::RawValue;

const PAGE: usize = 500;

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    metadata: Metadata,
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default, rename = "continue")]
    follow: String,
}

/// Reads a list and converts its items. None if the resource does not exist.
pub(crate) async fn list<T>(
    api: &Api,
    path: &str,
    mut item: impl FnMut(&RawValue) -> Option<T>,
) -> Result<Option<Vec<T>>, ApiError> {
    let mut items = Vec::new();
    let mut follow = String::new();
    let mut is_restarted = false;
    loop {
        let text = match api.get(&format!("{path}?limit={PAGE}{follow}")).await {
            Ok(text) => text,
            Err(error) if error.status == Some(404) => return Ok(None),
            // The continue token has expired.
            Err(error) if error.status == Some(410) && !is_restarted => {
                is_restarted = true;
                items.clear();
                follow.clear();
                continue;
            }
            Err(error) => return Err(error),
        };
        let page: Page = serde_json::from_str(&text).map_err(|_| ApiError {
            status: None,
            what: "the list is not valid JSON".to_owned(),
        })?;
        items.extend(page.items.into_iter().filter_map(&mut item));
        if page.metadata.follow.is_empty() {
            return Ok(Some(items));
        }
        follow = format!("&continue={}", escape(&page.metadata.follow));
    }
}

/// Escapes a value of a query.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}
