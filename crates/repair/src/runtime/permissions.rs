//! Reads permissions, locks and deny assignments.

use std::collections::BTreeSet;

use mooring_arm::{Client, Error, ResourceId};

use super::responses::missing;
use crate::checks::{AccessNeed, AccessRules, Actor, place, places_of_locks};
use mooring_workflow::Reading;

/// Reads every scope of these needs once.
pub(crate) async fn read_access_rules(client: &Client, needs: &[AccessNeed]) -> AccessRules {
    let mut rights = AccessRules { caller: client.object_id().await, ..AccessRules::default() };
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

fn listed<T>(result: Result<Vec<T>, Error>) -> Reading<Vec<T>> {
    result.map_or_else(|error| missing(&error), Reading::Known)
}
