//! Files of Azure: the VM with its extensions, serial console log, agent pool and activity log.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use mooring_arm::ResourceId;
use mooring_arm::calls::ActivityQuery;
use serde_json::{Value, json};

use super::super::archive::{Contents, FileOrigin};
use super::files::{FileContent, FileInfo, file_name};
use super::source::{Azure, Sources, reason_of_azure};
use super::subject::BundledNode;

/// Half of the time around a failure in the activity log.
const AROUND: SignedDuration = SignedDuration::from_hours(1);
const MAX_ACTIVITIES: usize = 1000;

/// Adds the VM and the message of its bootstrap extension; `all` adds extensions and serial console log.
pub(super) async fn add_vm(
    sources: &Sources<'_>,
    subject: &BundledNode,
    all: bool,
    contents: &mut Contents,
) {
    let vm = match subject.find_vm(sources) {
        Ok((azure, id)) => read_vm(azure, id, subject).await.map(|vm| (azure, id, vm)),
        Err(why) => Err(why),
    };
    let files = ["vm.json", "extension.txt", "extensions.json", "serial.log"];
    let [vm_path, message_path, extensions_path, serial_path] =
        files.map(|file| subject.path(file));
    let (azure, id, vm) = match vm {
        Ok(vm) => vm,
        Err(why) => {
            contents.skip_as(&vm_path, "VM", &why);
            contents.skip_as(&message_path, "bootstrap report", &why);
            if all {
                contents.skip_as(&extensions_path, "extensions", &why);
                contents.skip_as(&serial_path, "serial console log", &why);
            }
            return;
        }
    };
    let info = |label, why| FileInfo(FileOrigin::Azure, label, why);
    let has_log = vm.pointer("/properties/diagnosticsProfile/bootDiagnostics/enabled");
    let has_log = has_log == Some(&Value::Bool(true));
    let text = message(&vm).ok_or("Azure has no message of the bootstrap extension".to_owned());
    let text = text.map(|text| FileContent::Text(text.to_owned()));
    let vm = Ok(FileContent::Json(vm));
    contents.add(info("VM with instance view", "VM with its instance view"), &vm_path, vm);
    let why = "message of the extension, with the bootstrap report";
    contents.add(info("bootstrap report", why), &message_path, text);
    if !all {
        return;
    }
    let serial = async {
        if !has_log {
            return Err("boot diagnostics are off".to_owned());
        }
        let log = azure.arm.serial_log(id).await.map_err(|error| azure.reason(&error))?;
        let log = log.ok_or_else(|| "Azure has no log yet".to_owned())?;
        Ok(FileContent::Text(String::from_utf8_lossy(&log).replace("\r\n", "\n")))
    };
    let extensions = async {
        let found = azure.arm.extensions(id).await.map_err(|error| azure.reason(&error))?;
        Ok(FileContent::Json(found))
    };
    let both = azure.read(Box::pin(async { tokio::join!(extensions, serial) })).await;
    let (extensions, serial) = both.unwrap_or_else(|why| (Err(why.clone()), Err(why)));
    let why = "extensions with their instance views";
    contents.add(info("extensions", why), &extensions_path, extensions);
    let why = "log of the serial console, from boot diagnostics";
    contents.add(info("serial console log", why), &serial_path, serial);
}

async fn read_vm(azure: &Azure, id: &ResourceId, subject: &BundledNode) -> Result<Value, String> {
    match azure.read(azure.arm.vm(id)).await? {
        Ok(vm) => Ok(vm),
        Err(error) if error.is_not_found() && subject.exists() => {
            Err(azure.fail("the VM was not found in Azure, although the node exists".to_owned()))
        }
        Err(error) if error.is_not_found() => Err("the VM was deleted".to_owned()),
        Err(error) => Err(azure.reason(&error)),
    }
}

/// Returns the message of the extension that runs the bootstrap.
fn message(vm: &Value) -> Option<&str> {
    let extensions = vm.pointer("/properties/instanceView/extensions")?.as_array()?;
    let is_bootstrap =
        |one: &&Value| one["type"].as_str().is_some_and(|kind| kind.contains("CustomScript"));
    let bootstrap = extensions.iter().find(is_bootstrap)?;
    bootstrap["statuses"].get(0)?["message"].as_str().filter(|text| text.contains("[stdout]"))
}

