//! Admin API: changes and inspection of a simulation.

use bytes::Bytes;
use http::StatusCode;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shell::Shell;
use crate::azure::ActionDenial;
use crate::cluster::SimulatedCluster;
use crate::exchange::{Request, Response, json as respond, plain};
use crate::faults::FaultRule;
use crate::scenario::Scenario;

const HELP: &str = "\
GET    /admin/state             internal state, as JSON
GET    /admin/trace             requests and responses, with the seed and every rule
POST   /admin/scenario?name=N   load a built-in scenario, or the YAML in the body
POST   /admin/faults            add a fault rule, of Azure or the cluster: {\"when\": {\"method\": \"PUT\"}, \"then\": \"dropAfter\"}
DELETE /admin/faults            remove every fault rule
GET    /admin/cluster           state of the cluster: nodes, NodeClaims, pods
POST   /admin/denials           {\"action\": \"Microsoft.Insights/*\"}
DELETE /admin/denials           allow everything again
";

pub(super) fn answer(shell: &Shell, request: &Request, now: Timestamp) -> Response {
    try_answer(shell, request, now)
        .unwrap_or_else(|why| respond(StatusCode::BAD_REQUEST, &json!({"error": why})))
}

fn try_answer(shell: &Shell, request: &Request, now: Timestamp) -> Result<Response, String> {
    let query = crate::exchange::query(request.uri().query());
    let name = query.get("name").map_or("", String::as_str);
    let body = request.body();
    match (request.method().as_str(), request.uri().path()) {
        ("GET", "/admin/state") => {
            let mut azure = shell.azure();
            azure.settle(now);
            return Ok(respond(StatusCode::OK, &azure.state()));
        }
        ("GET", "/admin/trace") => return Ok(plain(StatusCode::OK, shell.azure().trace().text())),
        ("POST", "/admin/scenario") => load(shell, name, body)?,
        ("POST", "/admin/faults") => {
            let rule: FaultRule = read(body)?;
            shell.world().with(|world, now| world.add_fault(&rule, now));
        }
        ("DELETE", "/admin/faults") => shell.world().with(SimulatedCluster::clear_faults),
        ("GET", "/admin/cluster") => {
            let state = shell.world().with(|world, _| world.cluster_state());
            return Ok(respond(StatusCode::OK, &state));
        }
        ("POST", "/admin/denials") => {
            let denial: ActionDenial = read(body)?;
            shell.azure().deny(denial);
        }
        ("DELETE", "/admin/denials") => shell.azure().clear_denials(),
        _ => return Ok(plain(StatusCode::NOT_FOUND, HELP)),
    }
    Ok(respond(StatusCode::OK, &json!({"done": true})))
}

pub(super) fn refuse() -> Response {
    let why =
        "the admin API requires `Authorization: Bearer $MOORING_SIM_TOKEN` (env.sh sets it)\n";
    let mut response = plain(StatusCode::UNAUTHORIZED, why);
    let challenge = http::HeaderValue::from_static("Bearer");
    response.headers_mut().insert(http::header::WWW_AUTHENTICATE, challenge);
    response
}

fn load(shell: &Shell, name: &str, body: &Bytes) -> Result<(), String> {
    let scenario = if body.is_empty() {
        Scenario::named(name)
    } else {
        Scenario::parse("the request's body", &String::from_utf8_lossy(body))
    };
    shell.load(&scenario.map_err(|error| error.to_string())?);
    Ok(())
}

fn read<T: for<'de> Deserialize<'de>>(body: &Bytes) -> Result<T, String> {
    let value: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}
