//! Supported api-versions.
//!
//! For AKS the service is as of its newest stable version: stable versions have the first of a
//! month, previews the second, and a preview works for about a year.

use super::call::ArmCall;
use super::error::ArmError;
use crate::azure::state::AzureOptions;

const AKS: &str = "microsoft.containerservice";
/// First and last preview of AKS that still work.
const AKS_PREVIEWS: (&str, &str) = ("2025-05-02-preview", "2026-05-02-preview");

/// Namespaces with the first and last supported version.
const SPANS: [(&str, &str, &str); 8] = [
    (AKS, "2019-02-01", "2026-08-01"),
    ("microsoft.compute", "2015-06-15", "2026-12-31"),
    ("microsoft.network", "2015-06-15", "2026-12-31"),
    ("microsoft.insights", "2014-04-01", "2026-12-31"),
    ("microsoft.authorization", "2015-01-01", "2026-12-31"),
    ("microsoft.resources", "2014-04-01", "2026-12-31"),
    ("microsoft.resourcegraph", "2018-09-01-preview", "2026-12-31"),
    // Subscriptions and resource groups, which have no provider.
    ("", "2014-01-01", "2026-12-31"),
];

/// Rejects a call without an api-version, or with an unknown one.
pub(crate) fn check(call: &ArmCall, options: &AzureOptions) -> Result<(), ArmError> {
    let at = call.path.lower.iter().rposition(|part| part == "providers");
    let namespace = at.and_then(|at| call.path.lower.get(at + 1)).map_or("", String::as_str);
    let version = call.api_version();
    if version.is_empty() {
        let message =
            "The api-version query parameter (?api-version=) is required for all requests.";
        return Err(ArmError::new(400, "MissingApiVersionParameter", message));
    }
    let Some((_, first, last)) = SPANS.iter().find(|(known, ..)| *known == namespace) else {
        let message = format!("The resource namespace '{namespace}' is invalid.");
        return Err(ArmError::new(404, "InvalidResourceNamespace", message));
    };
    if !is_date(version) {
        let message = format!("The api-version '{version}' is invalid.");
        return Err(ArmError::new(400, "InvalidApiVersionParameter", message));
    }
    let known = match namespace {
        AKS => is_served_by_aks(call, version, (first, last), options),
        _ => (*first..=*last).contains(&version),
    };
    if !known {
        let kind = call.path.resource_type().unwrap_or_else(|| "subscriptions".to_owned());
        let message = format!(
            "No registered resource provider found for API version '{version}' for type '{kind}'. The supported api-versions are from '{first}' to '{last}'."
        );
        return Err(ArmError::new(400, "NoRegisteredProviderFound", message));
    }
    Ok(())
}

/// Returns true if AKS has this version, and this path in it: only previews have the operations of a cluster or pool.
fn is_served_by_aks(
    call: &ArmCall,
    version: &str,
    (first, last): (&str, &str),
    options: &AzureOptions,
) -> bool {
    if version.ends_with("-preview") {
        let (first, last) = AKS_PREVIEWS;
        return options.aks_previews
            && version.ends_with("-02-preview")
            && (first..=last).contains(&version);
    }
    let lower: Vec<&str> = call.path.lower.iter().map(String::as_str).collect();
    let of_resource = matches!(
        lower[..],
        [.., "managedclusters" | "agentpools", _, "operations"]
            | [.., "managedclusters" | "agentpools", _, "operations", _]
    );
    !of_resource && version.ends_with("-01") && (first..=last).contains(&version)
}

/// Matches `2025-02-01`, optionally followed by `-preview`.
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
