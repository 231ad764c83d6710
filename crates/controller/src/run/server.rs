//! Pages of metrics and probes, for separate listeners. Neither authenticates clients.

use std::sync::Arc;

use http::StatusCode;

use super::{Clock, Health};
use crate::metrics::Metrics;

#[derive(Clone)]
pub enum Pages {
    Metrics(Arc<Metrics>),
    Probes(Arc<Health>, Clock),
}

impl Pages {
    /// Returns status, content type and text of a page.
    pub fn page(&self, path: &str) -> (StatusCode, &'static str, String) {
        const PLAIN: &str = "text/plain; charset=utf-8";
        let state = match (self, path) {
            (Self::Metrics(metrics), "/metrics") => {
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                return (StatusCode::OK, kind, metrics.text());
            }
            (Self::Probes(health, clock), "/healthz") => health.healthz(clock()),
            (Self::Probes(health, clock), "/readyz") => health.readyz(clock()),
            _ => return (StatusCode::NOT_FOUND, PLAIN, "not found\n".to_owned()),
        };
        match state {
            Ok(()) => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
            Err(why) => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_and_metrics_have_separate_listeners() {
        let clock: Clock = Arc::new(|| jiff::Timestamp::UNIX_EPOCH);
        let probes = Pages::Probes(Arc::new(Health::new(clock())), clock);
        let metrics = Pages::Metrics(Arc::new(Metrics::new()));
        let status = |pages: &Pages, path: &str| pages.page(path).0.as_u16();
        assert_eq!(status(&probes, "/readyz"), 503, "nothing is synced");
        assert!(metrics.page("/metrics").1.starts_with("application/openmetrics-text;"));
        assert_eq!((status(&probes, "/healthz"), status(&probes, "/metrics")), (200, 404));
        assert_eq!((status(&metrics, "/metrics"), status(&metrics, "/healthz")), (200, 404));
    }
}
