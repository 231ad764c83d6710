//! Reads and effects through the Kubernetes API.

use http::Method;
use serde_json::{Value, json};

use mooring_k8s::{Client, Response};

use crate::names::pool_of_config_map;
use crate::observation::{Node, Pdb, Pod, Replicas};
use mooring_workflow::responses::{change, list, read};
use mooring_workflow::{EffectResult, Reading};

#[derive(Clone)]
pub(crate) struct ClusterApi(pub(crate) Client);

impl ClusterApi {
    /// Reads the uid of the namespace `kube-system`.
    pub(crate) async fn uid(&self) -> Reading<String> {
        let uid = |body: &Value| body["metadata"]["uid"].as_str().map(str::to_owned);
        read(&self.0, "/api/v1/namespaces/kube-system", uid).await
    }

    /// Reads if Karpenter has a NodePool of this name, which is one of a pool.
    pub(crate) async fn node_pool(&self, name: &str) -> Reading<()> {
        read(&self.0, &format!("/apis/karpenter.sh/v1/nodepools/{name}"), |_| Some(())).await
    }

    /// Reads the names of the pools that have a journal in a namespace.
    pub(crate) async fn journals(&self, namespace: &str) -> Reading<Vec<String>> {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        let pools = |body: &Value| {
            let items = body["items"].as_array()?.iter();
            let names = items.filter_map(|item| item["metadata"]["name"].as_str());
            Some(names.filter_map(pool_of_config_map).map(str::to_owned).collect())
        };
        list(&self.0, &path, pools).await
    }

    pub(crate) async fn nodes(&self) -> Reading<Vec<Node>> {
        exists(list(&self.0, "/api/v1/nodes", Node::read_list).await)
    }

    pub(crate) async fn pods(&self) -> Reading<Vec<Pod>> {
        exists(list(&self.0, "/api/v1/pods", Pod::read_list).await)
    }

    pub(crate) async fn pdbs(&self) -> Reading<Vec<Pdb>> {
        let pdbs = |version: &str| {
            let path = format!("/apis/policy/{version}/poddisruptionbudgets");
            async move { list(&self.0, &path, Pdb::read_list).await }
        };
        match pdbs("v1").await {
            // Older servers have only the beta API.
            Reading::NotFound => pdbs("v1beta1").await,
            found => found,
        }
    }

    /// Reads the desired replicas of `namespace/kind/name`.
    pub(crate) async fn replicas(&self, workload: &str) -> Reading<Replicas> {
        let parts: Vec<&str> = workload.split('/').collect();
        let (namespace, resource, name) = match parts[..] {
            [namespace, "ReplicaSet", name] => (namespace, "replicasets", name),
            [namespace, "StatefulSet", name] => (namespace, "statefulsets", name),
            _ => return Reading::Failed("its kind is unknown".to_owned()),
        };
        let path = format!("/apis/apps/v1/namespaces/{namespace}/{resource}/{name}");
        read(&self.0, &path, Replicas::read).await
    }

    /// Cordons or uncordons. The uid makes the server reject it for another node of the same name.
    pub(crate) async fn set_unschedulable(
        &self,
        node: &str,
        uid: &str,
        unschedulable: bool,
    ) -> EffectResult {
        let mut body = json!({"spec": {"unschedulable": unschedulable}});
        if !uid.is_empty() {
            body["metadata"] = json!({ "uid": uid });
        }
        let path = format!("/api/v1/nodes/{node}");
        self.0.send(Method::PATCH, &path, Some(&body)).await.into()
    }

    pub(crate) async fn evict(&self, namespace: &str, pod: &str, uid: &str) -> EffectResult {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}/eviction");
        let send = async |version| {
            let body = eviction(version, namespace, pod, uid);
            self.0.send(Method::POST, &path, Some(&body)).await
        };
        let mut answer = send("policy/v1").await;
        if answer.as_ref().is_ok_and(is_unknown_version) {
            answer = send("policy/v1beta1").await;
        }
        EffectResult::from(answer).or_gone()
    }

    /// Deletes a pod regardless of PDBs.
    pub(crate) async fn delete_pod(&self, namespace: &str, pod: &str, uid: &str) -> EffectResult {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}");
        let body = json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions(uid),
        });
        change(&self.0, Method::DELETE, &path, &body).await
    }
}

