//! A journal in the target cluster.
//!
//! The head object (`repair-<pool>` for a pool) contains the newest part of the journal and the numbers of the full parts,
//! which are objects `<head>-<n>`. Every change is one write of the head with its `resourceVersion`, so that two writers
//! cannot both succeed. A full part is written before the head counts it; a crash may leave one that does not count.

use std::marker::PhantomData;
use std::ops::Range;

use http::Method;
use mooring_kube::{Client, Lost, RequestError, Response};
use serde_json::{Value, json};

use super::error::{PAUSES, StoreError, explain};
use super::lock::{JournalLock, Lock, LockOwner, lease_holder};
use crate::engine::world::Clock;
use crate::journal::{Content, Record, decode, encode};

/// Maximum size of the journal text in one object. Every record rewrites the head, so it must stay small; a usual run has
/// 100 KiB. The API server rejects more than 1 MiB.
pub const SEGMENT_BYTES: usize = 262_144;

/// Content of the head object, without its version.
#[derive(Debug, Clone, Default, PartialEq)]
struct Head {
    /// The numbers of the full parts that count: earlier ones were dropped.
    parts: Range<usize>,
    text: String,
}

pub struct JournalStore<E> {
    api: Client,
    namespace: String,
    name: String,
    /// Description, for an annotation.
    about: &'static str,
    head: Head,
    /// The head's `resourceVersion`; none if it does not exist.
    version: Option<String>,
    /// Another process wrote since it was loaded: no more writes.
    lost: bool,
    /// Records in each full part.
    counts: Vec<usize>,
    content: PhantomData<E>,
}

impl<E: Content> JournalStore<E> {
    #[must_use]
    pub fn new(api: Client, namespace: &str, name: String, about: &'static str) -> Self {
        Self {
            api,
            namespace: namespace.to_owned(),
            name,
            about,
            head: Head::default(),
            version: None,
            lost: false,
            counts: Vec::new(),
            content: PhantomData,
        }
    }

    pub fn place(&self) -> String {
        format!("ConfigMap {}/{}", self.namespace, self.name)
    }

    /// Returns the lock of this journal, not acquired yet.
    pub(crate) fn lock(&self, owner: &LockOwner, clock: &Clock) -> JournalLock {
        JournalLock::new(self.api.clone(), &self.namespace, &self.name, owner, clock)
    }

    pub async fn holder(&self) -> Result<Option<Lock>, StoreError> {
        let holder = lease_holder(&self.api, &self.namespace, &self.name).await;
        holder.map_err(|error| StoreError::Unavailable(explain(&error, &self.namespace)))
    }

    pub async fn load(&mut self) -> Result<Vec<Record<E>>, StoreError> {
        let found = self.read_head().await?;
        self.lost = false;
        (self.head, self.version) = found.map_or((Head::default(), None), |(h, v)| (h, Some(v)));
        let mut journal = String::new();
        self.counts.clear();
        for index in self.head.parts.clone() {
            let part = self.get(&self.part(index)).await?;
            let text = part.as_ref().and_then(|part| part.pointer("/data/journal")?.as_str());
            let text = text.ok_or_else(|| {
                StoreError::Unavailable(format!("part {index} of the journal is missing"))
            })?;
            self.counts.push(text.lines().count());
            journal.push_str(text);
        }
        journal.push_str(&self.head.text);
        Ok(decode(&journal)?)
    }

    /// Appends a record durably if the journal has not changed since it was loaded.
    pub async fn append(&mut self, record: &Record<E>) -> Result<(), StoreError> {
        let line = encode(record);
        let mut head = self.head.clone();
        let is_full = !head.text.is_empty() && head.text.len() + line.len() > SEGMENT_BYTES;
        let full = is_full.then(|| head.text.lines().count());
        if is_full {
            self.put_part(head.parts.end, &head.text).await?;
            head.parts.end += 1;
            head.text.clear();
        }
        head.text.push_str(&line);
        self.write(head).await?;
        self.counts.extend(full);
        Ok(())
    }

    /// Drops whole parts of which nothing is retained.
    pub async fn keep(&mut self, all: usize, retained: usize) -> Result<(), StoreError> {
        let mut forgotten = all.saturating_sub(retained);
        let mut parts = self.head.parts.clone();
        for count in &self.counts {
            if *count > forgotten {
                break;
            }
            forgotten -= count;
            parts.start += 1;
        }
        let gone = self.head.parts.start..parts.start;
        if gone.is_empty() {
            return Ok(());
        }
        self.write(Head { parts, ..self.head.clone() }).await?;
        self.counts.drain(..gone.len());
        for index in gone {
            // A part that is not deleted does not count.
            let _ = self.api.send(Method::DELETE, &self.path(&self.part(index)), None).await;
        }
        Ok(())
    }

