//! A server with the objects of the cases.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use mooring_finalizers::backup::SavedObject;
use mooring_finalizers::commands::{CommandResult, Remover};
use mooring_finalizers::plan::Plan;
use mooring_finalizers::profile::Settings;
use mooring_finalizers::profile::{Profile, Release, ReleaseResources};
use mooring_finalizers::workflow::RemovalVerdict;
use mooring_finalizers::workflow::{FinalizerRemoval, Run};
use mooring_simulator::kubernetes::{
    Clock, ClockTask, InProcess, Kubernetes, KubernetesOptions, Shell, User,
};
use mooring_testbed::{RealCluster, Users};
use mooring_workflow::Backup;
use mooring_workflow::approval::Approval;
use mooring_workflow::canonical::hash_bytes;
use mooring_workflow::command::JournalStatus;
use mooring_workflow::status::{DoneStep, EffectStatus, Remaining, RunStatus};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

pub(crate) const LISTED: &str = "cached";

/// A server under names that no other case uses.
pub(crate) struct Harness {
    pub(crate) group: String,
    pub(crate) namespace: String,
    pub(crate) settings: Settings,
    /// The model; none on a real server.
    pub(crate) model: Option<Shell>,
    _running: Option<ClockTask>,
    clients: std::collections::BTreeMap<String, Client>,
    _actor: Option<AbortOnDrop>,
}

