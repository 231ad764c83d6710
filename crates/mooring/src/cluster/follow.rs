//! Lists that a watch keeps current, for commands that show the cluster again and again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncBufReadExt as _, StreamExt as _};
use mooring_controller::Settings;
use mooring_controller::run::{Api, ApiError};
use mooring_k8s::request::query_value;
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::{Claim, NodeItem, NodePage};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Pause after an error and between watches. Who may list but not watch gets a new list as often.
const PAUSE: Duration = Duration::from_secs(3);
/// Pause if the resource does not exist.
const ABSENT_PAUSE: Duration = Duration::from_secs(30);
/// The server ends a watch after this time.
const WATCH_SECONDS: u64 = 290;

/// The large lists of a cluster.
pub(crate) enum Lists {
    /// Read every time.
    Read,
    /// Kept current by watches.
    Followed { claims: Followed<Arc<Claim>>, nodes: Followed<NodeItem> },
}

impl Lists {
    /// Starts watches, which end with the value.
    pub(crate) fn follow(client: &kube::Client) -> Self {
        Self::Followed { claims: Followed::start(client), nodes: Followed::start(client) }
    }

    pub(super) fn is_followed(&self) -> bool {
        matches!(self, Self::Followed { .. })
    }

    /// Returns the NodeClaims; none if the cluster has no Karpenter.
    pub(super) async fn claims(&self, api: &Api) -> Result<Option<Vec<Arc<Claim>>>, ApiError> {
        match self {
            Self::Read => Ok(<Arc<Claim>>::list(api).await?.map(|listed| listed.items)),
            Self::Followed { claims, .. } => claims.current().await,
        }
    }

    pub(super) async fn nodes(&self, api: &Api) -> Result<Option<Vec<NodeItem>>, ApiError> {
        match self {
            Self::Read => Ok(NodeItem::list(api).await?.map(|listed| listed.items)),
            Self::Followed { nodes, .. } => nodes.current().await,
        }
    }
}

/// An object that can be listed and watched.
pub(crate) trait Listable: Clone + Send + Sync + 'static {
    const PATH: &'static str;

    /// Lists all objects; none if the resource does not exist.
    fn list(
        api: &Api,
    ) -> impl Future<Output = Result<Option<VersionedList<Self>>, ApiError>> + Send;

    fn parse(json: &RawValue) -> Option<Self>;

    fn uid(&self) -> &str;
}

impl Listable for Arc<Claim> {
    const PATH: &'static str = "/apis/karpenter.sh/v1/nodeclaims";

    async fn list(api: &Api) -> Result<Option<VersionedList<Self>>, ApiError> {
        let condition_type = Settings::default().condition_type;
        let mut interner = Interner::default();
        let claim = |item: &RawValue| claim(item, &condition_type, &mut interner);
        list_cached(api, Self::PATH, claim).await
    }

    fn parse(json: &RawValue) -> Option<Self> {
        claim(json, &Settings::default().condition_type, &mut Interner::default())
    }

    fn uid(&self) -> &str {
        &self.uid
    }
}

/// Parses a NodeClaim; none if it is not one of Azure.
fn claim(json: &RawValue, condition_type: &str, interner: &mut Interner) -> Option<Arc<Claim>> {
    Claim::from_json(json.get().as_bytes(), condition_type, interner).ok().map(Arc::new)
}

impl Listable for NodeItem {
    const PATH: &'static str = NODES;

    async fn list(api: &Api) -> Result<Option<VersionedList<Self>>, ApiError> {
        list_nodes(api).await
    }

    fn parse(json: &RawValue) -> Option<Self> {
        Self::parse(json)
    }

    fn uid(&self) -> &str {
        &self.uid
    }
}

/// The items of a list by uid, or why they are not known.
enum Items<T> {
    Starting,
    Absent,
    Current(BTreeMap<String, T>),
    Failed(ApiError),
}

/// A list that a task keeps current.
pub(crate) struct Followed<T> {
    items: watch::Receiver<Items<T>>,
    task: JoinHandle<()>,
}

