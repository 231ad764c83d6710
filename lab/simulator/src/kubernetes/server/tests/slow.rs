use futures::StreamExt as _;
use serde_json::json;

use super::*;
use crate::exchange::{Body, Response, ServerReply};

fn ask(model: &mut Kubernetes, path: &str) -> Response {
    let request = http::Request::get(path).body(bytes::Bytes::new()).unwrap();
    match model.handle(&request, start()) {
        ServerReply::Answer(response) => response,
        other => panic!("an answer was expected, not {other:?}"),
    }
}

#[tokio::test]
async fn fifty_thousand_objects_are_listed_and_fanned_out() {
    let mut model = Kubernetes::new(KubernetesOptions {
        start: start(),
        ..KubernetesOptions::default()
    });
    for n in 0..50_000 {
        model.create(map(&format!("m{n:05}"), json!({"x": "1"})), start()).unwrap();
    }
    assert_eq!(model.count("configmaps"), 50_000);
    let list: Value =
        serde_json::from_slice(&ask(&mut model, "/api/v1/configmaps").body().bytes()).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 50_000);
    let path = format!("/api/v1/configmaps?watch=true&resourceVersion={}", model.revision());
    let mut watches: Vec<_> = (0..100)
        .map(|_| match ask(&mut model, &path).into_body() {
            Body::Stream(stream) => stream,
            Body::Full(_) => panic!("a stream was expected"),
        })
        .collect();
    let key = crate::kubernetes::Key::new(Some("default"), "m00007");
    for n in 0..100 {
        model.change("configmaps", &key, &json!({"data": {"x": n.to_string()}}), start()).unwrap();
    }
    model.restart();
    for watch in &mut watches {
        assert_eq!(watch.by_ref().count().await, 100);
    }
    println!("{} objects take about {} KiB", model.total(), model.memory() / 1024);
}
