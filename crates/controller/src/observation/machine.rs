//! Status of an AKS machine.

use mooring_arm::calls::{Machine, ProvisioningError};

use super::progress::ProvisioningState;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MachineStatus {
    pub name: String,
    pub progress: ProvisioningState,
    /// Provisioning error, innermost first: codes and texts; empty if none.
    pub error: String,
}

impl MachineStatus {
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let Machine { name, properties } = machine;
        let mut texts = Vec::new();
        if let Some(error) = &properties.status.provisioning_error {
            collect(error, 0, &mut texts);
        }
        let progress = ProvisioningState::parse(&properties.provisioning_state);
        Self { name: name.clone(), progress, error: texts.join("\n") }
    }
}

/// Details contain what the outer text summarizes. Azure nests a few levels; deeper ones are ignored.
fn collect(error: &ProvisioningError, depth: usize, texts: &mut Vec<String>) {
    if depth < 4 {
        error.details.iter().take(8).for_each(|detail| collect(detail, depth + 1, texts));
    }
    let ProvisioningError { code, message, .. } = error;
    if !code.is_empty() || !message.is_empty() {
        texts.push(format!("code={code}, message={message}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn error_of(error: &Value) -> String {
        let body = json!({"properties": {"status": {"provisioningError": error}}});
        MachineStatus::of(&serde_json::from_value(body).unwrap()).error
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
