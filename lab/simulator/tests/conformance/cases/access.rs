//! Authorization.

use serde_json::{Value, json};

use crate::answer::text;
use crate::case::cases;
use crate::cluster::{Cluster, Patch, condition};

cases!("access":
    unknown_user_is_denied_with_a_message,
    a_namespaced_refusal_names_the_namespace,
    a_refused_subresource_is_named,
    a_cluster_role_grants_everywhere,
    a_role_grants_in_its_namespace,
    a_cluster_role_can_be_bound_in_one_namespace,
    a_rule_can_name_one_object,
    a_named_rule_does_not_grant_lists,
    a_subresource_is_a_right_of_its_own,
    a_list_by_name_is_granted_by_a_named_rule,
    stars_grant_everything,
    users_may_review_their_own_access,
);

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Grants a user these rules, cluster-wide.
async fn grant(c: &Cluster, user: &str, rules: &Value) {
    let name = c.name("role");
    let role = json!({"metadata": {"name": name}, "rules": rules});
    c.post(&format!("{RBAC}/clusterroles"), &role).await.is(201);
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    });
    c.post(&format!("{RBAC}/clusterrolebindings"), &binding).await.is(201);
}

/// Revokes every permission of [`grant`], for the next case that uses the user.
async fn revoke(c: &Cluster) {
    c.delete(&format!("{RBAC}/clusterrolebindings/{}", c.name("role"))).await.is(200);
}

/// A grant takes effect a moment later.
async fn until_granted(user: &Cluster, path: &str) {
    user.eventually(path, |answer| answer.status != 403).await;
}

async fn unknown_user_is_denied_with_a_message(c: Cluster) {
    let stranger = c.as_user("hal");
    let status = stranger.get("/apis/karpenter.sh/v1/nodeclaims").await.fails(403, "Forbidden");
    assert_eq!(
        text(&status, "/message"),
        "nodeclaims.karpenter.sh is forbidden: User \"hal\" cannot list resource \"nodeclaims\" \
         in API group \"karpenter.sh\" at the cluster scope"
    );
    assert_eq!(status["details"], json!({"group": "karpenter.sh", "kind": "nodeclaims"}));
    let status = stranger.get("/api/v1/nodes/n").await.fails(403, "Forbidden");
    assert_eq!(
        text(&status, "/message"),
        "nodes \"n\" is forbidden: User \"hal\" cannot get resource \"nodes\" in API group \"\" \
         at the cluster scope"
    );
}

async fn a_namespaced_refusal_names_the_namespace(c: Cluster) {
    let answer = c.as_user("hal").delete("/api/v1/namespaces/default/pods/p").await;
    let status = answer.fails(403, "Forbidden");
    assert_eq!(
        text(&status, "/message"),
        "pods \"p\" is forbidden: User \"hal\" cannot delete resource \"pods\" in API group \"\" \
         in the namespace \"default\""
    );
}

async fn a_refused_subresource_is_named(c: Cluster) {
    let path = "/apis/karpenter.sh/v1/nodeclaims/n/status";
    let status =
        c.as_user("hal").patch(Patch::Json, path, &json!([])).await.fails(403, "Forbidden");
    assert_eq!(
        text(&status, "/message"),
        "nodeclaims.karpenter.sh \"n\" is forbidden: User \"hal\" cannot patch resource \
         \"nodeclaims/status\" in API group \"karpenter.sh\" at the cluster scope"
    );
}

async fn a_cluster_role_grants_everywhere(c: Cluster) {
    let rules = json!([{"apiGroups": ["karpenter.sh"], "resources": ["nodeclaims"], "verbs": ["get", "list"]}]);
    grant(&c, "ann", &rules).await;
    let ann = c.as_user("ann");
    until_granted(&ann, &c.claims()).await;
    ann.get(&c.claims()).await.is(200);
    ann.get(&format!("{}/absent", c.claims())).await.fails(404, "NotFound");
    ann.delete(&format!("{}/absent", c.claims())).await.fails(403, "Forbidden");
    ann.get("/apis/karpenter.sh/v1/nodepools").await.fails(403, "Forbidden");
    revoke(&c).await;
}

async fn a_role_grants_in_its_namespace(c: Cluster) {
    let namespace = c.namespace().await;
    let roles = format!("{RBAC}/namespaces/{}", c.name("ns"));
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "create"]}]);
    c.post(&format!("{roles}/roles"), &json!({"metadata": {"name": "r"}, "rules": rules}))
        .await
        .is(201);
    c.post(
        &format!("{roles}/rolebindings"),
        &json!({
            "metadata": {"name": "r"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ben"}],
        }),
    )
    .await
    .is(201);
    let ben = c.as_user("ben");
    until_granted(&ben, &format!("{namespace}/configmaps")).await;
    ben.post(&format!("{namespace}/configmaps"), &json!({"metadata": {"name": "m"}})).await.is(201);
    ben.get("/api/v1/namespaces/default/configmaps").await.fails(403, "Forbidden");
    ben.get("/api/v1/configmaps").await.fails(403, "Forbidden");
}

