//! A real kube-apiserver takes what the chart renders, and drops nothing of it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kube::api::{Api, DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use mooring_testbed::{RealCluster, Users, require};
use serde_json::Value;

use crate::chart::helm::{CASES, NAMESPACE, objects, template};

/// Time that a new kind may take to be served.
const SERVED_WITHIN: Duration = Duration::from_mins(1);

/// Definitions of the Prometheus operator's kinds, which a plain server does not have.
const OPERATOR: &str = include_str!("prometheus-operator.yaml");

/// Defines the kinds of the Prometheus operator, and waits until they are served.
async fn define_kinds(client: &kube::Client) {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let definitions: Api<DynamicObject> =
        Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    for definition in objects(OPERATOR) {
        let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
        let kind = definition["spec"]["names"]["kind"].as_str().unwrap();
        let served =
            ApiResource::from_gvk(&GroupVersionKind::gvk("monitoring.coreos.com", "v1", kind));
        let definition = serde_json::from_value(definition).unwrap();
        definitions.create(&PostParams::default(), &definition).await.unwrap();
        let served: Api<DynamicObject> = Api::all_with(client.clone(), &served);
        let began = Instant::now();
        while served.list(&ListParams::default()).await.is_err() {
            assert!(began.elapsed() < SERVED_WITHIN, "{name} is not served");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn a_real_api_server_takes_every_object_whole() {
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
    define_kinds(&admin).await;
    let mut kinds = BTreeSet::new();
    for (name, values) in CASES {
        for object in objects(&template(values, &[]).unwrap().unwrap()) {
            let kind = object["kind"].as_str().unwrap();
            kinds.insert(kind.to_owned());
            let stored = match create(&admin, &object).await {
                // Servers before 1.21 have the same budget under its older name.
                Err(kube::Error::Api(refusal))
                    if refusal.code == 404 && kind.starts_with("PodD") =>
                {
                    let mut older = object.clone();
                    older["apiVersion"] = "policy/v1beta1".into();
                    create(&admin, &older).await
                }
                stored => stored,
            };
            let mut stored = stored.unwrap_or_else(|error| panic!("{name}: {kind}: {error}"));
            stored["apiVersion"] = object["apiVersion"].clone();
            lost(&object, &stored, kind);
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
    let only_tried = PostParams { dry_run: true, field_manager: None };
    let created = api.create(&only_tried, &serde_json::from_value(object.clone()).unwrap()).await?;
    Ok(serde_json::to_value(created).unwrap())
}

/// A server drops members that it does not know without a word: a misspelled one shows here.
fn lost(sent: &Value, stored: &Value, place: &str) {
    match (sent, stored) {
        (Value::Object(sent), Value::Object(stored)) => {
            for (name, value) in sent {
                let place = format!("{place}.{name}");
                lost(value, stored.get(name).unwrap_or_else(|| panic!("{place} is lost")), &place);
            }
        }
        (Value::Array(sent), Value::Array(stored)) => {
            assert_eq!(sent.len(), stored.len(), "{place}");
            for (index, (sent, stored)) in sent.iter().zip(stored).enumerate() {
                lost(sent, stored, &format!("{place}[{index}]"));
            }
        }
        _ => assert_eq!(sent, stored, "{place}"),
    }
}
