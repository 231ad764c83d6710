//! Identity and credentials of the node.

use mooring_redact::Secret;

use super::enums::{BootstrappingAuthMethod, ClusterJoinMethod};
use crate::node_config::schema::message;

message! {
    /// The identity that the node uses towards Azure.
    pub struct AuthConfig = "AuthConfig" {
        1 tenant_id "tenantId": String,
        2 subscription_id "subscriptionId": String,
        3 service_principal_id "servicePrincipalId": String,
        /// Secret; HEAD passes it as is (producer must already have base64 encoded it),
        /// `v0.20251120.0` base64 encoded it
        4 service_principal_secret "servicePrincipalSecret": Secret,
        5 assigned_identity_id "assignedIdentityId": String,
        6 use_managed_identity_extension "useManagedIdentityExtension": bool,
    }
}

message! {
    /// The kubelet's first credential.
    pub struct BootstrappingConfig = "BootstrappingConfig" {
        /// First-credential method; only `SECURE_TLS_BOOTSTRAPPING` changes the output
        1 bootstrapping_auth_method "bootstrappingAuthMethod": BootstrappingAuthMethod,
        /// Join method after authentication; parsed, no effect
        2 cluster_join_method "clusterJoinMethod": ClusterJoinMethod,
        3 tls_bootstrapping_token "tlsBootstrappingToken": Option<Secret>,
        /// Entra resource for the token of the secure bootstrap client
        6 secure_tls_bootstrapping_aad_resource "secureTlsBootstrappingAadResource": Option<String>,
        /// Client id of the identity used by the secure bootstrap client
        7 secure_tls_bootstrapping_user_assigned_identity_id "secureTlsBootstrappingUserAssignedIdentityId": Option<String>,
        8 secure_tls_bootstrapping_custom_client_download_url "secureTlsBootstrappingCustomClientDownloadUrl": Option<String>,
        10 secure_tls_bootstrapping_validate_kubeconfig_timeout "secureTlsBootstrappingValidateKubeconfigTimeout": Option<String>,
        11 secure_tls_bootstrapping_get_access_token_timeout "secureTlsBootstrappingGetAccessTokenTimeout": Option<String>,
        12 secure_tls_bootstrapping_get_instance_data_timeout "secureTlsBootstrappingGetInstanceDataTimeout": Option<String>,
        13 secure_tls_bootstrapping_get_nonce_timeout "secureTlsBootstrappingGetNonceTimeout": Option<String>,
        14 secure_tls_bootstrapping_get_attested_data_timeout "secureTlsBootstrappingGetAttestedDataTimeout": Option<String>,
        15 secure_tls_bootstrapping_get_credential_timeout "secureTlsBootstrappingGetCredentialTimeout": Option<String>,
    }
}

message! {
    /// Pulling images with a service account's identity.
    pub struct ServiceAccountImagePullProfile = "ServiceAccountImagePullProfile" {
        1 enabled "enabled": bool,
        2 default_client_id "defaultClientId": String,
        3 default_tenant_id "defaultTenantId": String,
        4 local_authority_sni "localAuthoritySni": String,
    }
}

message! {
    /// Keeping pods away from the instance metadata service.
    pub struct ImdsRestrictionConfig = "ImdsRestrictionConfig" {
        1 enable_imds_restriction "enableImdsRestriction": bool,
        2 insert_imds_restriction_rule_to_mangle_table "insertImdsRestrictionRuleToMangleTable": bool,
    }
}
