//! The admin API: open on loopback, closed elsewhere to whoever does not show the token.

use bytes::Bytes;
use mooring_contract::Secret;
use mooring_simulator::exchange::Outcome;
use mooring_simulator::scenario::Scenario;
use mooring_simulator::serve::Service as _;
use mooring_simulator::sim::Shell;
use mooring_simulator::world::Options;

async fn status(shell: &Shell, authorization: Option<&str>) -> u16 {
    let mut request = http::Request::get("/admin/state");
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    match shell.call(request.body(Bytes::new()).unwrap()).await {
        Outcome::Answer(answer) => answer.status().as_u16(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_guarded_admin_api_answers_only_to_bearers_of_its_token() {
    let scenario = Scenario::named("healthy").unwrap();
    let open = Shell::new(&scenario, 1, Options::default());
    assert_eq!(status(&open, None).await, 200);
    let guarded = open.guarded_by(Some(Secret::from("unguessable")));
    assert_eq!(status(&guarded, None).await, 401);
    assert_eq!(status(&guarded, Some("Bearer guessed")).await, 401);
    assert_eq!(status(&guarded, Some("Bearer unguessable")).await, 200);
}