impl<T> Drop for Followed<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<T: Listable> Followed<T> {
    fn start(client: &kube::Client) -> Self {
        let (sender, items) = watch::channel(Items::Starting);
        let task = tokio::spawn(follow(client.clone(), sender));
        Self { items, task }
    }

    /// Returns the items, after the first list; an error while the server cannot be read.
    async fn current(&self) -> Result<Option<Vec<T>>, ApiError> {
        let mut items = self.items.clone();
        let started = items.wait_for(|items| !matches!(items, Items::Starting)).await;
        match started.as_deref() {
            Ok(Items::Current(items)) => Ok(Some(items.values().cloned().collect())),
            Ok(Items::Failed(error)) => Err(error.clone()),
            Ok(Items::Absent | Items::Starting) | Err(_) => Ok(None),
        }
    }
}

/// Lists and watches, endlessly.
async fn follow<T: Listable>(client: kube::Client, list: watch::Sender<Items<T>>) {
    let api = Api::new(client.clone());
    loop {
        let pause = match T::list(&api).await {
            Ok(Some(VersionedList { items, mut version })) => {
                let by_uid = |item: T| (item.uid().to_owned(), item);
                list.send_replace(Items::Current(items.into_iter().map(by_uid).collect()));
                // The server ends a watch every few minutes; the next one continues it.
                while apply_events(&client, &list, &mut version).await.is_some() {
                    tokio::time::sleep(PAUSE).await;
                }
                PAUSE
            }
            Ok(None) => {
                list.send_replace(Items::Absent);
                ABSENT_PAUSE
            }
            Err(error) => {
                list.send_replace(Items::Failed(error));
                PAUSE
            }
        };
        tokio::time::sleep(pause).await;
    }
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    uid: String,
    resource_version: String,
}

/// Applies events until the server ends the watch; none after an error, whose reason another list finds.
async fn apply_events<T: Listable>(
    client: &kube::Client,
    list: &watch::Sender<Items<T>>,
    version: &mut String,
) -> Option<()> {
    let path = T::PATH;
    let request = http::Request::get(format!(
        "{path}?watch=1&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}&resourceVersion={version}"
    ));
    let stream = client.request_stream(request.body(Vec::new()).ok()?);
    let mut lines = std::pin::pin!(stream.await.ok()?.lines());
    while let Some(line) = lines.next().await {
        let line = line.ok()?;
        let mut seen = None;
        list.send_modify(|items| seen = apply(items, &line));
        *version = seen?;
    }
    Some(())
}

/// Applies an event and returns its version; none for an error.
fn apply<T: Listable>(state: &mut Items<T>, line: &str) -> Option<String> {
    let event: Event = serde_json::from_str(line).ok()?;
    let Items::Current(items) = state else { return None };
    if event.kind == "ERROR" {
        return None;
    }
    let Object { metadata } = serde_json::from_str(event.object.get()).ok()?;
    match event.kind {
        "ADDED" | "MODIFIED" => match T::parse(event.object) {
            Some(item) => drop(items.insert(metadata.uid, item)),
            None => drop(items.remove(&metadata.uid)),
        },
        "DELETED" => drop(items.remove(&metadata.uid)),
        // A bookmark has only a version.
        _ => {}
    }
    Some(metadata.resource_version)
}

pub(crate) const NODES: &str = "/api/v1/nodes";

/// Page by page: 5,000 Nodes with their images would be 60 MB at once.
const PAGES: &str = "limit=500";
/// As the API server has it in memory, all at once. Custom objects are converted for every other read, which takes the
/// server seconds for 5,000 of them.
const CACHED: &str = "resourceVersion=0";

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    metadata: ListMetadata,
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListMetadata {
    #[serde(rename = "continue")]
    follow: String,
    #[serde(rename = "resourceVersion")]
    version: String,
}

/// All items of a list, and its version, from which a watch continues.
pub(crate) struct VersionedList<T> {
    pub(crate) items: Vec<T>,
    pub(crate) version: String,
}

