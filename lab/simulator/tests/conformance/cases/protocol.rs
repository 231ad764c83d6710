//! The protocol: status subresources, dry runs, tables, discovery, errors.

use serde_json::{Value, json};

use crate::answer::{names, text, version};
use crate::case::cases;
use crate::cluster::{Cluster, Patch, pod};

cases!("protocol":
    a_dry_creation_creates_nothing,
    a_dry_creation_is_validated,
    a_dry_patch_changes_nothing,
    a_table_has_the_columns_of_the_definition,
    a_table_of_pods_can_be_asked_for,
    metadata_alone_can_be_asked_for,
    groups_are_discovered,
    resources_are_discovered,
    a_custom_resource_is_discovered,
    version_is_served,
    an_unknown_path_is_not_found,
    an_unknown_resource_is_not_found,
    disallowed_method_is_rejected;
    on_both:
    a_new_claim_has_no_status,
    a_status_can_be_read_alone;
    since 25:
    an_openapi_document_is_there,
);

async fn a_new_claim_has_no_status(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["status"] = json!({"nodeName": "n"});
    let made = c.post(&c.claims(), &claim).await.is(201);
    assert!(made["status"].is_null());
}

async fn a_status_can_be_read_alone(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    assert_eq!(c.get(&format!("{path}/status")).await.is(200), claim);
}

async fn a_dry_creation_creates_nothing(c: Cluster) {
    let made = c.post(&format!("{}?dryRun=All", c.claims()), &c.claim("claim")).await.is(201);
    assert_eq!(text(&made, "/metadata/uid").len(), 36);
    assert_eq!(made["spec"]["expireAfter"], "720h");
    c.get(&format!("{}/{}", c.claims(), c.name("claim"))).await.fails(404, "NotFound");
}

async fn a_dry_creation_is_validated(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["spec"]["expireAfter"] = json!("soon");
    c.post(&format!("{}?dryRun=All", c.claims()), &claim).await.fails(422, "Invalid");
    c.new_claim("claim").await;
    let answer = c.post(&format!("{}?dryRun=All", c.claims()), &c.claim("claim")).await;
    answer.fails(409, "AlreadyExists");
}

async fn a_dry_patch_changes_nothing(c: Cluster) {
    let (path, claim) = c.new_claim("claim").await;
    let patch = json!({"metadata": {"labels": {"a": "b"}}});
    let shown = c.patch(Patch::Merge, &format!("{path}?dryRun=All"), &patch).await.is(200);
    assert_eq!(shown["metadata"]["labels"]["a"], "b");
    assert_eq!(version(&shown), version(&claim));
    assert!(c.get(&path).await.is(200)["metadata"]["labels"].is_null());
}

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

async fn table(c: &Cluster, path: &str) -> Value {
    let answer = c.send("GET", path, None, TABLE, String::new()).await.is(200);
    assert_eq!(answer["kind"], "Table");
    assert_eq!(answer["apiVersion"], "meta.k8s.io/v1");
    answer
}

fn columns(table: &Value) -> Vec<&str> {
    let columns = table["columnDefinitions"].as_array().unwrap();
    columns.iter().map(|column| text(column, "/name")).collect()
}

async fn a_table_has_the_columns_of_the_definition(c: Cluster) {
    let (path, _) = c.claim_with_conditions(&["Launched", "Ready"]).await;
    let labels = json!({"metadata": {"labels": {
        "node.kubernetes.io/instance-type": "Standard_D4s_v5",
        "karpenter.sh/nodepool": "default",
    }}});
    c.patch(Patch::Merge, &path, &labels).await.is(200);
    let selector = format!("fieldSelector=metadata.name%3D{}", c.name("claim"));
    let table = table(&c, &format!("{}?{selector}", c.claims())).await;
    assert_eq!(
        columns(&table),
        [
            "Name",
            "Type",
            "Capacity",
            "Zone",
            "Node",
            "Ready",
            "Age",
            "NodePool",
            "NodeClass",
            "Drifted"
        ]
    );
    assert_eq!(table["columnDefinitions"][9]["priority"], 1);
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[0], c.name("claim"));
    assert_eq!(cells[1], "Standard_D4s_v5");
    assert!(cells[4].is_null() || cells[4] == "", "{cells:?}");
    assert_eq!(cells[5], "Unknown");
    assert_eq!(cells[7], "default");
    assert_eq!(cells[8], "default");
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    text(&table, "/metadata/resourceVersion");
}

async fn a_table_of_pods_can_be_asked_for(c: Cluster) {
    let pods = format!("{}/pods", c.namespace().await);
    c.post(&pods, &pod("p")).await.is(201);
    let table = table(&c, &pods).await;
    assert_eq!(columns(&table)[..5], ["Name", "Ready", "Status", "Restarts", "Age"]);
    assert_eq!(table["rows"][0]["cells"][0], "p");
    assert_eq!(table["rows"][0]["cells"][1], "0/1");
    assert_eq!(table["rows"][0]["cells"][2], "Pending");
}

