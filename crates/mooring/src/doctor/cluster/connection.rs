//! Connection and clock.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::cluster::ConnectedCluster;
use crate::doctor::check::{CheckState, DoctorCheck};

/// Signatures and Leases tolerate less than this.
const MAX_SKEW: f64 = 5.0;

/// Checks connection and clock with one request.
pub(crate) async fn connection(cluster: &ConnectedCluster) -> Vec<DoctorCheck> {
    let facts = &cluster.facts;
    let started = Instant::now();
    let response = cluster.client.get("/version").await;
    let took = started.elapsed();
    let context = match &facts.identity.context {
        Some(context) => format!("context {context}"),
        None => "the service account of the pod".to_owned(),
    };
    let version = facts.version.as_deref().unwrap_or("an unknown version");
    let server = facts.identity.server.as_deref().unwrap_or_default();
    let message =
        format!("{context}: {server} answers in {}ms, Kubernetes {version}", took.as_millis());
    let mut checks = vec![DoctorCheck::new("cluster", "connection", CheckState::Ok, message)];
    let date = response.ok().and_then(|response| response.date);
    checks.extend(date.map(|date| clock(date, Timestamp::now(), took)));
    checks
}

/// The header has whole seconds.
pub(super) fn clock(server: Timestamp, now: Timestamp, took: Duration) -> DoctorCheck {
    let apart = (now.duration_since(server).as_secs_f64() - 0.5).abs();
    let skew = (apart - 0.5 - took.as_secs_f64()).max(0.0);
    let message = format!("at most {apart:.1}s from the clock of the API server");
    if skew <= MAX_SKEW {
        return DoctorCheck::new("cluster", "clock", CheckState::Ok, message);
    }
    let message =
        format!("{apart:.0}s from the clock of the API server: tokens and Leases may fail");
    DoctorCheck::new("cluster", "clock", CheckState::Warning, message)
        .fix(Some("timedatectl set-ntp true".to_owned()))
}
