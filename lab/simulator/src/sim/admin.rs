//! Admin API: changes and inspection of a simulation.

use bytes::Bytes;
use http::StatusCode;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shell::Shell;
use crate::azure::{ActionDenial, Correlation, Cse, NewVm, ProvisionMode};
use crate::cluster::SimulatedCluster;
use crate::exchange::{Request, Response, json as respond, plain};
use crate::faults::FaultRule;
use crate::scenario::Scenario;

const HELP: &str = "\
GET    /admin/state             internal state, as JSON
GET    /admin/trace             requests and responses, with the seed and every rule
GET    /admin/scenarios         the names of the built-in scenarios
POST   /admin/scenario?name=N   load a built-in scenario, or the YAML in the body
POST   /admin/faults            add a fault rule, of Azure or the cluster: {\"when\": {\"method\": \"PUT\"}, \"then\": \"dropAfter\"}
DELETE /admin/faults            remove every fault rule
POST   /admin/wedge             {\"pool\": \"system\", \"correlation\": \"shared\"|\"new\"}
POST   /admin/unwedge           {\"pool\": \"system\"}
POST   /admin/provisioningState {\"id\": \"/subscriptions/…\", \"state\": \"Failed\"}
POST   /admin/vms               {\"name\": \"aks-default-x\", \"imageVersion\": \"202601.27.0\", \"cse\": {\"exitCode\": 50}}
DELETE /admin/vms?name=N        delete a VM immediately
GET    /admin/cluster           state of the cluster: nodes, NodeClaims, pods
POST   /admin/karpenter         start Karpenter: {\"mode\": \"bootstrappingclient\", \"imageVersion\": \"202601.27.0\"}, or with its last options
DELETE /admin/karpenter         stop Karpenter: it deletes and registers nothing, and its pollers are lost
POST   /admin/nodeclaims        {\"name\": \"default-x\"}: Karpenter launches it, if it runs
POST   /admin/hotfixes          publish the body as the live-patching service's JSON: {\"hotfixes\": {\"202604.01\": \"202604.01.1\"}}
DELETE /admin/hotfixes          publish nothing
POST   /admin/denials           {\"action\": \"Microsoft.Insights/*\"}
DELETE /admin/denials           allow everything again
";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pool {
    pool: String,
    #[serde(default)]
    correlation: Correlation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StateChange {
    id: String,
    state: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Vm {
    name: String,
    image_version: String,
    #[serde(default)]
    mode: ProvisionMode,
    #[serde(default)]
    cse: Cse,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    name: String,
}

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
        ("GET", "/admin/scenarios") => {
            let names = json!(Scenario::names().collect::<Vec<_>>());
            return Ok(respond(StatusCode::OK, &names));
        }
        ("POST", "/admin/scenario") => load(shell, name, body)?,
        ("POST", "/admin/faults") => {
            let rule: FaultRule = read(body)?;
            shell.world().with(|world, now| world.add_fault(&rule, now));
        }
        ("DELETE", "/admin/faults") => shell.world().with(SimulatedCluster::clear_faults),
        ("POST", "/admin/wedge") => {
            let Pool { pool, correlation } = read(body)?;
            found(shell.azure().wedge(&pool, correlation, now), &pool)?;
        }
        ("POST", "/admin/unwedge") => {
            let Pool { pool, .. } = read(body)?;
            found(shell.azure().unwedge(&pool, now), &pool)?;
        }
        ("POST", "/admin/provisioningState") => {
            let StateChange { id, state } = read(body)?;
            found(shell.azure().set_state(&id, &state), &id)?;
        }
        ("POST", "/admin/vms") => {
            let Vm { name, image_version, mode, cse } = read(body)?;
            let booting = NewVm::booting(&name, &image_version, cse, now);
            shell.azure().create_vm(&NewVm { mode, ..booting });
        }
        ("DELETE", "/admin/vms") => {
            let mut azure = shell.azure();
            let id = format!("{}/{name}", azure.options().compute("virtualMachines"));
            azure.delete_vm(&id);
        }
        ("GET", "/admin/cluster") => {
            let state = shell.world().with(|world, _| world.cluster_state());
            return Ok(respond(StatusCode::OK, &state));
        }
        ("POST", "/admin/karpenter") if body.is_empty() => {
            shell.world().with(SimulatedCluster::resume_karpenter);
        }
        ("POST", "/admin/karpenter") => {
            let options = read(body)?;
            shell.world().with(|world, now| world.start_karpenter(options, now));
        }
        ("DELETE", "/admin/karpenter") => shell.world().with(|world, _| world.stop_karpenter()),
        ("POST", "/admin/nodeclaims") => {
            let Claim { name } = read(body)?;
            let made = shell.world().with(|world, now| world.create_claim(&name, now));
            made.map_err(|error| error.message)?;
        }
        ("POST", "/admin/hotfixes") => {
            shell.live_patching().publish(Some(String::from_utf8_lossy(body).into_owned()));
        }
        ("DELETE", "/admin/hotfixes") => shell.live_patching().publish(None),
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

fn found(is_there: bool, name: &str) -> Result<(), String> {
    if is_there { Ok(()) } else { Err(format!("there is no `{name}`")) }
}