/// Aborts a task on drop.
pub(crate) struct AbortOnDrop(pub(crate) tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn profile(group: &str, namespace: &str) -> Profile {
    Profile {
        namespace: Some(namespace.to_owned()),
        cluster_role_bindings: vec![namespace.to_owned()],
        release: Some(Release {
            name: "op".into(),
            namespace: None,
            resources: ReleaseResources::Delete,
        }),
        ..Profile::of_group(group)
    }
    .checked()
    .unwrap()
}

impl Harness {
    pub(crate) fn model(case: &str) -> Self {
        let start: Timestamp = "2026-11-15T08:00:00Z".parse().unwrap();
        let options = KubernetesOptions {
            start,
            controllers: true,
            open: false,
            ..KubernetesOptions::default()
        };
        let mut model = Kubernetes::new(options);
        for user in [Users::ADMIN, "ann"] {
            let masters = (user == Users::ADMIN).then_some("system:masters");
            let groups = masters.into_iter().chain(["system:authenticated"]).map(str::to_owned);
            let known = User { name: user.to_owned(), groups: groups.collect() };
            model.add_token(&format!("{user}-token"), known);
        }
        let journals = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mooring-system"}});
        model.create(journals, start).unwrap();
        let shell = Shell::new(model, Clock::starting_at(start));
        let running = shell.start();
        let client = |user: &str| {
            let service = InProcess::with_token(shell.clone(), &format!("{user}-token"));
            (user.to_owned(), Client::new(service, "default"))
        };
        let clients = [Users::ADMIN, "ann"].map(client).into();
        Self { _running: Some(running), model: Some(shell), ..Self::new(case, clients) }
    }

    pub(crate) async fn real(real: &RealCluster, case: &str) -> Self {
        let mut clients = std::collections::BTreeMap::new();
        for user in [Users::ADMIN, "ann"] {
            clients.insert(user.to_owned(), real.client(user).await.unwrap());
        }
        let mut harness = Self::new(case, clients);
        let journals = json!({"metadata": {"name": "mooring-system"}});
        harness.call("POST", "/api/v1/namespaces", journals).await;
        // Real time: shorter timeouts.
        harness.settings.limits.overall = SignedDuration::from_secs(60);
        harness.settings.limits.poll = SignedDuration::from_millis(100);
        let actor = crate::actors::Actor::new(harness.client("admin"), harness.namespace.clone());
        Self { _actor: Some(AbortOnDrop(tokio::spawn(actor.run()))), ..harness }
    }

    fn new(case: &str, clients: std::collections::BTreeMap<String, Client>) -> Self {
        let short: String = case.split('_').filter_map(|word| word.chars().next()).collect();
        let (group, namespace) = (format!("{short}.example.com"), format!("{short}-system"));
        let settings = Settings::new(profile(&group, &namespace));
        Self { group, namespace, settings, model: None, _running: None, clients, _actor: None }
    }

    pub(crate) fn client(&self, user: &str) -> Client {
        self.clients[user].clone()
    }

    pub(crate) fn listed(&self) -> String {
        format!("{}/{LISTED}", self.group)
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        call(&self.client("admin"), method, path, &body).await
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.call("GET", path, Value::Null).await
    }

    pub(crate) async fn create(&self, path: &str, body: Value) -> Value {
        let (status, made) = self.call("POST", path, body).await;
        assert_eq!(status, 201, "{path}: {made}");
        made
    }

    /// A CRD, and the path of its objects' version.
    pub(crate) async fn define(
        &self,
        group: &str,
        plural: &str,
        namespaced: bool,
        versions: &[(&str, bool, bool)],
    ) -> String {
        let kind = plural[..1].to_uppercase() + &plural[1..plural.len() - 1];
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, served, storage)| {
                json!({
                    "name": name, "served": served, "storage": storage,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                })
            })
            .collect();
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group, "scope": if namespaced { "Namespaced" } else { "Cluster" }, "versions": versions,
                "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
            },
        });
        self.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).await;
        let served = versions.iter().find(|version| version["served"] == true);
        let Some(version) = served.and_then(|version| version["name"].as_str()) else {
            return String::new();
        };
        let root = format!("/apis/{group}/{version}");
        self.until(&format!("{root}/{plural}"), |status, _| status == 200).await;
        root
    }

    /// Reads until the response is as wanted, for asynchronous changes of a server.
    pub(crate) async fn until(&self, path: &str, wanted: impl Fn(u16, &Value) -> bool) {
        let seen = async {
            loop {
                let (status, body) = self.get(path).await;
                if wanted(status, &body) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), seen).await.expect(path);
    }

    pub(crate) async fn namespace(&self, name: &str) {
        self.create("/api/v1/namespaces", json!({"metadata": {"name": name}})).await;
    }

    /// A custom resource; its path.
    pub(crate) async fn object(
        &self,
        root: &str,
        plural: &str,
        namespace: Option<&str>,
        name: &str,
        finalizers: &[&str],
    ) -> String {
        let kind = plural[..1].to_uppercase() + &plural[1..plural.len() - 1];
        let list = match namespace {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{plural}"),
        };
        let body = json!({
            "apiVersion": root.trim_start_matches("/apis/"), "kind": kind,
            "metadata": {"name": name, "finalizers": finalizers}, "spec": {"size": 3, "password": "hunter2"},
        });
        self.create(&list, body).await;
        format!("{list}/{name}")
    }

    /// Resources of an operator: CRDs of both scopes, objects in two namespaces, a binding, a release and a namespace. Returns
    /// the paths of the objects.
    pub(crate) async fn retired(&self) -> Vec<String> {
        self.namespace(&self.namespace).await;
        self.namespace(&format!("{}-a", self.namespace)).await;
        let (group, sub) = (self.group.clone(), format!("sub.{}", self.group));
        let root = self.define(&group, "clusterthings", false, &[("v1", true, true)]).await;
        // Stored in a version that is not served.
        let versions = [("v1", true, false), ("v2", false, true)];
        let inner = self.define(&sub, "things", true, &versions).await;
        let listed = self.listed();
        let other = format!("{}-a", self.namespace);
        let objects = vec![
            self.object(&root, "clusterthings", None, "one", &[&listed]).await,
            self.object(&root, "clusterthings", None, "two", &[]).await,
            self.object(&inner, "things", Some(&self.namespace), "three", &[&listed]).await,
            self.object(
                &inner,
                "things",
                Some(&other),
                "three",
                &[&listed, &format!("{sub}/more")],
            )
            .await,
        ];
        self.binding().await;
        self.release().await;
        let settings = json!({
            "metadata": {"name": "settings", "annotations": self.marks()},
            "data": {"size": "3", "password": "hunter2"},
        });
        self.create(&format!("/api/v1/namespaces/{}/configmaps", self.namespace), settings).await;
        objects
    }

    /// What Kubernetes and its clients write into every namespace.
    pub(crate) async fn usual(&self) {
        let root = format!("/api/v1/namespaces/{}", self.namespace);
        for (resource, name) in [("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")]
        {
            let path = format!("{root}/{resource}");
            // Its controllers may have done so already.
            let (status, made) =
                self.call("POST", &path, json!({"metadata": {"name": name}})).await;
            assert!(matches!(status, 201 | 409), "{made}");
        }
        let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", self.namespace);
        self.create(&leases, json!({"metadata": {"name": "idle"}, "spec": {}})).await;
    }

    /// The annotations of an object of the release.
    pub(crate) fn marks(&self) -> Value {
        json!({"meta.helm.sh/release-name": "op", "meta.helm.sh/release-namespace": self.namespace})
    }

    pub(crate) async fn binding(&self) {
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let body = json!({
            "metadata": {"name": self.namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "op", "namespace": self.namespace}],
        });
        self.create(&format!("{rbac}/clusterrolebindings"), body).await;
    }

    /// Two revisions of a release; the latest has a cluster role, and one of another release.
    pub(crate) async fn release(&self) {
        let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
        for (name, owner) in [("op", "op"), ("foreign", "other")] {
            let body = json!({"metadata": {"name": self.name(name), "annotations": {
                "meta.helm.sh/release-name": owner, "meta.helm.sh/release-namespace": self.namespace,
            }}, "rules": []});
            self.create(roles, body).await;
        }
        let manifest = format!(
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {}\n---\napiVersion: gone.example.com/v1\nkind: Nothing\nmetadata:\n  name: x\n",
            self.name("op"),
            self.name("foreign")
        );
        for revision in [1, 2] {
            self.secret(revision, &crate::actors::packed(&json!({
                "name": "op", "version": revision, "info": {"status": "deployed"}, "manifest": manifest,
                "chart": {"metadata": {"name": "op", "version": "1.0.0"}}, "config": {"password": "hunter2"},
            })))
            .await;
        }
    }

    pub(crate) async fn secret(&self, revision: u64, payload: &str) {
        let body = json!({
            "type": "helm.sh/release.v1", "data": {"release": payload},
            "metadata": {
                "name": format!("sh.helm.release.v1.op.v{revision}"),
                "labels": {"owner": "helm", "name": "op", "status": "deployed", "version": revision.to_string()},
            },
        });
        self.create(&format!("/api/v1/namespaces/{}/secrets", self.namespace), body).await;
    }

    pub(crate) fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.namespace)
    }

    pub(crate) async fn is_gone(&self, path: &str) -> bool {
        self.get(path).await.0 == 404
    }

    pub(crate) fn remover(&self) -> Remover {
        self.remover_by(self.client("admin"), self.settings.clone())
    }

    pub(crate) fn remover_by(&self, client: Client, settings: Settings) -> Remover {
        let (_, stop) = watch::channel(false);
        let clock: mooring_workflow::Clock = match self.model.clone() {
            Some(shell) => Rc::new(move || shell.now()),
            None => Rc::new(Timestamp::now),
        };
        Remover::new(mooring_k8s::Client::new(client), settings, clock, stop)
    }

    pub(crate) async fn apply(&self) -> (CommandResult, Report) {
        self.apply_by(&self.remover()).await
    }

    pub(crate) async fn apply_by(&self, remover: &Remover) -> (CommandResult, Report) {
        let plan = planned(remover).await;
        let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
        let standing = remover.status().await.unwrap();
        (ending, Report::of(&standing))
    }

    pub(crate) async fn resume(&self) -> (CommandResult, Report) {
        let remover = self.remover();
        let ending = resume(&remover).await;
        let standing = remover.status().await.unwrap();
        (ending, Report::of(&standing))
    }
}

