//! Injects faults into a cluster.

use std::time::Duration;

use http::Request;
use mooring_simulator::azure::Correlation;
use mooring_simulator::scenario;
use tokio::time::Instant;

use crate::environment::DemoEnvironment;
use crate::error::DemoError;
use crate::present::output::DemoMark;
use crate::present::result::{Moment, MomentKind};
use crate::scenario::{DeleteStep, FaultStep, WedgeStep};

impl DemoEnvironment<'_> {
    pub(crate) fn wedge(&mut self, wedge: &WedgeStep) -> Result<(), DemoError> {
        let struck = scenario::WedgeSettings {
            pool: wedge.pool.clone(),
            failed_writes: wedge.failed_writes,
            unregistered_nodes: wedge.unregistered_nodes,
            correlation: Correlation::default(),
        };
        let is_there = self.simulation.shell().world().with(|world, now| {
            let is_there = world.azure_mut().inject_wedge(&struck, now);
            if let Some(minutes) = wedge.update_minutes {
                let since = now - Duration::from_secs(u64::from(minutes) * 60);
                world.azure_mut().begin_stuck_update(since);
            }
            is_there
        });
        if !is_there {
            return Err(DemoError::Broken(format!("pool {} not found", wedge.pool)));
        }
        self.struck = Some(Instant::now());
        let update = wedge.update_minutes.map_or_else(String::new, |minutes| {
            format!("; a cluster update has been running for {minutes} minutes")
        });
        let text = format!(
            "the network provider lost its entry of pool {}: {} writes have failed, {} node never came up{update}",
            wedge.pool, wedge.failed_writes, wedge.unregistered_nodes
        );
        self.remember("wedged", &text, MomentKind::Fault);
        self.output.print(DemoMark::Struck, &text);
        Ok(())
    }

    pub(crate) fn fault(&mut self, fault: &FaultStep) {
        let FaultStep { message, rule } = fault;
        self.simulation.shell().world().with(|world, now| world.add_fault(rule, now));
        self.remember("fault", message, MomentKind::Fault);
        self.output.print(DemoMark::Struck, &format!("from now on, {message}"));
    }

    pub(crate) async fn delete(&mut self, delete: &DeleteStep) -> Result<(), DemoError> {
        let failed = |error: String| DemoError::broken(&format!("DELETE {}", delete.path), error);
        let request = Request::delete(&delete.path).body(Vec::new());
        let request = request.map_err(|error| failed(error.to_string()))?;
        let answer = self.kube.request_text(request).await;
        answer.map_err(|error| failed(error.to_string()))?;
        self.remember("deleted", &delete.path, MomentKind::Fault);
        let text = format!("DELETE {}: {}", delete.path, delete.because);
        self.output.print(DemoMark::Note, &text);
        Ok(())
    }

    /// Adds a moment to the timeline of the repair.
    pub(super) fn remember(&mut self, what: &str, detail: &str, kind: MomentKind) {
        let at = self.struck.map_or(Duration::ZERO, |struck| struck.elapsed());
        self.result.repair.push(Moment {
            at,
            what: what.to_owned(),
            detail: detail.to_owned(),
            kind,
        });
    }
}