    /// Writes the head if no other process did. After a lost response or a conflict, which may be with an earlier attempt of
    /// this process, a read decides.
    async fn write(&mut self, wanted: Head) -> Result<(), StoreError> {
        if self.lost {
            return Err(StoreError::LostLock);
        }
        let mut why = String::new();
        for pause in PAUSES {
            let body = self.object(&self.name, &wanted.data(), self.version.as_deref());
            let sent = match &self.version {
                Some(_) => self.api.send(Method::PUT, &self.path(&self.name), Some(&body)).await,
                None => self.api.send(Method::POST, &self.path(""), Some(&body)).await,
            };
            match sent {
                Ok(response) if response.is_success() => {
                    self.version = version_of(&response.body);
                    self.head = wanted;
                    return Ok(());
                }
                Ok(response) if matches!(response.status, 404 | 409) => {
                    why = self.explain(&response);
                    let Some((found, version)) = self.read_head().await? else {
                        if self.version.is_none() && response.status == 404 {
                            return Err(StoreError::Unavailable(why));
                        }
                        // Deleted with its records, without which no run continues.
                        self.lost = true;
                        return Err(StoreError::LostLock);
                    };
                    if found != wanted && found != self.head {
                        self.lost = true;
                        return Err(StoreError::LostLock);
                    }
                    self.version = Some(version);
                    if found == wanted {
                        self.head = wanted;
                        return Ok(());
                    }
                }
                Ok(response) if response.status == 429 || response.status >= 500 => {
                    why = self.explain(&response);
                }
                Ok(response) => return Err(StoreError::Unavailable(self.explain(&response))),
                Err(Lost(lost)) => why = lost,
            }
            tokio::time::sleep(pause).await;
        }
        Err(StoreError::Unavailable(why))
    }

    /// Writes a full part. An existing one is either left by a crash, and is replaced, or counted by a process that took
    /// over the run, and is not changed.
    async fn put_part(&mut self, index: usize, text: &str) -> Result<(), StoreError> {
        let (name, data) = (self.part(index), json!({ "journal": text }));
        let mut why = String::new();
        for pause in PAUSES {
            let found = self.get(&name).await?;
            if found.as_ref().and_then(|part| part.pointer("/data/journal"))
                == Some(&data["journal"])
            {
                return Ok(());
            }
            let version = found.as_ref().and_then(version_of);
            let body = self.object(&name, &data, version.as_deref());
            let sent = if found.is_some() {
                // The part was read before the head: a process that takes over later changes its version.
                self.ensure_unchanged().await?;
                self.api.send(Method::PUT, &self.path(&name), Some(&body)).await
            } else {
                self.api.send(Method::POST, &self.path(""), Some(&body)).await
            };
            match sent {
                Ok(response) if response.is_success() => return Ok(()),
                Ok(response) => why = self.explain(&response),
                Err(Lost(lost)) => why = lost,
            }
            tokio::time::sleep(pause).await;
        }
        Err(StoreError::Unavailable(why))
    }

    /// Fails if another process wrote the head since it was loaded.
    async fn ensure_unchanged(&mut self) -> Result<(), StoreError> {
        let version = self.read_head().await?.map(|(_, version)| version);
        if version == self.version {
            return Ok(());
        }
        self.lost = true;
        Err(StoreError::LostLock)
    }

    async fn read_head(&self) -> Result<Option<(Head, String)>, StoreError> {
        let Some(object) = self.get(&self.name).await? else { return Ok(None) };
        let data = |name: &str| {
            object.pointer(&format!("/data/{name}")).and_then(Value::as_str).unwrap_or_default()
        };
        let unreadable = |what: &str| {
            let place = self.place();
            StoreError::Unavailable(format!("invalid {what} in {place} (docs/RUNBOOK.md)"))
        };
        let parts = match data("parts") {
            "" => 0..0,
            text => text
                .split_once("..")
                .and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?))
                .ok_or_else(|| unreadable("list of parts"))?,
        };
        let head = Head { parts, text: data("journal").to_owned() };
        Ok(Some((head, version_of(&object).unwrap_or_default())))
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

    fn part(&self, index: usize) -> String {
        format!("{}-{index}", self.name)
    }

    fn path(&self, name: &str) -> String {
        let path = format!("/api/v1/namespaces/{}/configmaps/{name}", self.namespace);
        path.trim_end_matches('/').to_owned()
    }

    fn object(&self, name: &str, data: &Value, version: Option<&str>) -> Value {
        let mut object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": name, "namespace": self.namespace,
                "labels": {"app.kubernetes.io/managed-by": "mooring"},
                "annotations": {"mooring/about": format!("{} Belongs to {}.", self.about, self.name)},
            },
            "data": data,
        });
        if let Some(version) = version {
            object["metadata"]["resourceVersion"] = version.into();
        }
        object
    }
}

impl Head {
    fn data(&self) -> Value {
        json!({
            "parts": format!("{}..{}", self.parts.start, self.parts.end),
            "journal": self.text,
        })
    }
}

fn version_of(object: &Value) -> Option<String> {
    object.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned)
}
