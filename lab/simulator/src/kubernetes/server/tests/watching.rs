use futures::StreamExt as _;
use kube::api::{DeleteParams, Patch, PatchParams, WatchEvent, WatchParams};
use serde_json::json;

use super::*;

/// The next events of a watch, each as its type and the object's name.
async fn next(
    stream: &mut (impl futures::Stream<Item = kube::Result<WatchEvent<DynamicObject>>> + Unpin),
    count: usize,
) -> Vec<String> {
    let mut seen = Vec::new();
    for _ in 0..count {
        let name = |object: &DynamicObject| object.metadata.name.clone().unwrap_or_default();
        seen.push(match stream.next().await.expect("the watch goes on").unwrap() {
            WatchEvent::Added(object) => format!("+{}", name(&object)),
            WatchEvent::Modified(object) => format!("~{}", name(&object)),
            WatchEvent::Deleted(object) => format!("-{}", name(&object)),
            WatchEvent::Bookmark(_) => "bookmark".to_owned(),
            WatchEvent::Error(status) => format!("error {}", status.code),
        });
    }
    seen
}

async fn label(api: &Api<DynamicObject>, name: &str, value: Value) {
    let patch = Patch::Merge(json!({"metadata": {"labels": {"k": value}}}));
    api.patch(name, &PatchParams::default(), &patch).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn watch_reports_changes_and_resumes_at_a_version() {
    let world = World::api();
    let maps = world.maps();
    let first = create(&maps, map("a", json!({}))).await.unwrap();
    let mut watch = maps.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    assert_eq!(next(&mut watch, 1).await, ["+a"]);
    create(&maps, map("b", json!({}))).await.unwrap();
    label(&maps, "a", json!("1")).await;
    maps.delete("b", &DeleteParams::default()).await.unwrap();
    assert_eq!(next(&mut watch, 3).await, ["+b", "~a", "-b"]);
    drop(watch);
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    let mut again = maps.watch(&WatchParams::default(), version).await.unwrap().boxed();
    assert_eq!(next(&mut again, 3).await, ["+b", "~a", "-b"]);
}

#[tokio::test(start_paused = true)]
async fn object_leaving_the_selector_is_deleted_for_the_watch() {
    let world = World::api();
    let maps = world.maps();
    create(&maps, map("a", json!({}))).await.unwrap();
    let mut watch = maps.watch(&WatchParams::default().labels("k=1"), "0").await.unwrap().boxed();
    label(&maps, "a", json!("1")).await;
    label(&maps, "a", json!("2")).await;
    label(&maps, "a", json!("1")).await;
    assert_eq!(next(&mut watch, 3).await, ["+a", "-a", "+a"]);
}

#[tokio::test(start_paused = true)]
async fn watch_from_a_compacted_version_fails() {
    let world = World::api();
    let maps = world.maps();
    let made = create(&maps, map("a", json!({}))).await.unwrap();
    create(&maps, map("b", json!({}))).await.unwrap();
    world.shell.with(|model, _| model.forget_history());
    let version = made["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = maps.watch(&WatchParams::default(), version).await.unwrap().boxed();
    assert_eq!(next(&mut watch, 1).await, ["error 410"]);
    assert!(watch.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_after_its_time_and_has_bookmarks_before() {
    let world = World::api();
    let maps = world.maps();
    let params = WatchParams::default().timeout(150);
    let mut watch = maps.watch(&params, "0").await.unwrap().boxed();
    // After one minute, after two, and two seconds before the end.
    assert_eq!(next(&mut watch, 3).await, ["bookmark", "bookmark", "bookmark"]);
    assert!(watch.next().await.is_none());
    assert_eq!(world.shell.now().duration_since(start()).as_secs(), 150);
    assert_eq!(world.shell.with(|model, _| model.open_watches()), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_ends_its_watch() {
    let world = World::api();
    let maps = world.maps();
    let watch = maps.watch(&WatchParams::default(), "0").await.unwrap();
    assert_eq!(world.shell.with(|model, _| model.open_watches()), 1);
    drop(watch);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(world.shell.with(|model, _| model.open_watches()), 0);
}

#[tokio::test(start_paused = true)]
async fn kube_watcher_sees_each_object_once_across_restart() {
    use kube::runtime::{WatchStreamExt as _, watcher};
    let world = World::api();
    let maps = world.maps();
    create(&maps, map("a", json!({}))).await.unwrap();
    let stream =
        watcher(maps.clone(), watcher::Config::default()).default_backoff().applied_objects();
    let mut stream = std::pin::pin!(stream);
    assert_eq!(stream.next().await.unwrap().unwrap().metadata.name.unwrap(), "a");
    create(&maps, map("b", json!({}))).await.unwrap();
    world.shell.with(|model, _| model.restart());
    let mut names = Vec::new();
    while !names.contains(&"b".to_owned()) {
        // After a restart the watcher lists again, in its own time.
        if let Ok(object) = stream.next().await.unwrap() {
            names.push(object.metadata.name.unwrap());
        }
    }
    assert_eq!(names, ["a", "b"]);
}
