//! Lists of the API server.

use mooring_controller::run::{Api, ApiError};
use mooring_k8s::request::query_value;
use mooring_nodes::claim::intern::Interner;
use mooring_nodes::{NodeItem, NodePage};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) const NODES: &str = "/api/v1/nodes";

/// Page by page: 5,000 Nodes with their images would be 60 MB at once.
const PAGES: &str = "limit=500";
/// As the API server has it in memory, all at once. Custom objects are converted for every other read, which takes the
/// server seconds for 5,000 of them.
const CACHED: &str = "resourceVersion=0";

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    metadata: Metadata,
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
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
    use super::*;
    use crate::fixtures::Server;

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