async fn a_cluster_role_can_be_bound_in_one_namespace(c: Cluster) {
    let namespace = c.namespace().await;
    let rules = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}]);
    let role = json!({"metadata": {"name": c.name("role")}, "rules": rules});
    c.post(&format!("{RBAC}/clusterroles"), &role).await.is(201);
    c.post(&format!("{RBAC}/namespaces/{}/rolebindings", c.name("ns")), &json!({
        "metadata": {"name": "r"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": c.name("role")},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ben"}],
    })).await.is(201);
    let ben = c.as_user("ben");
    until_granted(&ben, &format!("{namespace}/secrets")).await;
    ben.get(&format!("{namespace}/secrets")).await.is(200);
    ben.get("/api/v1/secrets").await.fails(403, "Forbidden");
}

async fn a_rule_can_name_one_object(c: Cluster) {
    let rules = json!([{
        "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"],
        "resourceNames": ["nodeclaims.karpenter.sh"], "verbs": ["get"],
    }]);
    grant(&c, "cleo", &rules).await;
    let cleo = c.as_user("cleo");
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    until_granted(&cleo, &format!("{definitions}/nodeclaims.karpenter.sh")).await;
    cleo.get(&format!("{definitions}/nodeclaims.karpenter.sh")).await.is(200);
    cleo.get(&format!("{definitions}/nodepools.karpenter.sh")).await.fails(403, "Forbidden");
    revoke(&c).await;
}

async fn a_named_rule_does_not_grant_lists(c: Cluster) {
    let rules = json!([{
        "apiGroups": ["karpenter.sh"], "resources": ["nodepools"],
        "resourceNames": ["default"], "verbs": ["get", "list", "watch", "create"],
    }]);
    grant(&c, "dan", &rules).await;
    let dan = c.as_user("dan");
    until_granted(&dan, "/apis/karpenter.sh/v1/nodepools/default").await;
    dan.get("/apis/karpenter.sh/v1/nodepools").await.fails(403, "Forbidden");
    dan.post("/apis/karpenter.sh/v1/nodepools", &json!({"metadata": {"name": "default"}}))
        .await
        .fails(403, "Forbidden");
    revoke(&c).await;
}

async fn a_list_by_name_is_granted_by_a_named_rule(c: Cluster) {
    let rules = json!([{
        "apiGroups": [""], "resources": ["nodes"],
        "resourceNames": [c.name("n")], "verbs": ["list"],
    }]);
    grant(&c, "dan", &rules).await;
    let path = format!("/api/v1/nodes?fieldSelector=metadata.name%3D{}", c.name("n"));
    let dan = c.as_user("dan");
    until_granted(&dan, &path).await;
    dan.get(&path).await.is(200);
    dan.get("/api/v1/nodes").await.fails(403, "Forbidden");
    revoke(&c).await;
}

async fn a_subresource_is_a_right_of_its_own(c: Cluster) {
    let (path, _) = c.claim_with_conditions(&["Launched"]).await;
    let rules = json!([
        {"apiGroups": ["karpenter.sh"], "resources": ["nodeclaims/status"], "verbs": ["patch"]},
        {"apiGroups": ["karpenter.sh"], "resources": ["nodeclaims"], "verbs": ["get"]},
    ]);
    grant(&c, "eve", &rules).await;
    let eve = c.as_user("eve");
    until_granted(&eve, &path).await;
    let patch =
        json!([{"op": "add", "path": "/status/conditions/-", "value": condition("Ready", "True")}]);
    eve.patch(Patch::Json, &format!("{path}/status"), &patch).await.is(200);
    eve.patch(Patch::Json, &path, &patch).await.fails(403, "Forbidden");
    eve.get(&format!("{path}/status")).await.fails(403, "Forbidden");
    revoke(&c).await;
}

async fn stars_grant_everything(c: Cluster) {
    let rules = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    grant(&c, "finn", &rules).await;
    let finn = c.as_user("finn");
    until_granted(&finn, "/api/v1/nodes").await;
    let (path, _) = finn.new_claim("claim").await;
    finn.patch(Patch::Merge, &format!("{path}/status"), &json!({"status": {"nodeName": "n"}}))
        .await
        .is(200);
    finn.delete(&path).await.is(200);
    revoke(&c).await;
}

async fn review(user: &Cluster, attributes: &Value) -> Value {
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    user.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &body).await.is(201)
}

async fn users_may_review_their_own_access(c: Cluster) {
    let attributes = json!({"verb": "delete", "group": "karpenter.sh", "resource": "nodeclaims"});
    let answer = review(&c, &attributes).await;
    assert_eq!(answer["status"]["allowed"], true);
    let answer = review(&c.as_user("hal"), &attributes).await;
    assert_eq!(answer["status"]["allowed"], false);
}
