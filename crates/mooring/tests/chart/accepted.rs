//! A real kube-apiserver takes what the chart renders, and drops nothing of it.

use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use mooring_testbed::{RealCluster, Users, require};
use serde_json::Value;

use crate::helm::{CASES, NAMESPACE, objects, template};

/// Kinds of the Prometheus operator, which a plain server does not have.
const NOT_BUILT_IN: [&str; 2] = ["ServiceMonitor", "PrometheusRule"];

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
    for (name, values) in CASES {
        for object in objects(&template(values, &[]).unwrap().unwrap()) {
            let kind = object["kind"].as_str().unwrap();
            if NOT_BUILT_IN.contains(&kind) {
                continue;
            }
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
