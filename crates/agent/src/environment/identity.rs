//! Identity and credentials of the node.

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{BootstrappingAuthMethod, OrUnset as _};

use super::Environment;

pub(super) fn variables(config: &NodeConfig, out: &mut Environment) {
    azure(config, out);
    bootstrapping(config, out);
    image_pull(config, out);
    api_server(config, out);
}

fn azure(config: &NodeConfig, out: &mut Environment) {
    let auth = config.auth_config.or_unset();
    let metadata = config.imds_restriction_config.or_unset();
    out.text("TENANT_ID", &auth.tenant_id)
        .text("SUBSCRIPTION_ID", &auth.subscription_id)
        .text("SERVICE_PRINCIPAL_CLIENT_ID", &auth.service_principal_id)
        // Already base64 in the config; encoding it again would break the scripts.
        .secret("SERVICE_PRINCIPAL_FILE_CONTENT", &auth.service_principal_secret)
        .text("USER_ASSIGNED_IDENTITY_ID", &auth.assigned_identity_id)
        .flag("USE_MANAGED_IDENTITY_EXTENSION", auth.use_managed_identity_extension)
        .flag("ENABLE_IMDS_RESTRICTION", metadata.enable_imds_restriction)
        .flag(
            "INSERT_IMDS_RESTRICTION_RULE_TO_MANGLE_TABLE",
            metadata.insert_imds_restriction_rule_to_mangle_table,
        );
}

fn bootstrapping(config: &NodeConfig, out: &mut Environment) {
    let from = config.bootstrapping_config.or_unset();
    let secure =
        from.bootstrapping_auth_method == BootstrappingAuthMethod::SECURE_TLS_BOOTSTRAPPING;
    let token = from.tls_bootstrapping_token.clone().unwrap_or_default();
    out.flag("ENABLE_SECURE_TLS_BOOTSTRAPPING", secure).secret("TLS_BOOTSTRAP_TOKEN", &token);
    for (name, value) in [
        ("SECURE_TLS_BOOTSTRAPPING_AAD_RESOURCE", &from.secure_tls_bootstrapping_aad_resource),
        (
            "SECURE_TLS_BOOTSTRAPPING_USER_ASSIGNED_IDENTITY_ID",
            &from.secure_tls_bootstrapping_user_assigned_identity_id,
        ),
        (
            "CUSTOM_SECURE_TLS_BOOTSTRAPPING_CLIENT_DOWNLOAD_URL",
            &from.secure_tls_bootstrapping_custom_client_download_url,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_VALIDATE_KUBECONFIG_TIMEOUT",
            &from.secure_tls_bootstrapping_validate_kubeconfig_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_ACCESS_TOKEN_TIMEOUT",
            &from.secure_tls_bootstrapping_get_access_token_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_INSTANCE_DATA_TIMEOUT",
            &from.secure_tls_bootstrapping_get_instance_data_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_NONCE_TIMEOUT",
            &from.secure_tls_bootstrapping_get_nonce_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_ATTESTED_DATA_TIMEOUT",
            &from.secure_tls_bootstrapping_get_attested_data_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_CREDENTIAL_TIMEOUT",
            &from.secure_tls_bootstrapping_get_credential_timeout,
        ),
    ] {
        out.text(name, value.as_deref().unwrap_or_default());
    }
}

fn image_pull(config: &NodeConfig, out: &mut Environment) {
    let profile = config.service_account_image_pull_profile.or_unset();
    out.flag("SERVICE_ACCOUNT_IMAGE_PULL_ENABLED", profile.enabled)
        .text("SERVICE_ACCOUNT_IMAGE_PULL_DEFAULT_CLIENT_ID", &profile.default_client_id)
        .text("SERVICE_ACCOUNT_IMAGE_PULL_DEFAULT_TENANT_ID", &profile.default_tenant_id)
        .text("IDENTITY_BINDINGS_LOCAL_AUTHORITY_SNI", &profile.local_authority_sni);
}

fn api_server(config: &NodeConfig, out: &mut Environment) {
    let server = config.api_server_config.or_unset();
    out.text("APISERVER_PUBLIC_KEY", &server.api_server_public_key)
        .text("API_SERVER_NAME", &server.api_server_name);
}
