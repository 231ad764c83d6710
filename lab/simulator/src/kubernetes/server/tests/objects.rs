use kube::api::ListParams;
use serde_json::json;

use super::*;

#[tokio::test(start_paused = true)]
async fn continued_list_of_forgotten_history_is_gone() {
    let world = World::api();
    let maps = world.maps();
    for name in ["a", "b"] {
        create(&maps, map(name, json!({}))).await.unwrap();
    }
    let first = maps.list(&ListParams::default().limit(1)).await.unwrap();
    let token = first.metadata.continue_.unwrap();
    create(&maps, map("c", json!({}))).await.unwrap();
    world.shell.with(|model, _| model.forget_history());
    let gone = maps.list(&ListParams::default().continue_token(&token)).await;
    assert_eq!(refusal(gone).0, 410);
}

#[tokio::test(start_paused = true)]
async fn unknown_members_are_pruned_and_missing_ones_defaulted() {
    let world = World::api();
    world.define_widgets().await;
    let spec = json!({"size": 1, "unknown": 1, "anything": {"deep": {"er": 1}}});
    let made = create(&world.widgets(), widget("w", spec)).await.unwrap();
    assert_eq!(made["spec"], json!({"size": 1, "colour": "red", "anything": {"deep": {"er": 1}}}));
}

#[tokio::test(start_paused = true)]
async fn the_model_remembers_who_wrote_what() {
    let world = World::api();
    world.define_widgets().await;
    create(&world.widgets(), widget("w", json!({"size": 1}))).await.unwrap();
    let status = "/apis/example.com/v1/widgets/w/status";
    let body = json!({"status": {"conditions": [{"type": "A", "status": "1"}]}});
    for _ in 0..2 {
        world.raw("PATCH", status, "application/merge-patch+json", body.clone()).await;
    }
    let key = crate::kubernetes::Key::new(None, "w");
    let writes: Vec<(String, String)> = world.shell.with(|model, _| {
        model
            .writes_to("widgets.example.com", &key)
            .map(|one| (one.verb.to_owned(), one.subresource.clone()))
            .collect()
    });
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(writes, [pair("create", ""), pair("patch", "status")]);
}
