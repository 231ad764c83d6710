//! Azure cloud of the node.

use std::borrow::Cow;

use mooring_contract::NodeConfig;
use mooring_contract::json::MAX_DEPTH;
use mooring_contract::node_config::OrUnset as _;

use super::Environment;
use super::go::case;
use crate::format::json;

/// Name of a custom cloud, such as Azure Stack, in any letter case.
const CUSTOM: &str = "akscustom";

const PUBLIC: &str = "AzurePublicCloud";
const CHINA: &str = "AzureChinaCloud";
const GERMANY: &str = "AzureGermanCloud";
const US_GOVERNMENT: &str = "AzureUSGovernmentCloud";

pub(super) fn variables(config: &NodeConfig, out: &mut Environment) {
    let custom = config.custom_cloud_config.or_unset();
    let is_custom = case::is_ignoring_case(&custom.custom_cloud_env_name, CUSTOM);
    let by_location = cloud_of(&config.cluster_config.or_unset().location);
    let only_if_custom = |text| if is_custom { text } else { "" };
    let arm = if is_custom {
        custom_arm_endpoint(&custom.custom_env_json_content).into()
    } else {
        Cow::Borrowed(arm_endpoint(by_location))
    };
    out.flag("IS_CUSTOM_CLOUD", is_custom)
        .text("TARGET_ENVIRONMENT", if is_custom { CUSTOM } else { by_location })
        .text("TARGET_CLOUD", if is_custom { "AzureStackCloud" } else { by_location })
        .text("AZURE_ENVIRONMENT_FILEPATH", only_if_custom("/etc/kubernetes/akscustom.json"))
        .text("ARM_RESOURCE_ENDPOINT", arm)
        .text("REPO_DEPOT_ENDPOINT", only_if_custom(&custom.repo_depot_endpoint))
        // These two go out in every cloud.
        .text("CUSTOM_ENV_JSON", &custom.custom_env_json_content)
        .text(
            "AKS_CUSTOM_CLOUD_CONTAINER_REGISTRY_DNS_SUFFIX",
            &custom.container_registry_dns_suffix,
        );
}

fn cloud_of(location: &str) -> &'static str {
    let location = case::lower(&location.split_whitespace().collect::<String>());
    if location.starts_with("china") {
        CHINA
    } else if matches!(location.as_str(), "germanynortheast" | "germanycentral") {
        // Germany's other regions are public.
        GERMANY
    } else if location.starts_with("usgov") || location.starts_with("usdod") {
        US_GOVERNMENT
    } else {
        PUBLIC
    }
}

/// Azure Resource Manager's address. Germany's own is not known to upstream.
fn arm_endpoint(cloud: &str) -> &'static str {
    match cloud {
        US_GOVERNMENT => "https://management.usgovcloudapi.net/",
        CHINA => "https://management.chinacloudapi.cn/",
        _ => "https://management.azure.com/",
    }
}

/// Returns the address of Azure Resource Manager in the cloud's description, or an empty text.
fn custom_arm_endpoint(description: &str) -> String {
    let mut endpoint = String::new();
    let read = json::checked(description.as_bytes()).and_then(|mut reader| {
        json::members_or_null(&mut reader, &mut |reader, name| {
            if case::is_ignoring_case(name, "resourceManagerEndpoint") {
                // A later null does not remove an earlier value.
                json::set_string(reader, &mut endpoint)
            } else {
                reader.skip(MAX_DEPTH)
            }
        })
    });
    if read.is_ok() { endpoint } else { String::new() }
}

#[cfg(test)]
mod tests {
    use mooring_contract::node_config::{ClusterConfig, CustomCloudConfig};

    use super::*;

    fn environment(location: &str, cloud: &str, description: &str) -> Environment {
        let mut out = Environment::default();
        let config = NodeConfig {
            cluster_config: Some(ClusterConfig {
                location: location.to_owned(),
                ..Default::default()
            }),
            custom_cloud_config: Some(CustomCloudConfig {
                custom_cloud_env_name: cloud.to_owned(),
                custom_env_json_content: description.to_owned(),
                repo_depot_endpoint: "https://repo".to_owned(),
                ..Default::default()
            }),
            ..Default::default()
        };
        variables(&config, &mut out);
        out
    }