/// Returns the list of a type that every cluster has: without it, the answer is not one.
fn exists<T>(list: Reading<T>) -> Reading<T> {
    match list {
        Reading::NotFound => Reading::Failed("the server does not know the type".to_owned()),
        read => read,
    }
}

fn eviction(version: &str, namespace: &str, pod: &str, uid: &str) -> Value {
    json!({
        "apiVersion": version, "kind": "Eviction",
        "metadata": {"name": pod, "namespace": namespace},
        "deleteOptions": {"preconditions": preconditions(uid)},
    })
}

/// Restricts a request to this pod, since another one may have the same name.
fn preconditions(uid: &str) -> Value {
    if uid.is_empty() { json!(null) } else { json!({ "uid": uid }) }
}

fn is_unknown_version(answer: &Response) -> bool {
    answer.status == 400 && answer.refusal().1.contains("no kind \"Eviction\" is registered")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use http_body_util::BodyExt as _;

    use super::*;
    use mooring_workflow::Refusal;

    /// An API that answers by a script, and what it was asked.
    fn scripted(answers: Vec<(u16, Value)>) -> (ClusterApi, Arc<Mutex<Vec<Value>>>) {
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let answers = Arc::new(Mutex::new(answers.into_iter()));
        let asked = Arc::clone(&requests);
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let (asked, answers) = (Arc::clone(&asked), Arc::clone(&answers));
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                asked.lock().unwrap().push(serde_json::from_slice(&body).unwrap_or_default());
                let (status, body) = answers.lock().unwrap().next().expect("no more answers");
                let body = kube::client::Body::from(body.to_string().into_bytes());
                Ok::<_, std::io::Error>(
                    http::Response::builder().status(status).body(body).unwrap(),
                )
            }
        });
        (ClusterApi(Client::new(kube::Client::new(service, "default"))), requests)
    }

    #[tokio::test]
    async fn eviction_has_the_uid_of_the_pod() {
        let (api, requests) = scripted(vec![(201, json!({"status": "Success"}))]);
        assert_eq!(api.evict("ns", "p", "u1").await, EffectResult::Done);
        let requests = requests.lock().unwrap();
        assert_eq!(requests[0]["apiVersion"], "policy/v1");
        assert_eq!(requests[0]["deleteOptions"]["preconditions"]["uid"], "u1");
        assert_eq!(requests[0]["metadata"], json!({"name": "p", "namespace": "ns"}));
    }

    #[tokio::test]
    async fn older_server_gets_the_beta_eviction() {
        let unknown = json!({"message": "no kind \"Eviction\" is registered for version \"policy/v1\" in scheme"});
        let (api, requests) = scripted(vec![(400, unknown), (201, json!({}))]);
        assert_eq!(api.evict("ns", "p", "u").await, EffectResult::Done);
        let versions: Vec<_> =
            requests.lock().unwrap().iter().map(|body| body["apiVersion"].clone()).collect();
        assert_eq!(versions, ["policy/v1", "policy/v1beta1"]);
    }

    #[tokio::test]
    async fn rejected_eviction_is_mapped_by_its_reason() {
        let body = |status| json!({"reason": "R", "message": "m", "code": status});
        for (status, wanted) in
            [(429, Refusal::Later), (409, Refusal::ReadAgain), (403, Refusal::Final)]
        {
            let (api, requests) = scripted(vec![(status, body(status))]);
            assert_eq!(api.evict("ns", "p", "u").await.refusal(), Some(wanted), "{status}");
            assert_eq!(requests.lock().unwrap().len(), 1, "nothing is repeated here");
        }
        let (api, _) = scripted(vec![(404, body(404))]);
        assert_eq!(api.evict("ns", "p", "u").await, EffectResult::AlreadyDone);
    }

    #[tokio::test]
    async fn list_that_expires_is_restarted() {
        let page = |name: &str, next: &str| json!({"metadata": {"continue": next}, "items": [{"metadata": {"name": name, "uid": name}}]});
        let (api, _) = scripted(vec![
            (200, page("a", "t")),
            (410, json!({"reason": "Expired"})),
            (200, page("a", "t")),
            (200, page("b", "")),
        ]);
        let Reading::Known(nodes) = api.nodes().await else { panic!() };
        let names: Vec<_> = nodes.into_iter().map(|node| node.name).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
