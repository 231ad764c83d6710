//! Settings from environment variables, which only a child process can set.

use std::process::Command;

use mooring_arm::{CloudSettings, identity};

const NAME: &str = "environment::settings_are_read_from_the_environment";
const CASE: &str = "MOORING_TEST_SETTINGS";
const VARIABLES: [(&str, &str); 10] = [
    ("AZURE_RESOURCE_MANAGER_ENDPOINT", "endpoint"),
    ("AZURE_AUTHORITY_HOST", "authority"),
    ("AZURE_RESOURCE_MANAGER_AUDIENCE", "audience"),
    ("AZURE_CA_CERTIFICATE", "ca.pem"),
    ("AZURE_TENANT_ID", "tenant"),
    ("AZURE_CLIENT_ID", "client"),
    ("AZURE_CLIENT_SECRET", "secret"),
    ("IDENTITY_HEADER", "header"),
    ("AZURE_FEDERATED_TOKEN_FILE", "token"),
    ("AZURE_TOKEN_CREDENTIALS", "dev"),
];

#[test]
fn settings_are_read_from_the_environment() {
    let Ok(case) = std::env::var(CASE) else {
        for case in ["set", "empty"] {
            let value = |value: &'static str| if case == "set" { value } else { "" };
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", NAME])
                .env(CASE, case)
                .envs(VARIABLES.map(|(name, text)| (name, value(text))))
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{case}: {text}");
        }
        return;
    };
    // The child process. An empty variable is one that is not set.
    let (cloud, identity) = (CloudSettings::from_env(), identity::IdentitySettings::from_env());
    let secret =
        |secret: Option<mooring_redact::Secret>| secret.map(|text| text.expose().to_owned());
    let file = |path: Option<std::path::PathBuf>| path.map(|path| path.display().to_string());
    let found = [
        cloud.endpoint,
        cloud.authority,
        cloud.audience,
        file(cloud.ca),
        identity.tenant,
        identity.client,
        secret(identity.secret),
        secret(identity.header),
        file(identity.token_file),
        identity.credentials,
    ];
    let expected = VARIABLES.map(|(_, value)| (case == "set").then(|| value.to_owned()));
    assert_eq!(found, expected);
}
