//! Further signs: they are shown and can raise confidence, and never replace a guard.

use jiff::{SignedDuration, Timestamp};

use super::{SIGNATURE, the_last};
use crate::counted::counted;
use crate::observation::{Addresses, Instance, Nic, Seen, Status};
use crate::settings::Settings;

/// Sentences about interfaces without addresses and instances that failed, with how long they have.
#[must_use]
pub fn further(seen: &Seen, settings: &Settings, now: Timestamp) -> Vec<String> {
    let Some(set) = seen.scale_set_of(&settings.target.pool) else { return Vec::new() };
    let mut found = Vec::new();
    let instances = seen.instances.get(&set.name).and_then(|reading| reading.known());
    if let Some(nics) = seen.nics.get(&set.name).and_then(|reading| reading.known()) {
        let (all, empty) = count(nics);
        if empty > 0 {
            let without =
                format!("{empty} of {} without an address", counted(all, "network interface"));
            let dwell = settings.limits.registration;
            let settled = match instances {
                Some(instances) => format!(
                    "{} of them on instances older than {}",
                    settled(nics, instances, now, dwell),
                    counted(dwell.as_mins(), "minute")
                ),
                None => "for how long is not known".to_owned(),
            };
            found.push(format!("{without}, {settled}"));
        }
    }
    let failed: Vec<_> = instances.into_iter().flatten().filter_map(failed_status).collect();
    if !failed.is_empty() {
        let newest = failed.iter().filter_map(|status| status.at).max();
        let age = the_last(newest, now);
        found.push(format!("{} failed with {SIGNATURE}{age}", counted(failed.len(), "instance")));
    }
    found
}

/// How many interfaces without an address are of an instance that is no longer on its way.
fn settled(nics: &[Nic], instances: &[Instance], now: Timestamp, dwell: SignedDuration) -> usize {
    let empty = nics.iter().filter(|nic| nic.addresses == Addresses::Empty);
    let created = |nic: &Nic| {
        let id = nic.instance.as_deref()?;
        instances.iter().find(|instance| instance.id.eq_ignore_ascii_case(id))?.created
    };
    let old = |at: Timestamp| now.duration_since(at) >= dwell;
    empty.filter(|nic| created(nic).is_some_and(old)).count()
}

/// (interfaces that say something of their addresses, those among them that have none)
#[must_use]
fn count(nics: &[Nic]) -> (usize, usize) {
    let said = nics.iter().filter(|nic| nic.addresses != Addresses::Unsaid).count();
    let empty = nics.iter().filter(|nic| nic.addresses == Addresses::Empty).count();
    (said, empty)
}

fn failed_status(instance: &Instance) -> Option<&Status> {
    let failed = format!("ProvisioningState/failed/{SIGNATURE}");
    instance.statuses.iter().find(|status| status.code.eq_ignore_ascii_case(&failed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn an_absent_list_of_addresses_is_not_an_empty_one() {
        let read = |list: Value| -> Vec<Nic> {
            list.as_array().unwrap().iter().filter_map(Nic::read).collect()
        };
        let nic = |properties: Value| json!({"name": "n", "properties": properties});
        let good = nic(json!({"ipConfigurations": [{}]}));
        let empty = nic(json!({"ipConfigurations": []}));
        let unsaid = nic(json!({"ipConfigurations": null}));
        let omitted = json!({"name": "n"});
        for (nics, expected) in [
            (json!([]), (0, 0)),
            (json!([good, good]), (2, 0)),
            (json!([good, empty]), (2, 1)),
            (json!([empty, empty]), (2, 2)),
            (json!([unsaid, empty]), (1, 1)),
            (json!([Value::Null, empty]), (1, 1)),
            (json!([omitted, good]), (1, 0)),
            (json!([unsaid]), (0, 0)),
        ] {
            assert_eq!(count(&read(nics.clone())), expected, "{nics}");
        }
    }
}