async fn metadata_alone_can_be_asked_for(c: Cluster) {
    let (path, claim) = c.new_claim("claim").await;
    let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
    let partial = c.send("GET", &path, None, accept, String::new()).await.is(200);
    assert_eq!(partial["kind"], "PartialObjectMetadata");
    assert_eq!(partial["metadata"]["uid"], claim["metadata"]["uid"]);
    assert!(partial["spec"].is_null());
    let accept =
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
    let selector = format!("fieldSelector=metadata.name%3D{}", c.name("claim"));
    let list =
        c.send("GET", &format!("{}?{selector}", c.claims()), None, accept, String::new()).await;
    let list = list.is(200);
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(names(&list), [c.name("claim")]);
}

async fn groups_are_discovered(c: Cluster) {
    let apis = c.get("/apis").await.is(200);
    assert_eq!(apis["kind"], "APIGroupList");
    let groups = apis["groups"].as_array().unwrap();
    let group = groups.iter().find(|group| group["name"] == "karpenter.azure.com").unwrap();
    assert_eq!(group["preferredVersion"]["version"], "v1beta1");
    let versions = group["versions"].as_array().unwrap();
    let versions: Vec<&str> = versions.iter().map(|version| text(version, "/version")).collect();
    assert_eq!(versions, ["v1beta1", "v1alpha2"]);
    for name in
        ["apps", "coordination.k8s.io", "events.k8s.io", "policy", "rbac.authorization.k8s.io"]
    {
        assert!(groups.iter().any(|group| group["name"] == name), "{name}");
    }
}

async fn resources_are_discovered(c: Cluster) {
    let list = c.get("/api/v1").await.is(200);
    assert_eq!(list["kind"], "APIResourceList");
    assert_eq!(list["groupVersion"], "v1");
    let resources = list["resources"].as_array().unwrap();
    let find = |name: &str| resources.iter().find(|resource| resource["name"] == name).unwrap();
    assert_eq!(find("pods")["kind"], "Pod");
    assert_eq!(find("pods")["namespaced"], true);
    assert_eq!(find("pods")["shortNames"], json!(["po"]));
    assert_eq!(find("nodes")["namespaced"], false);
    assert_eq!(find("pods/eviction")["kind"], "Eviction");
    assert_eq!(find("pods/eviction")["group"], "policy");
    let verbs = find("configmaps")["verbs"].as_array().unwrap();
    for verb in ["create", "delete", "get", "list", "patch", "update", "watch"] {
        assert!(verbs.contains(&json!(verb)), "{verb}");
    }
}

async fn a_custom_resource_is_discovered(c: Cluster) {
    let list = c.get("/apis/karpenter.azure.com/v1beta1").await.is(200);
    let resources = list["resources"].as_array().unwrap();
    let find = |name: &str| resources.iter().find(|resource| resource["name"] == name).unwrap();
    let class = find("aksnodeclasses");
    assert_eq!(class["kind"], "AKSNodeClass");
    assert_eq!(class["singularName"], "aksnodeclass");
    assert_eq!(class["namespaced"], false);
    assert_eq!(class["shortNames"], json!(["aksnc", "aksncs"]));
    assert_eq!(class["categories"], json!(["karpenter", "nap"]));
    assert_eq!(find("aksnodeclasses/status")["verbs"], json!(["get", "patch", "update"]));
}

async fn version_is_served(c: Cluster) {
    let version = c.get("/version").await.is(200);
    assert_eq!(version["major"], "1");
    assert!(text(&version, "/gitVersion").starts_with("v1."));
}

async fn an_openapi_document_is_there(c: Cluster) {
    let index = c.get("/openapi/v3").await.is(200);
    let document = c.get(text(&index, "/paths/api~1v1/serverRelativeURL")).await.is(200);
    let pods = &document["paths"]["/api/v1/namespaces/{namespace}/pods"]["post"];
    assert!(pods["parameters"].to_string().contains("fieldValidation"), "{pods}");
}

async fn an_unknown_path_is_not_found(c: Cluster) {
    let answer = c.get("/apis/absent.example.com/v1/things").await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.body, "404 page not found\n");
}

async fn an_unknown_resource_is_not_found(c: Cluster) {
    let status = c.get("/api/v1/things").await.fails(404, "NotFound");
    assert_eq!(text(&status, "/message"), "the server could not find the requested resource");
    assert_eq!(status["details"], json!({}));
}

async fn disallowed_method_is_rejected(c: Cluster) {
    c.post("/api/v1/nodes/n", &json!({})).await.fails(405, "MethodNotAllowed");
    let answer = c.put("/api/v1/nodes", &json!({})).await;
    let status = answer.fails(405, "MethodNotAllowed");
    assert_eq!(
        text(&status, "/message"),
        "the server does not allow this method on the requested resource"
    );
}
