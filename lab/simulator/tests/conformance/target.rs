//! Servers under test.

use std::collections::BTreeMap;
use std::path::Path;

use kube::Client;
use mooring_simulator::kubernetes::{
    Clock, ClockTask, InProcess, Kubernetes, KubernetesOptions, Shell, User,
};
use mooring_testbed::{RealCluster, Users};
use serde_json::Value;

use crate::case::{Case, Generation};
use crate::cluster::Cluster;

/// A server under test: a client for each user, and its version.
pub(crate) struct Target {
    pub(crate) name: String,
    /// Minor version of Kubernetes that it is, or simulates.
    pub(crate) minor: u32,
    clients: BTreeMap<&'static str, Client>,
}

impl Target {
    /// Returns the model in this process: an API server alone, like the real one.
    pub(crate) fn model() -> (Self, ClockTask) {
        let start = "2026-11-15T08:00:00Z".parse().unwrap();
        let mut model = Kubernetes::new(KubernetesOptions {
            start,
            open: false,
            ..KubernetesOptions::default()
        });
        for user in std::iter::once(Users::ADMIN).chain(Users::OTHERS) {
            let masters = (user == Users::ADMIN).then_some("system:masters");
            let groups = masters.into_iter().chain(["system:authenticated"]).map(str::to_owned);
            let known = User { name: user.to_owned(), groups: groups.collect() };
            model.add_token(&format!("{user}-token"), known);
        }
        let shell = Shell::new(model, Clock::starting_at(start));
        let mut clients = BTreeMap::new();
        for user in std::iter::once(Users::ADMIN).chain(Users::OTHERS) {
            let service = InProcess::with_token(shell.clone(), &format!("{user}-token"));
            clients.insert(user, Client::new(service, "default"));
        }
        let running = shell.start();
        (Self { name: "the model".to_owned(), minor: 36, clients }, running)
    }

    pub(crate) async fn real(cluster: &RealCluster) -> Self {
        let mut clients = BTreeMap::new();
        for user in std::iter::once(Users::ADMIN).chain(Users::OTHERS) {
            clients.insert(user, cluster.client(user).await.unwrap());
        }
        let name = format!("kube-apiserver {}", cluster.version());
        Self { name, minor: cluster.minor(), clients }
    }

    /// Returns why it skips a case.
    pub(crate) fn skips(&self, case: &Case) -> Option<String> {
        (case.since > self.minor).then(|| format!("needs Kubernetes 1.{}", case.since))
    }

    pub(crate) fn client(&self, user: &str) -> Client {
        self.clients[user].clone()
    }

    /// Installs the CRDs of the cases, and waits until they are served.
    pub(crate) async fn prepare(&'static self) {
        let c = Cluster::new(self, "prepare", Generation::Map);
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for definition in definitions() {
            c.post(path, &definition).await.is(201);
            let (spec, names) = (&definition["spec"], &definition["spec"]["names"]);
            for version in spec["versions"].as_array().unwrap() {
                let [group, version, plural] = [&spec["group"], &version["name"], &names["plural"]]
                    .map(|text| text.as_str().unwrap());
                let list = format!("/apis/{group}/{version}/{plural}");
                c.eventually(&list, |answer| answer.status == 200).await;
                // Discovery follows a moment later.
                let resources = format!("/apis/{group}/{version}");
                c.eventually(&resources, |answer| answer.status == 200).await;
            }
        }
    }
}

/// Returns the CRDs of the fixtures; the older NodeClaim has a separate group, so that both fit
/// into one cluster.
fn definitions() -> Vec<Value> {
    // Set to run the suite on the originals: one directory for the newer files and one for the
    // older.
    let elsewhere =
        std::env::var("MOORING_CRDS_NEW").ok().zip(std::env::var("MOORING_CRDS_OLD").ok());
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds");
    let read = |path: &Path| -> Value {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (new, mut old) = match elsewhere {
        None => (
            ["nodeclaims", "nodepools", "aksnodeclasses"]
                .map(|name| read(&fixtures.join(format!("{name}.yaml")))),
            read(&fixtures.join("nodeclaims-atomic.yaml")),
        ),
        Some((new, old)) => (
            [
                "karpenter.sh_nodeclaims",
                "karpenter.sh_nodepools",
                "karpenter.azure.com_aksnodeclasses",
            ]
            .map(|name| read(&Path::new(&new).join(format!("{name}.yaml")))),
            read(&Path::new(&old).join("karpenter.sh_nodeclaims.yaml")),
        ),
    };
    old["metadata"]["name"] = "nodeclaims.legacy.karpenter.sh".into();
    old["spec"]["group"] = "legacy.karpenter.sh".into();
    [&new[..], &[old]].concat()
}
