//! Recorded responses, in `tests/fixtures`.

use serde_json::Value;

/// Returns the body of a recorded response.
pub(crate) fn body(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()["response"]["body"].clone()
}

/// Returns the entries of a recorded list.
pub(crate) fn list<T>(body: &Value, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    body["value"].as_array().unwrap().iter().filter_map(read).collect()
}

/// The body of the response in a file.
macro_rules! fixture {
    ($name:literal) => {
        $crate::fixtures::body(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/",
            $name,
            ".json"
        )))
    };
}
pub(crate) use fixture;
