//! A run in the target cluster: one `ConfigMap` (`repair-<pool>` for a pool), replaced with its `resourceVersion`, so that two
//! writers cannot both succeed. Copies of objects are immutable `ConfigMap`s beside it.

use http::Method;
use mooring_k8s::{Client, Lost, RequestError, Response};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::error::{PAUSES, StoreError, explain};
use super::lock::{JournalLock, Lock, LockError, LockOwner, LockWait, lease_holder};
use super::place::explain_write;
use crate::canonical;
use crate::journal::Workflow;
use crate::journal::document::MAX_BYTES;
use crate::journal::{PastRun, Run, Runs, decode, encode};
use crate::model::Clock;
use crate::model::effect::Backup;

/// The label of a copy with the run that made it.
const RUN_LABEL: &str = "mooring/run";

pub struct RunStore {
    api: Client,
    namespace: String,
    name: String,
    /// Description, for an annotation.
    about: &'static str,
    /// The stored text.
    text: String,
    /// The `resourceVersion`; none if the object does not exist.
    version: Option<String>,
    /// Another process wrote since it was loaded: no more writes.
    lost: bool,
}

impl RunStore {
    #[must_use]
    pub fn new(api: Client, namespace: &str, name: String, about: &'static str) -> Self {
        let (namespace, text) = (namespace.to_owned(), String::new());
        Self { api, namespace, name, about, text, version: None, lost: false }
    }

    pub fn place(&self) -> String {
        format!("ConfigMap {}/{}", self.namespace, self.name)
    }

    /// Acquires the lock and reads the journal.
    pub async fn acquire<W: Workflow>(
        &mut self,
        owner: &LockOwner,
        wait: LockWait,
        clock: &Clock,
        stop: &mut watch::Receiver<bool>,
        report: &mut dyn FnMut(&str),
    ) -> Result<(JournalLock, Runs<W>), LockError> {
        let api = self.api.clone();
        let mut lock = JournalLock::new(api, &self.namespace, &self.name, owner, clock);
        lock.acquire(wait, clock, stop, report).await?;
        match self.load().await {
            Ok(runs) => Ok((lock, runs)),
            Err(error) => {
                lock.release().await;
                Err(LockError::Store(error))
            }
        }
    }

    pub async fn holder(&self) -> Result<Option<Lock>, StoreError> {
        let holder = lease_holder(&self.api, &self.namespace, &self.name).await;
        holder.map_err(|error| StoreError::Unavailable(explain(&error, &self.namespace)))
    }

    pub async fn load<W: Workflow>(&mut self) -> Result<Runs<W>, StoreError> {
        let found = self.read().await?;
        self.lost = false;
        (self.text, self.version) = found.map_or((String::new(), None), |(t, v)| (t, Some(v)));
        if self.version.is_none() { Ok(Runs::default()) } else { Ok(decode(&self.text)?) }
    }

    /// Stores a run durably if no other process did since it was loaded. After a lost response or a conflict, which may be
    /// with an earlier attempt of this process, a read decides.
    pub async fn save<W: Workflow>(
        &mut self,
        run: &Run<W>,
        past: &[PastRun],
    ) -> Result<(), StoreError> {
        if self.lost {
            return Err(StoreError::LostLock);
        }
        let wanted = encode(run, past);
        if wanted.len() > MAX_BYTES {
            return Err(StoreError::TooLarge(wanted.len(), MAX_BYTES));
        }
        let mut body = self.object(&self.name, "run", &wanted);
        let mut why = String::new();
        for pause in PAUSES {
            let sent = match &self.version {
                Some(version) => {
                    body["metadata"]["resourceVersion"] = version.as_str().into();
                    self.api.send(Method::PUT, &self.path(&self.name), Some(&body)).await
                }
                None => self.api.send(Method::POST, &self.path(""), Some(&body)).await,
            };
            match sent {
                Ok(response) if response.is_success() => {
                    self.version = version_of(&response.body);
                    self.text = wanted;
                    return Ok(());
                }
                Ok(response) if matches!(response.status, 404 | 409) => {
                    why = self.explain(&response);
                    let Some((found, version)) = self.read().await? else {
                        if self.version.is_none() && response.status == 404 {
                            return Err(StoreError::Unavailable(why));
                        }
                        // Deleted, and without it no run continues.
                        self.lost = true;
                        return Err(StoreError::LostLock);
                    };
                    if found != wanted && (self.version.is_none() || found != self.text) {
                        self.lost = true;
                        return Err(StoreError::LostLock);
                    }
                    self.version = Some(version);
                    if found == wanted {
                        self.text = wanted;
                        return Ok(());
                    }
                }
                Ok(response) if response.status == 429 || response.status >= 500 => {
                    why = self.explain(&response);
                }
                Ok(response) => {
                    let why = explain_write(&self.api, &self.namespace, &response).await;
                    return Err(StoreError::Unavailable(why));
                }
                Err(Lost(lost)) => why = lost,
            }
            tokio::time::sleep(pause).await;
        }
        Err(StoreError::Unavailable(why))
    }