impl Harness {
    /// The stored run.
    pub(crate) async fn run(&self) -> Option<Run> {
        self.remover().status().await.unwrap().runs.last
    }

    /// A copy of an object by its hash.
    pub(crate) async fn copy(&self, backup: &Backup) -> Value {
        let (_, maps) = self.get("/api/v1/namespaces/mooring-system/configmaps").await;
        let maps = maps["items"].as_array().unwrap();
        let text = maps.iter().filter_map(|map| map["data"]["object"].as_str());
        let mut text = text.filter(|text| hash_bytes(text.as_bytes()) == backup.hash);
        let saved: SavedObject = serde_json::from_str(text.next().expect("it has a copy")).unwrap();
        saved.restore().unwrap()
    }
}

/// The last run of a journal.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) result: RemovalVerdict,
    pub(crate) left: Vec<Remaining>,
    pub(crate) steps: Vec<DoneStep>,
    pub(crate) effects: Vec<EffectStatus>,
}

impl Report {
    pub(crate) fn of(journal: &JournalStatus<FinalizerRemoval>) -> Self {
        let run: &Run = journal.runs.last.as_ref().expect("a run was begun");
        let (result, left) = (RemovalVerdict::of(run), run.left.clone());
        let status = RunStatus::new(run, String::new(), None, run.last);
        assert!(status.last_at >= status.started_at, "{status:?}");
        Self { result, left, steps: status.steps, effects: status.effects }
    }
}

