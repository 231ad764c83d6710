//! Dry-run creation of the rendered objects in a real kube-apiserver.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kube::api::{Api, DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use mooring_testbed::{RealCluster, Users, require};
use serde_json::Value;

use crate::chart::helm::{CASES, NAMESPACE, objects, template};

const CRD_TIMEOUT: Duration = Duration::from_mins(1);

/// CRDs of the Prometheus operator.
const OPERATOR_CRDS: &str = include_str!("prometheus-operator.yaml");

/// Creates the CRDs of the Prometheus operator, and waits until they are served.
async fn create_crds(client: &kube::Client) {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let crds: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    for crd in objects(OPERATOR_CRDS) {
        let name = crd["metadata"]["name"].as_str().unwrap().to_owned();
        let kind = crd["spec"]["names"]["kind"].as_str().unwrap();
        let served =
            ApiResource::from_gvk(&GroupVersionKind::gvk("monitoring.coreos.com", "v1", kind));
        let crd = serde_json::from_value(crd).unwrap();
        crds.create(&PostParams::default(), &crd).await.unwrap();
        let served: Api<DynamicObject> = Api::all_with(client.clone(), &served);
        let start = Instant::now();
        while served.list(&ListParams::default()).await.is_err() {
            assert!(start.elapsed() < CRD_TIMEOUT, "{name} is not served");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn kube_apiserver_accepts_every_object_unchanged() {
    let Some(_) = template(None, &[]) else { return };
    let Some(real) = require(RealCluster::start().await.unwrap(), "kube-apiserver") else { return };
    let admin = real.client(Users::ADMIN).await.unwrap();
    // `helm install --create-namespace` does this.
    let kind = GroupVersionKind::gvk("", "v1", "Namespace");
    let namespaces: Api<DynamicObject> =
        Api::all_with(admin.clone(), &ApiResource::from_gvk(&kind));
    let namespace = serde_json::json!({"metadata": {"name": NAMESPACE}});
    let namespace = serde_json::from_value(namespace).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    create_crds(&admin).await;
    let mut kinds = BTreeSet::new();
    for (name, values) in CASES {
        for object in objects(&template(values, &[]).unwrap().unwrap()) {
            let kind = object["kind"].as_str().unwrap();
            kinds.insert(kind.to_owned());
            let stored = match create(&admin, &object).await {
                // Servers before 1.21 have PodDisruptionBudgets in policy/v1beta1.
                Err(kube::Error::Api(error)) if error.code == 404 && kind.starts_with("PodD") => {
                    let mut older = object.clone();
                    older["apiVersion"] = "policy/v1beta1".into();
                    create(&admin, &older).await
                }
                stored => stored,
            };
            let mut stored = stored.unwrap_or_else(|error| panic!("{name}: {kind}: {error}"));
            stored["apiVersion"] = object["apiVersion"].clone();
            assert_stored(&object, &stored, kind);
        }
    }
    for kind in ["ServiceMonitor", "PrometheusRule"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
}

async fn create(client: &kube::Client, object: &Value) -> Result<Value, kube::Error> {
    let version = object["apiVersion"].as_str().unwrap();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str().unwrap());
    let resource = ApiResource::from_gvk(&kind);
    let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let dry_run = PostParams { dry_run: true, field_manager: None };
    let created = api.create(&dry_run, &serde_json::from_value(object.clone()).unwrap()).await?;
    Ok(serde_json::to_value(created).unwrap())
}

/// Fails if the server dropped or changed a field; unknown fields are dropped silently.
fn assert_stored(sent: &Value, stored: &Value, place: &str) {
    match (sent, stored) {
        (Value::Object(sent), Value::Object(stored)) => {
            for (name, value) in sent {
                let place = format!("{place}.{name}");
                assert_stored(
                    value,
                    stored.get(name).unwrap_or_else(|| panic!("{place} was dropped")),
                    &place,
                );
            }
        }
        (Value::Array(sent), Value::Array(stored)) => {
            assert_eq!(sent.len(), stored.len(), "{place}");
            for (index, (sent, stored)) in sent.iter().zip(stored).enumerate() {
                assert_stored(sent, stored, &format!("{place}[{index}]"));
            }
        }
        _ => assert_eq!(sent, stored, "{place}"),
    }
}
