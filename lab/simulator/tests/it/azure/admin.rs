//! The admin API accepts only requests with its token, on every address.

use bytes::Bytes;
use mooring_contract::Secret;
use mooring_simulator::cluster::ClusterOptions;
use mooring_simulator::exchange::ServerReply;
use mooring_simulator::scenario::Scenario;
use mooring_simulator::serve::Service as _;
use mooring_simulator::sim::Shell;

async fn status(shell: &Shell, method: &str, path: &str, authorization: Option<&str>) -> u16 {
    let mut request = http::Request::builder().method(method).uri(path);
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    match shell.call(request.body(Bytes::new()).unwrap()).await {
        ServerReply::Answer(answer) => answer.status().as_u16(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn admin_api_requires_its_token() {
    let scenario = Scenario::named("healthy").unwrap();
    let shell = Shell::new(&scenario, 1, ClusterOptions::default(), Secret::from("unguessable"));
    for wrong in [
        None,
        Some(""),
        Some("Bearer "),
        Some("Bearer guessed"),
        Some("Bearer unguessabl"),
        Some("Bearer unguessable2"),
        Some("Basic unguessable"),
        Some("unguessable"),
    ] {
        for (method, path) in
            [("GET", "/admin/state"), ("GET", "/admin/"), ("POST", "/admin/scenario?name=healthy")]
        {
            assert_eq!(status(&shell, method, path, wrong).await, 401, "{path} {wrong:?}");
        }
    }
    assert_eq!(status(&shell, "GET", "/admin/state", Some("Bearer unguessable")).await, 200);
}

#[tokio::test]
async fn another_scenario_keeps_the_secrets_of_the_run() {
    let scenario = Scenario::named("healthy").unwrap();
    let mut options =
        ClusterOptions { token: Secret::from("administrator"), ..ClusterOptions::default() };
    options.azure.client_secret = Secret::from("client");
    options.azure.token_key = Secret::from("key");
    let shell = Shell::new(&scenario, 1, options, Secret::from("admin"));
    let load = "/admin/scenario?name=oras-missing";
    assert_eq!(status(&shell, "POST", load, Some("Bearer admin")).await, 200);
    let (azure, token) = shell.world().with(|world, _| {
        (world.azure().options().clone(), world.options().token.expose().to_owned())
    });
    assert_eq!(azure.client_secret.expose(), "client");
    assert_eq!(azure.token_key.expose(), "key");
    assert_eq!(token, "administrator");
}