/// Reads a list and converts its items. None if the resource does not exist.
pub(crate) async fn list<T>(
    api: &Api,
    path: &str,
    item: impl FnMut(&RawValue) -> Option<T>,
) -> Result<Option<Vec<T>>, ApiError> {
    Ok(list_by(api, path, PAGES, item).await?.map(|listed| listed.items))
}

/// Reads a list of custom objects, which may be some seconds old.
pub(crate) async fn list_cached<T>(
    api: &Api,
    path: &str,
    item: impl FnMut(&RawValue) -> Option<T>,
) -> Result<Option<VersionedList<T>>, ApiError> {
    list_by(api, path, CACHED, item).await
}

async fn list_by<T>(
    api: &Api,
    path: &str,
    query: &str,
    mut item: impl FnMut(&RawValue) -> Option<T>,
) -> Result<Option<VersionedList<T>>, ApiError> {
    let mut items = Vec::new();
    let mut page = query.to_owned();
    let mut is_restarted = false;
    loop {
        let text = match api.get_list(&format!("{path}?{page}")).await {
            Ok(text) => text,
            Err(error) if error.status == Some(404) => return Ok(None),
            // The continue token has expired.
            Err(error) if error.status == Some(410) && !is_restarted => {
                is_restarted = true;
                items.clear();
                query.clone_into(&mut page);
                continue;
            }
            Err(error) => return Err(error),
        };
        let read: Page =
            serde_json::from_str(&text).map_err(|_| invalid("the list is not valid JSON"))?;
        items.extend(read.items.into_iter().filter_map(&mut item));
        if read.metadata.follow.is_empty() {
            return Ok(Some(VersionedList { items, version: read.metadata.version }));
        }
        page = format!("{PAGES}&continue={}", query_value(&read.metadata.follow));
    }
}

/// Reads all Nodes, in the binary format if the API server has it. Every API server has the type.
pub(crate) async fn list_nodes(api: &Api) -> Result<Option<VersionedList<NodeItem>>, ApiError> {
    let (mut nodes, mut labels) = (Vec::new(), Interner::default());
    let mut page = PAGES.to_owned();
    loop {
        let response = match api.get_binary_list(&format!("{NODES}?{page}")).await {
            Ok(response) => response,
            Err(error) if error.status == Some(404) => return Err(invalid(&error.what)),
            // The continue token has expired: read JSON from the first page.
            Err(error) if error.status == Some(410) => {
                return list_by(api, NODES, PAGES, NodeItem::parse).await;
            }
            Err(error) => return Err(error),
        };
        let read = NodePage::decode(&response).or_else(|| json_page(&response));
        let read = read.ok_or_else(|| invalid("the list of nodes is not valid"))?;
        nodes.extend(read.nodes.into_iter().map(|mut node| {
            node.intern(&mut labels);
            node
        }));
        if read.next.is_empty() {
            return Ok(Some(VersionedList { items: nodes, version: read.version }));
        }
        page = format!("{PAGES}&continue={}", query_value(&read.next));
    }
}

fn invalid(what: &str) -> ApiError {
    ApiError { status: None, what: what.to_owned(), is_untrusted: false }
}

