//! Managed clusters: read, update, credentials.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::azure::api::access::sign_in;
use crate::azure::api::aks::pool_members;
use crate::azure::api::aks::pools::check_tag;
use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{AKS, AzureState, Work, is_at_or_below, text};

/// Simulated seconds of an update that changes tags.
const RETAG: u64 = 60;

impl AzureState {
    pub(crate) fn cluster_body(&self, cluster: &str, version: &str) -> Option<Value> {
        let mut body = self.store.get(cluster)?.clone();
        let pools = self.store.list(&format!("{cluster}/agentPools"));
        let pools = pools.filter(|pool| pool_members::is_listed(pool, version)).cloned();
        let profiles = pools.map(|mut pool| {
            pool_members::trim_shown(&mut pool, version);
            let mut profile = pool["properties"].take();
            profile["name"] = pool["name"].take();
            profile
        });
        body["properties"]["agentPoolProfiles"] = profiles.collect();
        Some(body)
    }

    pub(crate) fn need_cluster(&self, call: &ArmCall, cluster: &str) -> Result<(), ArmError> {
        if self.store.has(cluster) {
            return Ok(());
        }
        let (name, group) = (call.name(7), call.name(3));
        Err(ArmError::no_resource("Microsoft.ContainerService/managedClusters", name, group))
    }

    pub(crate) fn list_clusters(&self, under: &str, version: &str) -> Reply {
        let is_cluster =
            |body: &&Value| text(body, "/type") == "Microsoft.ContainerService/ManagedClusters";
        let ids = self.store.all().filter(is_cluster).map(|body| text(body, "/id"));
        let ids = ids.filter(|id| is_at_or_below(id, under));
        Reply::list(ids.filter_map(|id| self.cluster_body(id, version)))
    }

    pub(crate) fn patch_cluster(&mut self, call: &ArmCall, cluster: &str) -> ArmResult {
        let tags = call.object()?.get("tags").cloned().unwrap_or_else(|| json!({}));
        self.check_idle(cluster)?;
        let mut body = self.store.get(cluster).cloned().unwrap_or_default();
        check_tag(call, Some(&body), "/eTag")?;
        body["tags"] = tags;
        Ok(self.start_update(call, cluster, body))
    }

    fn start_update(&mut self, call: &ArmCall, cluster: &str, mut body: Value) -> Reply {
        if let Some(properties) = body["properties"].as_object_mut() {
            properties.remove("agentPoolProfiles");
        }
        body["properties"]["provisioningState"] = json!("Updating");
        body["eTag"] = json!(self.store.next_tag());
        let id = text(&body, "/id").to_owned();
        self.store.put(body);
        let operation = self.begin(call, AKS, &id, Work::UpdateCluster, RETAG);
        self.log_begin(call.now, &operation.action(), &id, operation.origin());
        let body = self.cluster_body(cluster, call.api_version()).unwrap_or_default();
        self.followed(Reply::ok(body), call, &operation)
    }

    /// Updates the tags, which also sets a Failed or Canceled cluster to Succeeded.
    pub(crate) fn retag_cluster(&mut self, call: &ArmCall, cluster: &str) -> Result<(), ArmError> {
        self.check_idle(cluster)?;
        let body = self.store.get(cluster).cloned().unwrap_or_default();
        self.start_update(call, cluster, body);
        Ok(())
    }

    /// `POST …/listClusterUserCredential` and similar: a kubeconfig that follows from the cluster's fields.
    pub(crate) fn credential(&self, call: &ArmCall, cluster: &str) -> ArmResult {
        let body = self.store.get(cluster).unwrap_or(&Value::Null);
        let is = |pointer: &str| body.pointer(pointer).and_then(Value::as_bool) == Some(true);
        let entra = body.pointer("/properties/aadProfile").is_some_and(Value::is_object);
        let admin = call.path.lower.last().is_some_and(|last| last == "listclusteradmincredential");
        if is("/properties/disableLocalAccounts") && (admin || !entra) {
            let message = "Getting static credential is not allowed because this cluster is set to disable local accounts.";
            return Err(ArmError::aks(400, "BadRequest", message));
        }
        let name = text(body, "/name");
        let access = &self.options.kubernetes;
        let profile = "/properties/apiServerAccessProfile";
        let public = is(&format!("{profile}/enablePrivateClusterPublicFQDN"))
            && call.query_is("server-fqdn", "public");
        let fqdn =
            |name: &str| format!("https://{}:443", text(body, &format!("/properties/{name}")));
        let server = match access {
            _ if is(&format!("{profile}/enablePrivateCluster")) && !public => fqdn("privateFQDN"),
            Some(access) => access.server.clone(),
            None => fqdn("fqdn"),
        };
        let authority = access.as_ref().map_or_else(
            || "-----BEGIN CERTIFICATE-----\nU0lNVUxBVEVE\n-----END CERTIFICATE-----\n".to_owned(),
            |access| access.ca_pem.clone(),
        );
        let kind = if admin { "clusterAdmin" } else { "clusterUser" };
        let user = format!("{kind}_{}_{name}", call.name(3));
        let token = access.as_ref().and_then(|access| access.token.as_ref());
        let login = match token {
            Some(token) => json!({"token": token.expose()}),
            // Signed with the key of the run: no token is constant.
            None if admin || !entra => {
                let who = &self.options.principal;
                json!({"token": sign_in::token(&self.options, who, AKS_SERVER, &call.base, call.now)})
            }
            None => json!({"exec": {
                "apiVersion": "client.authentication.k8s.io/v1beta1",
                "command": "kubelogin",
                "args": ["get-token", "--environment", "AzurePublicCloud", "--server-id", AKS_SERVER, "--client-id", "80faf920-1908-4b52-b5ef-a8e7bedfc67a", "--login", "devicecode"],
                "provideClusterInfo": false,
            }}),
        };
        let config = kubeconfig(name, &server, &authority, &user, &login);
        Ok(Reply::ok(
            json!({"kubeconfigs": [{"name": kind, "value": STANDARD.encode(config.to_string())}]}),
        ))
    }
}

/// Returns a kubeconfig with one cluster and one user. JSON is YAML.
pub(crate) fn kubeconfig(
    name: &str,
    server: &str,
    ca_pem: &str,
    user: &str,
    login: &Value,
) -> Value {
    let cluster = json!({"server": server, "certificate-authority-data": STANDARD.encode(ca_pem)});
    json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": user, "user": login}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
    })
}

/// The application id of the AKS API server in Entra ID.
pub const AKS_SERVER: &str = "6dae42f8-4368-4678-94ff-3960e28e3630";