/// Adds the agent pools of the nodes.
pub(super) async fn add_agent_pool(
    sources: &Sources<'_>,
    subjects: &[BundledNode],
    contents: &mut Contents,
) {
    let info = FileInfo(FileOrigin::Azure, "agent pool", "agent pool");
    let pools: BTreeSet<_> = subjects.iter().filter_map(|one| one.agent_pool.as_ref()).collect();
    if pools.is_empty() {
        let why = match subjects.iter().find_map(|one| one.node_pool.as_ref()) {
            Some(pool) => format!("the node belongs to NodePool {pool}"),
            None => "the pool of the node is unknown".to_owned(),
        };
        contents.skip_as("agentpool.json", info.1, why);
    }
    for pool in pools {
        let read = read_pool(sources, pool).await.map(FileContent::Json);
        contents.add(info, &format!("agentpool-{}.json", file_name(pool)), read);
    }
}

async fn read_pool(sources: &Sources<'_>, pool: &str) -> Result<Value, String> {
    let azure = sources.azure.as_ref().map_err(Clone::clone)?;
    let cluster = azure.cluster.as_ref().ok_or_else(|| {
        "the resource group of the cluster is unknown: set --resource-group and --cluster"
            .to_owned()
    })?;
    let id = ResourceId::parse(cluster).and_then(|id| id.child("agentPools", pool));
    let id = id.map_err(|error| error.to_string())?;
    azure.read(azure.arm.agent_pool(&id)).await?.map_err(|error| azure.reason(&error))
}

/// Adds the activity log of the node resource group around the failure, or of the last two hours.
pub(super) async fn add_activity_log(
    sources: &Sources<'_>,
    subjects: &[BundledNode],
    contents: &mut Contents,
) {
    let path = "activity-log.json";
    let why = "activity log of the node resource group, newest first";
    let read = read_activities(sources, subjects).await.map(|(events, all)| {
        if all > events.len() {
            let why = format!("only the newest {} of {all} entries are here", events.len());
            contents.skip_as(path, "older activity log", why);
        }
        FileContent::Json(json!(events))
    });
    contents.add(FileInfo(FileOrigin::Azure, "activity log of 2h", why), path, read);
}

/// Returns the newest activities around the failure, and the number of all.
async fn read_activities(
    sources: &Sources<'_>,
    subjects: &[BundledNode],
) -> Result<(Vec<Value>, usize), String> {
    let azure = sources.azure.as_ref().map_err(Clone::clone)?;
    let failed = subjects.iter().flat_map(|one| &one.entries).map(|entry| entry.at).max();
    let (from, to) = window(failed, sources.now);
    let query = ActivityQuery::of_group(&azure.scope.node_resource_group, from, to);
    let events = azure.read(azure.arm.activity_log(&azure.scope.subscription, &query)).await?;
    // Every subscription has one.
    let mut events = events.map_err(|error| azure.fail(reason_of_azure(&error)))?;
    let all = events.len();
    events.truncate(MAX_ACTIVITIES);
    Ok((events, all))
}

/// Returns two hours around a failure, or the last two hours.
fn window(failed: Option<Timestamp>, now: Timestamp) -> (Timestamp, Timestamp) {
    let to = failed.and_then(|at| at.checked_add(AROUND).ok()).map_or(now, |to| to.min(now));
    (to.checked_sub(AROUND * 2).unwrap_or(to), to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_is_two_hours_around_the_failure_and_ends_now() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-11-17T12:00:00Z");
        assert_eq!(window(None, now), (at("2026-11-17T10:00:00Z"), now));
        assert_eq!(
            window(Some(at("2026-11-17T11:30:00Z")), now),
            (at("2026-11-17T10:00:00Z"), now)
        );
        let earlier = window(Some(at("2026-11-17T08:00:00Z")), now);
        assert_eq!(earlier, (at("2026-11-17T07:00:00Z"), at("2026-11-17T09:00:00Z")));
    }
}
