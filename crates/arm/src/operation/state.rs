//! States of operations.

use serde_json::Value;

use super::OperationOutcome;
use crate::error::AzureError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationState {
    Succeeded,
    Failed,
    Canceled,
    /// Any state that is not listed above.
    Running,
}

/// Parses a state. Unknown states are not terminal.
pub(crate) fn state(text: &str) -> OperationState {
    match text.to_ascii_lowercase().as_str() {
        "succeeded" | "completed" => OperationState::Succeeded,
        "failed" => OperationState::Failed,
        "canceled" | "cancelled" => OperationState::Canceled,
        _ => OperationState::Running,
    }
}

pub(crate) fn provisioning_state(body: &Value) -> Option<&str> {
    body.get("properties")?.get("provisioningState")?.as_str()
}

/// Distinguishes cancellation by a user from replacement by a later operation.
pub(crate) fn failure(state: OperationState, refusal: AzureError) -> OperationOutcome {
    const SIGNS: [&str; 5] =
        ["overrid", "superseded", "preempted", "replaced by", "by a later operation"];
    let message = refusal.message.to_ascii_lowercase();
    let codes = ["OperationPreempted", "OperationSuperseded", "OperationOverridden"];
    if codes.iter().any(|code| refusal.has_code(code))
        || (state == OperationState::Canceled && SIGNS.iter().any(|sign| message.contains(sign)))
    {
        return OperationOutcome::Replaced { by: uuid(&refusal.message), refusal };
    }
    if state == OperationState::Canceled {
        OperationOutcome::Canceled(refusal)
    } else {
        OperationOutcome::Failed(refusal)
    }
}

/// Returns the first UUID in a text that is not all zeros.
fn uuid(text: &str) -> Option<String> {
    let words = text.split(|character: char| !character.is_ascii_hexdigit() && character != '-');
    words
        .filter(|word| {
            let lengths: Vec<usize> = word.split('-').map(str::len).collect();
            lengths == [8, 4, 4, 4, 12] && word.bytes().any(|byte| byte != b'0' && byte != b'-')
        })
        .map(str::to_ascii_lowercase)
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_state_is_not_terminal() {
        for (text, expected) in [
            ("Succeeded", OperationState::Succeeded),
            ("succeeded", OperationState::Succeeded),
            ("Failed", OperationState::Failed),
            ("Canceled", OperationState::Canceled),
            ("Cancelled", OperationState::Canceled),
            ("Canceling", OperationState::Running),
            ("InProgress", OperationState::Running),
            ("Scaling", OperationState::Running),
            ("", OperationState::Running),
        ] {
            assert_eq!(state(text), expected, "{text}");
        }
    }

    #[test]
    fn replaced_differs_from_canceled_and_failed() {
        let refusal = |code: &str, message: &str| AzureError {
            code: Some(code.to_owned()),
            message: message.to_owned(),
            ..AzureError::default()
        };
        let later = "11111111-2222-3333-4444-555555555555";
        let overriden =
            format!("The operation was overriden and canceled by a later operation {later}.");
        assert!(
            matches!(failure(OperationState::Canceled, refusal("Canceled", &overriden)), OperationOutcome::Replaced { by: Some(by), .. } if by == later)
        );
        let zeros = "00000000-0000-0000-0000-000000000000";
        for (message, expected) in [
            (format!("superseded by {zeros}"), None),
            (
                format!("{zeros} was superseded by {}", later.replace('1', "A")),
                Some("aaaaaaaa-2222-3333-4444-555555555555"),
            ),
        ] {
            let outcome = failure(OperationState::Canceled, refusal("Canceled", &message));
            assert!(
                matches!(&outcome, OperationOutcome::Replaced { by, .. } if by.as_deref() == expected),
                "{outcome:?}"
            );
        }
        assert!(matches!(
            failure(
                OperationState::Failed,
                refusal("OperationPreempted", "preempted by a more recent operation")
            ),
            OperationOutcome::Replaced { by: None, .. }
        ));
        assert!(matches!(
            failure(OperationState::Canceled, refusal("Canceled", "canceled by the user")),
            OperationOutcome::Canceled(_)
        ));
        assert!(matches!(
            failure(OperationState::Failed, refusal("Quota", "the policy overrides nothing")),
            OperationOutcome::Failed(_)
        ));
    }
}
