//! The model on loopback, with a cluster.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mooring_simulator::kubernetes::{Clock, ClockTask, Kubernetes, KubernetesOptions, Shell, User};
use mooring_simulator::serve::{CertificateAuthority, listen, serve};
use serde_json::json;
use tokio::task::JoinHandle;

/// A served model; it ends when dropped.
pub(crate) struct ModelServer {
    kubeconfig: String,
    served: JoinHandle<()>,
    _running: ClockTask,
}

impl ModelServer {
    pub(crate) async fn start() -> Self {
        let start = "2026-11-15T08:00:00Z".parse().unwrap();
        let options = KubernetesOptions {
            start,
            controllers: true,
            open: false,
            ..KubernetesOptions::default()
        };
        let mut model = Kubernetes::new(options);
        model.add_token("admin-token", User::administrator());
        let shell = Shell::new(model, Clock::starting_at(start));
        let running = shell.start();
        let authority = CertificateAuthority::new().unwrap();
        let tls = authority.server(&["127.0.0.1", "localhost"], &["h2", "http/1.1"]).unwrap();
        let listener = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let served = tokio::spawn(serve(listener, tls, Arc::new(shell)));
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "model",
            "contexts": [{"name": "model", "context": {"cluster": "model", "user": "admin"}}],
            "clusters": [{"name": "model", "cluster": {
                "server": url, "certificate-authority-data": BASE64_STANDARD.encode(authority.pem()),
            }}],
            "users": [{"name": "admin", "user": {"token": "admin-token"}}],
        });
        Self { kubeconfig: kubeconfig.to_string(), served, _running: running }
    }

    pub(crate) fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.served.abort();
    }
}