    /// Writes a copy of an object that nobody can change, and reads it back.
    pub(crate) async fn back_up(&self, run: &str, backup: &Backup) -> Result<(), StoreError> {
        // The same copy of another run is deleted with that run.
        let digest = canonical::hash_bytes(format!("{run} {}", backup.hash).as_bytes());
        let name = format!("{}-{}", self.name, &digest[..20]);
        let mut body = self.object(&name, "object", &backup.text);
        body["immutable"] = true.into();
        body["metadata"]["labels"][RUN_LABEL] = run.into();
        let mut why = String::new();
        for pause in PAUSES {
            match self.get(&name).await? {
                Some(found) if found["immutable"] == true && found["data"] == body["data"] => {
                    return Ok(());
                }
                Some(_) => {
                    let why = format!("{}/{name} is not the copy of an object", self.namespace);
                    return Err(StoreError::Unavailable(why));
                }
                None => match self.api.send(Method::POST, &self.path(""), Some(&body)).await {
                    Ok(response) if response.is_success() || response.status == 409 => continue,
                    Ok(response) => why = self.explain(&response),
                    Err(Lost(lost)) => why = lost,
                },
            }
            tokio::time::sleep(pause).await;
        }
        Err(StoreError::Unavailable(why))
    }

    /// Deletes the copies of a run, as far as possible: those that remain do no harm.
    pub async fn forget_backups(&self, run: &str) {
        // The journal may name anything.
        if !run.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return;
        }
        let path = format!("{}?labelSelector=mooring%2Frun%3D{run}", self.path(""));
        let names = |body: &Value| {
            let items = body["items"].as_array()?.iter();
            let names = items.filter_map(|item| item["metadata"]["name"].as_str());
            Some(names.map(str::to_owned).collect())
        };
        let found: Vec<String> = self.api.list(&path, names).await.unwrap_or_default();
        let prefix = format!("{}-", self.name);
        for name in found.iter().filter(|name| name.starts_with(&prefix)) {
            let _ = self.api.send(Method::DELETE, &self.path(name), None).await;
        }
    }

    async fn read(&self) -> Result<Option<(String, String)>, StoreError> {
        let Some(object) = self.get(&self.name).await? else { return Ok(None) };
        let text = object["data"]["run"].as_str().unwrap_or_default();
        Ok(Some((text.to_owned(), version_of(&object).unwrap_or_default())))
    }

    async fn get(&self, name: &str) -> Result<Option<Value>, StoreError> {
        match self.api.get(&self.path(name)).await {
            Ok(response) if response.is_success() => Ok(Some(response.body)),
            Ok(response) if response.status == 404 => Ok(None),
            Ok(response) => Err(StoreError::Unavailable(self.explain(&response))),
            Err(Lost(why)) => Err(StoreError::Unavailable(why)),
        }
    }

    fn explain(&self, response: &Response) -> String {
        let (reason, message) = response.refusal();
        let error = RequestError { status: Some(response.status), reason, message };
        explain(&error, &self.namespace)
    }

    fn path(&self, name: &str) -> String {
        let path = format!("/api/v1/namespaces/{}/configmaps/{name}", self.namespace);
        path.trim_end_matches('/').to_owned()
    }

    fn object(&self, name: &str, member: &str, text: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": name, "namespace": self.namespace,
                "labels": {"app.kubernetes.io/managed-by": "mooring"},
                "annotations": {"mooring/about": format!("{} Belongs to {}.", self.about, self.name)},
            },
            "data": {member: text},
        })
    }
}

fn version_of(object: &Value) -> Option<String> {
    object.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned)
}
