//! Status of an AKS machine.

use serde::Deserialize;

use super::body::{ErrorBody, lenient, listed};
use super::progress::ProvisioningState;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MachineStatus {
    pub name: String,
    pub progress: ProvisioningState,
    /// Provisioning error, innermost first: codes and texts; empty if none.
    pub error: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    #[serde(deserialize_with = "lenient")]
    name: String,
    #[serde(deserialize_with = "lenient")]
    properties: Properties,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Properties {
    #[serde(deserialize_with = "lenient")]
    provisioning_state: String,
    #[serde(deserialize_with = "lenient")]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    #[serde(deserialize_with = "lenient")]
    provisioning_error: ErrorBody,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Page {
    #[serde(deserialize_with = "listed")]
    value: Vec<Body>,
}

impl MachineStatus {
    pub fn parse(json: &[u8]) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_slice(json).ok()?;
        value.as_object()?;
        Some(Self::of(serde_json::from_value(value).ok()?))
    }

    /// Parses one page of a pool's machines.
    pub fn parse_page(json: &[u8]) -> Option<Vec<Self>> {
        let value: serde_json::Value = serde_json::from_slice(json).ok()?;
        value.as_object()?;
        let page: Page = serde_json::from_value(value).ok()?;
        Some(page.value.into_iter().map(Self::of).collect())
    }

    fn of(body: Body) -> Self {
        let mut texts = Vec::new();
        collect(&body.properties.status.provisioning_error, 0, &mut texts);
        let progress = ProvisioningState::parse(&body.properties.provisioning_state);
        Self { name: body.name, progress, error: texts.join("\n") }
    }
}

/// Details contain what the outer text summarizes. Azure nests a few levels; deeper ones are ignored.
fn collect(error: &ErrorBody, depth: usize, texts: &mut Vec<String>) {
    if depth < 4 {
        error.details.iter().take(8).for_each(|detail| collect(detail, depth + 1, texts));
    }
    if !error.code.is_empty() || !error.message.is_empty() {
        texts.push(format!("code={}, message={}", error.code, error.message));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn error_of(error: &Value) -> String {
        let body = json!({"properties": {"status": {"provisioningError": error}}});
        MachineStatus::parse(body.to_string().as_bytes()).unwrap().error
    }

    #[test]
    fn details_of_an_error_come_first_down_to_a_depth() {
        let mut error = json!({"code": "level-6"});
        for level in (0..6).rev() {
            error = json!({"code": format!("level-{level}"), "details": [error]});
        }
        let levels = [4, 3, 2, 1, 0].map(|level| format!("code=level-{level}, message="));
        assert_eq!(error_of(&error), levels.join("\n"));
        let wide: Vec<Value> =
            (0..9).map(|number| json!({"message": number.to_string()})).collect();
        let found = error_of(&json!({"details": wide}));
        assert_eq!(found.lines().count(), 8);
        assert_eq!(found.lines().last(), Some("code=, message=7"));
        assert_eq!(error_of(&json!({"message": "m"})), "code=, message=m");
        assert_eq!(error_of(&json!({})), "");
    }
}
