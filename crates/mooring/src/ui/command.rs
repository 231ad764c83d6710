//! The command: it serves the page until it is ended.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use data_encoding::HEXLOWER;
use futures::future::LocalBoxFuture;
use mooring_controller::run::Api;
use mooring_k8s::kubeconfig::Connection;
use mooring_page::{Live, PageAccess, PageKey};
use mooring_terminal::{Mark, Screen, Text};
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::net::TcpListener;

use super::arguments::UiArguments;
use super::leader::Leader;
use super::{browser, local};
use crate::cluster::config;
use crate::cluster::connect;
use crate::output::failure::CommandFailure;
use crate::output::print_screen;
use crate::output::show;
use crate::process::{build_server_runtime, stop_signal};

pub(crate) fn ui(arguments: UiArguments) -> Result<(), CommandFailure> {
    build_server_runtime()?.block_on(run(arguments))
}

async fn run(arguments: UiArguments) -> Result<(), CommandFailure> {
    let stop = stop_signal()?;
    let connection = connect::connect_cluster(&arguments.sources.cluster).await?;
    ensure_answers(&connection).await?;
    let listener = listen(arguments.port).await?;
    let address = listener.local_addr()?;
    let key = new_key()?;
    let url = format!("http://{address}/?key={key}");
    let access = PageAccess::Key(PageKey::new(key, &new_key()?, address.port()));
    let user = connection.context.clone().unwrap_or_else(|| connection.server.clone());
    let leader = if arguments.local { None } else { find_leader(&arguments, &connection).await };
    let screen = screen(&user, leader.as_ref());
    let no_browser = arguments.no_browser;
    let page: LocalBoxFuture<'_, ()> = if let Some(leader) = leader {
        Box::pin(mooring_page::serve_forwarded(listener, access, leader.connect()))
    } else {
        let live = Arc::new(Live::default());
        let page = mooring_page::serve(listener, Arc::clone(&live), access);
        let follow = local::follow(live, connection, arguments.sources, config::docs_url()?);
        Box::pin(async move {
            tokio::join!(page, follow);
        })
    };
    let opened = if no_browser { None } else { browser::open(&url) };
    let note =
        if opened.is_some() { "opened in your browser; Ctrl-C ends it" } else { "Ctrl-C ends it" };
    let mut all = Screen::default();
    all.line(Text::marked(Mark::Good, format!("{url}  ({note})")));
    all.append(screen);
    print_screen(&all)?;
    tokio::select! {
        () = stop => {}
        () = page => return Err(CommandFailure::io("the page ended".to_owned())),
    }
    Ok(())
}

/// Fails if the API server cannot be reached, or rejects the credentials: no page could be shown.
async fn ensure_answers(connection: &Connection) -> Result<(), CommandFailure> {
    match Api::new(connection.client.clone()).get("/api/v1/nodes?limit=1").await {
        Err(error) if matches!(error.status, None | Some(401)) => {
            Err(connect::unreadable(connection, &error))
        }
        _ => Ok(()),
    }
}

/// Returns the leader of the controller; without one the page shows the user's own reads.
async fn find_leader(arguments: &UiArguments, connection: &Connection) -> Option<Leader> {
    let entry = config::context(connection.context.as_deref()).ok();
    let namespace = connect::named_namespace(&arguments.sources.cluster, entry.as_ref());
    let found = Leader::find(&connection.client, namespace.as_deref()).await;
    let report = |why: &String| {
        show::print_warning(&format!(
            "the page of the controller cannot be used, so the cluster is read with your permissions: {why}\nhint: it needs a running controller, and permission to create pods/portforward in its namespace"
        ));
    };
    found.inspect_err(report).ok()
}

fn screen(user: &str, leader: Option<&Leader>) -> Screen {
    let (shows, way) = match leader {
        Some(leader) => (
            format!("{user}, from the controller's leader {}", leader.pod()),
            format!("port-forward through the API server, as {user}; read-only"),
        ),
        None => (
            format!("{user}, from your own reads"),
            "the Kubernetes API, and Azure for nodes without a verdict; read-only".to_owned(),
        ),
    };
    let mut screen = Screen::default();
    screen.label("Shows", [Text::new(shows)]);
    screen.label("Way", [Text::new(way)]);
    screen
}

async fn listen(port: u16) -> Result<TcpListener, CommandFailure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.map_err(|error| {
        CommandFailure::io(format!(
            "cannot listen on {address}: {error}\nhint: without `--port` a free port is used"
        ))
    })
}

/// Returns a key that other users of this host cannot guess.
fn new_key() -> Result<String, CommandFailure> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| CommandFailure::io("cannot create a key: no random numbers".to_owned()))?;
    Ok(HEXLOWER.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::new_key;

    #[test]
    fn keys_are_long_and_different() {
        let (one, two) = (new_key().unwrap(), new_key().unwrap());
        assert!(one.len() == 32 && one != two);
    }
}