fn json_page(response: &[u8]) -> Option<NodePage> {
    let page: Page = serde_json::from_slice(response).ok()?;
    let nodes = page.items.into_iter().filter_map(NodeItem::parse).collect();
    Some(NodePage { nodes, next: page.metadata.follow, version: page.metadata.version })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures::Server;

    fn event(kind: &str, uid: &str, version: &str, is_ready: bool) -> String {
        let status = if is_ready { "True" } else { "False" };
        json!({"type": kind, "object": {
            "metadata": {"name": uid, "uid": uid, "resourceVersion": version},
            "status": {"conditions": [{"type": "Ready", "status": status}]},
        }})
        .to_string()
    }

    fn names(state: &Items<NodeItem>) -> Vec<(&str, bool)> {
        let Items::Current(items) = state else { panic!("it is not current") };
        items.values().map(|node| (node.name.as_str(), node.is_ready)).collect()
    }

    #[test]
    fn events_change_the_list_and_return_their_version() {
        let mut state = Items::<NodeItem>::Current(BTreeMap::new());
        let mut apply = |line: &str| super::apply(&mut state, line);
        assert_eq!(apply(&event("ADDED", "a", "1", false)).as_deref(), Some("1"));
        assert_eq!(apply(&event("ADDED", "b", "2", true)).as_deref(), Some("2"));
        assert_eq!(apply(&event("MODIFIED", "a", "3", true)).as_deref(), Some("3"));
        let bookmark = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}"#;
        assert_eq!(apply(bookmark).as_deref(), Some("9"));
        let gone = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"metadata":{"resourceVersion":"1"}}}"#;
        for broken in [gone, "", "{", r#"{"type":"ADDED","object":{}}"#] {
            assert_eq!(apply(broken), None, "{broken}");
        }
        assert_eq!(names(&state), [("a", true), ("b", true)]);
        assert_eq!(
            super::apply(&mut state, &event("DELETED", "a", "10", true)).as_deref(),
            Some("10")
        );
        assert_eq!(names(&state), [("b", true)]);
        let mut starting = Items::<NodeItem>::Starting;
        assert_eq!(super::apply(&mut starting, &event("ADDED", "a", "1", true)), None);
    }

    const NODES: &str = "/api/v1/nodes?limit=500";

    fn watch_path(version: u32) -> String {
        format!(
            "/api/v1/nodes?watch=1&allowWatchBookmarks=true&timeoutSeconds=290&resourceVersion={version}"
        )
    }

    fn list_of(uid: &str, version: u32) -> String {
        let item = format!(r#"{{"metadata": {{"name": "{uid}", "uid": "{uid}"}}}}"#);
        format!(r#"{{"metadata": {{"resourceVersion": "{version}"}}, "items": [{item}]}}"#)
    }

    async fn wait_for(followed: &Followed<NodeItem>, expected: &str) {
        loop {
            let names = match followed.current().await {
                Ok(None) => "absent".to_owned(),
                Ok(Some(nodes)) => {
                    nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>().join(" ")
                }
                Err(error) => error.what,
            };
            if names == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn watch_continues_and_lists_again_after_an_error() {
        let gone = r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#;
        let server = Server::default()
            .with(NODES, 200, list_of("a", 1))
            .with(&watch_path(1), 200, event("ADDED", "b", "2", true))
            .with(&watch_path(2), 200, event("DELETED", "a", "3", true))
            .with(&watch_path(3), 200, gone)
            .with(NODES, 200, list_of("c", 4))
            .with(NODES, 500, "no");
        let followed = Followed::start(&server.client());
        for names in ["a b", "b", "c", "no"] {
            let shown = wait_for(&followed, names);
            let shown = tokio::time::timeout(Duration::from_mins(5), shown).await;
            assert!(shown.is_ok(), "{names}: {:?}", server.requests());
        }
        // NodeClaims may not be installed; Nodes always are.
        let absent = Followed::<Arc<Claim>>::start(&Server::default().client());
        assert_eq!(absent.current().await.map(|items| items.is_none()), Ok(true));
        let lost = Followed::<NodeItem>::start(&Server::default().client());
        assert!(lost.current().await.is_err());
    }

    #[test]
    fn claim_of_another_cloud_is_removed() {
        let claim = |group: &str| {
            json!({"type": "MODIFIED", "object": {
                "metadata": {"name": "a", "uid": "u", "resourceVersion": "1", "creationTimestamp": "2026-11-17T09:00:00Z"},
                "spec": {"nodeClassRef": {"group": group, "name": "default"}},
            }})
            .to_string()
        };
        let mut state = Items::<Arc<Claim>>::Current(BTreeMap::new());
        let count = |state: &Items<Arc<Claim>>| match state {
            Items::Current(items) => items.len(),
            _ => 0,
        };
        apply(&mut state, &claim("karpenter.azure.com")).unwrap();
        assert_eq!(count(&state), 1);
        apply(&mut state, &claim("karpenter.k8s.aws")).unwrap();
        assert_eq!(count(&state), 0);
    }

    fn page(items: &str, follow: &str) -> String {
        format!(
            r#"{{"metadata": {{"continue": "{follow}", "resourceVersion": "77"}}, "items": [{items}]}}"#
        )
    }

    async fn numbers(server: &Server) -> Result<Option<Vec<u32>>, ApiError> {
        list(&Api::new(server.client()), "/x", |item| item.get().parse().ok()).await
    }

    #[tokio::test]
    async fn pages_of_a_list_are_read_in_order() {
        let server = Server::default()
            .with("/x?limit=500", 200, page("1, \"a\", 2", "a/b=~"))
            .with("/x?limit=500&continue=a%2Fb%3D~", 200, page("3", ""));
        assert_eq!(numbers(&server).await, Ok(Some(vec![1, 2, 3])));
        let cached = Server::default().with("/x?resourceVersion=0", 200, page("4", ""));
        let api = Api::new(cached.client());
        let read = list_cached(&api, "/x", |item| item.get().parse::<u32>().ok()).await;
        let VersionedList { items, version } = read.unwrap().unwrap();
        assert_eq!((items, version.as_str()), (vec![4], "77"));
        assert_eq!(numbers(&Server::default()).await, Ok(None), "no such resource");
        let failed = numbers(&Server::default().with("/x?limit=500", 500, "no")).await;
        assert_eq!(failed.unwrap_err().status, Some(500));
        let invalid = numbers(&Server::default().with("/x?limit=500", 200, "[")).await;
        assert_eq!(invalid.unwrap_err().what, "the list is not valid JSON");
    }

    #[tokio::test]
    async fn list_whose_token_expired_is_read_again_once() {
        let server = Server::default()
            .with("/x?limit=500", 200, page("1", "t"))
            .with("/x?limit=500", 200, page("5", ""))
            .with("/x?limit=500&continue=t", 410, "no");
        assert_eq!(numbers(&server).await, Ok(Some(vec![5])));
        let expiring = Server::default().with("/x?limit=500", 200, page("1", "t")).with(
            "/x?limit=500&continue=t",
            410,
            "{}",
        );
        assert_eq!(numbers(&expiring).await.unwrap_err().status, Some(410));
        assert_eq!(expiring.requests().len(), 4);
    }

    #[tokio::test]
    async fn nodes_are_read_page_by_page() {
        let node = |name: &str| format!(r#"{{"metadata": {{"name": "{name}"}}}}"#);
        let first = "/api/v1/nodes?limit=500";
        let second = "/api/v1/nodes?limit=500&continue=t";
        let names = async |server: Server| {
            let nodes = list_nodes(&Api::new(server.client())).await;
            nodes.map(|nodes| {
                let names = |nodes: VersionedList<NodeItem>| {
                    assert_eq!(nodes.version, "77");
                    nodes.items.into_iter().map(|node| node.name).collect::<Vec<_>>().join(" ")
                };
                nodes.map(names)
            })
        };
        let begun = || Server::default().with(first, 200, page(&node("a"), "t"));
        let whole = begun().with(second, 200, page(&node("b"), ""));
        assert_eq!(names(whole).await, Ok(Some("a b".to_owned())));
        assert_eq!(names(Server::default()).await.unwrap_err().status, None);
        let failed = names(Server::default().with(first, 500, "no")).await;
        assert_eq!(failed.unwrap_err().status, Some(500));
        let expired = begun().with(second, 410, "no").with(first, 200, page(&node("c"), ""));
        assert_eq!(names(expired).await, Ok(Some("c".to_owned())));
        let invalid = names(Server::default().with(first, 200, "[")).await;
        assert_eq!(invalid.unwrap_err().what, "the list of nodes is not valid");
    }
}
