//! Which api-versions exist.

use super::call::Call;
use super::error::ArmError;

/// Namespaces with their first and last version that the model answers to.
const SPANS: [(&str, &str, &str); 7] = [
    ("microsoft.containerservice", "2017-08-31", "2026-12-31"),
    ("microsoft.compute", "2015-06-15", "2026-12-31"),
    ("microsoft.network", "2015-06-15", "2026-12-31"),
    ("microsoft.insights", "2014-04-01", "2026-12-31"),
    ("microsoft.resources", "2014-04-01", "2026-12-31"),
    ("microsoft.resourcegraph", "2018-09-01-preview", "2026-12-31"),
    // Subscriptions and resource groups, which stand under no provider.
    ("", "2014-01-01", "2026-12-31"),
];

/// Refuses a call without an api-version, or with one that no provider has.
pub(crate) fn check(call: &Call) -> Result<(), ArmError> {
    let at = call.path.lower.iter().rposition(|part| part == "providers");
    let namespace = at.and_then(|at| call.path.lower.get(at + 1)).map_or("", String::as_str);
    let version = call.api_version();
    if version.is_empty() {
        return Err(ArmError::new(
            400,
            "MissingApiVersionParameter",
            "The api-version query parameter (?api-version=) is required for all requests.",
        ));
    }
    let Some((_, first, last)) = SPANS.iter().find(|(known, ..)| *known == namespace) else {
        return Err(ArmError::new(
            404,
            "InvalidResourceNamespace",
            format!("The resource namespace '{namespace}' is invalid."),
        ));
    };
    if !is_date(version) || version < *first || version > *last {
        let kind = call.path.resource_type().unwrap_or_else(|| "subscriptions".to_owned());
        return Err(ArmError::new(
            400,
            "NoRegisteredProviderFound",
            format!(
                "No registered resource provider found for API version '{version}' for type '{kind}'. The supported api-versions are from '{first}' to '{last}'."
            ),
        ));
    }
    Ok(())
}

/// `2025-02-01`, perhaps with `-preview` behind it.
fn is_date(version: &str) -> bool {
    let date = version.strip_suffix("-preview").unwrap_or(version).as_bytes();
    date.len() == 10
        && date.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_dates() {
        for (version, good) in [
            ("2025-02-01", true),
            ("2025-01-02-preview", true),
            ("latest", false),
            ("2025-2-1", false),
        ] {
            assert_eq!(is_date(version), good, "{version}");
        }
    }
}