    #[test]
    fn the_cloud_follows_from_the_region() {
        for (location, cloud, arm) in [
            ("", PUBLIC, "https://management.azure.com/"),
            ("eastus", PUBLIC, "https://management.azure.com/"),
            ("China East 2", CHINA, "https://management.chinacloudapi.cn/"),
            ("ch\u{130}na\u{3000}north", CHINA, "https://management.chinacloudapi.cn/"),
            ("germanynortheast", GERMANY, "https://management.azure.com/"),
            ("Germany\u{2003}Central", GERMANY, "https://management.azure.com/"),
            ("germanywestcentral", PUBLIC, "https://management.azure.com/"),
            ("germanycentral2", PUBLIC, "https://management.azure.com/"),
            ("usgovvirginia", US_GOVERNMENT, "https://management.usgovcloudapi.net/"),
            ("\u{a0}USDoD\tCentral\u{85}", US_GOVERNMENT, "https://management.usgovcloudapi.net/"),
            ("u\u{17F}gov", PUBLIC, "https://management.azure.com/"),
            ("us\u{200B}gov", PUBLIC, "https://management.azure.com/"),
        ] {
            let out = environment(location, "AzurePublicCloud", "{}");
            assert_eq!(out.expose("TARGET_ENVIRONMENT"), Some(cloud), "{location:?}");
            assert_eq!(out.expose("TARGET_CLOUD"), Some(cloud), "{location:?}");
            assert_eq!(out.expose("ARM_RESOURCE_ENDPOINT"), Some(arm), "{location:?}");
            assert_eq!(out.expose("AZURE_ENVIRONMENT_FILEPATH"), Some(""));
            assert_eq!(out.expose("REPO_DEPOT_ENDPOINT"), Some(""));
            assert_eq!(out.expose("CUSTOM_ENV_JSON"), Some("{}"));
        }
    }

    #[test]
    fn custom_cloud_is_detected_by_name_in_any_region() {
        let description = r#"{"resourceManagerEndpoint":"https://arm.local/"}"#;
        let out = environment("chinaeast2", "AK\u{17F}Custom", description);
        for (name, value) in [
            ("IS_CUSTOM_CLOUD", "true"),
            ("TARGET_ENVIRONMENT", "akscustom"),
            ("TARGET_CLOUD", "AzureStackCloud"),
            ("AZURE_ENVIRONMENT_FILEPATH", "/etc/kubernetes/akscustom.json"),
            ("ARM_RESOURCE_ENDPOINT", "https://arm.local/"),
            ("REPO_DEPOT_ENDPOINT", "https://repo"),
        ] {
            assert_eq!(out.expose(name), Some(value), "{name}");
        }
        assert_eq!(
            environment("", "akscustom ", "").expose("IS_CUSTOM_CLOUD"),
            Some("false"),
            "nothing is trimmed"
        );
    }

    #[test]
    fn arm_endpoint_of_custom_cloud_is_read_from_description() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"resourceManagerEndpoint":"a","x":{open}{close}}}"#)
        };
        for (description, endpoint) in [
            (r#"{"resourceManagerEndpoint":"https://a/"}"#, "https://a/"),
            ("\t{\"RESOURCEMANAGERENDPOINT\"\r\n:\"a\"} ", "a"),
            (r#"{"\u0072e\u017fourceManagerEndpoint":"a"}"#, "a"),
            (r#"{"resourceManagerEndpoint":"a","ResourceManagerEndpoint":"b"}"#, "b"),
            (r#"{"ResourceManagerEndpoint":"b","resourceManagerEndpoint":"a"}"#, "a"),
            (r#"{"resourceManagerEndpoint":"a","resourceManagerEndpoint":null}"#, "a"),
            (r#"{"resourceManagerEndpoint":5,"resourceManagerEndpoint":"a"}"#, ""),
            (r#"{"resourceManagerEndpoint":"a","resourceManagerEndpoint":[]}"#, ""),
            (r#"{"resourceManagerEndpoint":null}"#, ""),
            (r#"{"x":{"resourceManagerEndpoint":"a"}}"#, ""),
            (r#"{"resourceManagerEndpoint ":"a"}"#, ""),
            (r#"{"resourceManagerEndpoint":"\ud800"}"#, "\u{FFFD}"),
            (r#"{"resourceManagerEndpoint":"\ud800\ud800\u0041"}"#, "\u{FFFD}\u{FFFD}A"),
            (r#"{"resourceManagerEndpoint":"a\n\u0000"}"#, "a\n\0"),
            ("{\"resourceManagerEndpoint\":\"a\nb\"}", ""),
            (r#"{"resourceManagerEndpoint":"a"} x"#, ""),
            (r#"{"resourceManagerEndpoint":"a","x":01}"#, ""),
            (r#"{"resourceManagerEndpoint":"a","x":NaN}"#, ""),
            (r#"{"resourceManagerEndpoint":"a","x":1e}"#, ""),
            (r#"{"resourceManagerEndpoint":"a",}"#, ""),
            ("\u{feff}{\"resourceManagerEndpoint\":\"a\"}", ""),
            ("", ""),
            ("null", ""),
            ("[]", ""),
            ("\"resourceManagerEndpoint\"", ""),
            ("not json", ""),
            (&nested(9_999), "a"),
            (&nested(10_000), ""),
        ] {
            let shown = &description[..description.len().min(80)];
            assert_eq!(custom_arm_endpoint(description), endpoint, "{shown}");
        }
    }
}
