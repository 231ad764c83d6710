use futures::StreamExt as _;
use kube::api::{WatchEvent, WatchParams};
use serde_json::json;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_watch_ends_after_its_time_and_has_bookmarks_before() {
    let world = World::api();
    let maps = world.maps();
    let params = WatchParams::default().timeout(150);
    let mut watch = maps.watch(&params, "0").await.unwrap().boxed();
    // After one minute, after two, and two seconds before the end.
    for _ in 0..3 {
        assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Bookmark(_)))));
    }
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
