//! Reads what the caller may do, and what is locked or denied.

use std::collections::BTreeSet;

use mooring_arm::{Client, Error, Raw, ResourceId};
use serde::de::DeserializeOwned;

use super::answers::Missing;
use crate::checks::{Actor, Need, Rights, place, places_of_locks};
use mooring_workflow::Reading;

/// Reads permissions, locks and deny assignments at every scope of these needs, each once.
pub(crate) async fn rights(client: &Client, needs: &[Need]) -> Rights {
    let mut rights = Rights { caller: client.object_id().await, ..Rights::default() };
    let own = needs.iter().filter(|need| need.actor == Actor::Caller);
    for scope in own.map(place).collect::<BTreeSet<String>>() {
        let (permissions, denied) = match ResourceId::parse(&scope) {
            Ok(id) => {
                (listed(client.permissions(&id).await), listed(client.deny_assignments(&id).await))
            }
            Err(error) => (Reading::Failed(error.to_string()), Reading::Failed(error.to_string())),
        };
        rights.permissions.insert(scope.clone(), permissions);
        rights.deny_assignments.insert(scope, denied);
    }
    for scope in needs.iter().flat_map(places_of_locks).collect::<BTreeSet<String>>() {
        let locks = match ResourceId::parse(&scope) {
            Ok(id) => listed(client.locks(&id).await),
            Err(error) => Reading::Failed(error.to_string()),
        };
        rights.locks.insert(scope, locks);
    }
    rights
}

fn listed<T: DeserializeOwned + Clone>(result: Result<Vec<Raw<T>>, Error>) -> Reading<Vec<T>> {
    match result {
        Ok(list) => Reading::Known(list.iter().map(|raw| T::clone(raw)).collect()),
        Err(error) => Missing::of_error(&error).of(),
    }
}