pub(crate) async fn planned(remover: &Remover) -> Plan {
    remover.plan(remover.expiry()).await.unwrap()
}

/// Approves with the token of the plan.
pub(crate) fn approved(plan: &Plan) -> Approval {
    Approval::Token(plan.approval.to_string().parse().unwrap())
}

/// Plans, approves and continues.
pub(crate) async fn resume(remover: &Remover) -> CommandResult {
    let plan = planned(remover).await;
    let approval = if plan.nothing_to_do { Approval::None } else { approved(&plan) };
    remover.resume(&plan, &approval, Box::new(|_, _, _| {}), &mut |_| {}).await
}

/// Field manager of the tests, which counts as a user tool.
const PERSON: &str = "kubectl/v1.34.1";

pub(crate) async fn call(client: &Client, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let mut request =
        http::Request::builder().method(method).uri(path).header("user-agent", PERSON);
    if !body.is_null() {
        let patch = "application/merge-patch+json";
        let kind = if method == "PATCH" { patch } else { "application/json" };
        request = request.header("content-type", kind);
    }
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = request.body(kube::client::Body::from(bytes)).unwrap();
    let response = client.send(request).await.unwrap();
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    (head.status.as_u16(), serde_json::from_slice(&bytes).unwrap_or_default())
}

/// A process that is killed before (even) or after (odd) the write of half this number.
#[derive(Clone)]
pub(crate) struct KillableProcess {
    kill: Option<u64>,
    writes: Arc<AtomicU64>,
    dead: Arc<Notify>,
}

impl KillableProcess {
    pub(crate) fn new(kill: Option<u64>) -> Self {
        Self { kill, writes: Arc::default(), dead: Arc::default() }
    }

    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// A client of this process.
    pub(crate) fn client(&self, inner: &Client) -> Client {
        let (mortal, inner) = (self.clone(), inner.clone());
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let (mortal, inner) = (mortal.clone(), inner.clone());
            async move {
                if request.method() == http::Method::GET {
                    return inner.send(request).await;
                }
                let write = mortal.writes.fetch_add(1, Ordering::Relaxed);
                mortal.die_at(2 * write).await;
                let answer = inner.send(request).await;
                mortal.die_at(2 * write + 1).await;
                answer
            }
        });
        Client::new(service, "default")
    }

    async fn die_at(&self, point: u64) {
        if self.kill == Some(point) {
            self.dead.notify_one();
            std::future::pending::<()>().await;
        }
    }

    /// Result; none if it was killed.
    pub(crate) async fn live<T>(&self, act: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = act => Some(done),
            () = self.dead.notified() => None,
        }
    }
}

pub(crate) fn crd(resource: &str) -> String {
    format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{resource}")
}

/// The screen of a plan with every target.
pub(crate) fn shown(plan: &mooring_finalizers::plan::Plan) -> String {
    mooring_finalizers::screens::plan(plan, "c", Some(&[]), true)
        .render(&mooring_terminal::Style::PIPE)
}
