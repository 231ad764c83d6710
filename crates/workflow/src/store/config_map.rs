//! A journal in the target cluster.
//!
//! The head object (`repair-<pool>` for a pool) holds the newest part of the journal and the numbers of the full parts,
//! which are objects `<head>-<n>`. Every change is one write of the head that names the version it was made from, so that
//! two writers cannot both succeed. A full part is written before the head
//! counts it; one that the head does not count was left by a crash and does not exist.

use std::marker::PhantomData;
use std::ops::Range;

use http::Method;
use mooring_kube::{Client, Lost, RequestError, Response};
use serde_json::{Value, json};

use super::segments::{SEGMENT_BYTES, Segment, join};
use crate::error::{PAUSES, StoreError, explain};
use crate::journal::{Content, Record, encode};

/// What the head says, beside its version.
#[derive(Debug, Clone, Default, PartialEq)]
struct Head {
    /// The numbers of the full parts that count: those before were forgotten.
    parts: Range<usize>,
    text: String,
}

pub struct ConfigMapStore<E> {
    api: Client,
    namespace: String,
    name: String,
    /// For whoever finds the object.
    about: &'static str,
    head: Head,
    /// The head's `resourceVersion`; none if there is no head.
    version: Option<String>,
    /// Another process wrote since it was loaded: nothing may be written any more.
    lost: bool,
    /// How many records the full parts hold, as they were loaded.
    counts: Vec<usize>,
    content: PhantomData<E>,
}

impl<E: Content> ConfigMapStore<E> {
    /// The store with this head object; `about` says what it is to whoever finds it.
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

    pub(super) fn place(&self) -> String {
        format!("ConfigMap {}/{}", self.namespace, self.name)
    }

    pub(super) fn location(&self) -> (&Client, &str, &str) {
        (&self.api, &self.namespace, &self.name)
    }

    pub(super) async fn load(&mut self) -> Result<Vec<Record<E>>, StoreError> {
        let found = self.read_head().await?;
        self.lost = false;
        (self.head, self.version) = found.map_or((Head::default(), None), |(h, v)| (h, Some(v)));
        let mut segments = Vec::new();
        self.counts.clear();
        for index in self.head.parts.clone() {
            let part = self.get(&self.part(index)).await?;
            let text = part.as_ref().and_then(|part| part.pointer("/data/journal")?.as_str());
            let text = text.ok_or_else(|| {
                StoreError::Unavailable(format!("part {index} of the journal is missing"))
            })?;
            self.counts.push(text.lines().count());
            segments.push(Segment { index, text: text.to_owned() });
        }
        segments.push(Segment { index: self.head.parts.end, text: self.head.text.clone() });
        Ok(join(segments)?)
    }

    pub(super) async fn append(&mut self, record: &Record<E>) -> Result<(), StoreError> {
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

    /// Forgets whole parts of which nothing is retained; the rest of a run in a part that stays does no harm.
    pub(super) async fn keep(&mut self, all: usize, retained: usize) -> Result<(), StoreError> {
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
            // What cannot be deleted now is not counted any more.
            let _ = self.api.send(Method::DELETE, &self.path(&self.part(index)), None).await;
        }
        Ok(())
    }

    /// Writes the head if nobody else did. An answer that was lost, and a conflict that may be with our own
    /// earlier try, are settled by looking.
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
                Ok(answer) if answer.is_success() => {
                    self.version = version_of(&answer.body);
                    self.head = wanted;
                    return Ok(());
                }
                Ok(answer) if matches!(answer.status, 404 | 409) => {
                    why = self.explain(&answer);
                    let Some((found, version)) = self.read_head().await? else {
                        if self.version.is_none() && answer.status == 404 {
                            return Err(StoreError::Unavailable(why));
                        }
                        // It was deleted. Its records do not exist any more, and no run continues without them.
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
                Ok(answer) if answer.status == 429 || answer.status >= 500 => {
                    why = self.explain(&answer);
                }
                Ok(answer) => return Err(StoreError::Unavailable(self.explain(&answer))),
                Err(Lost(lost)) => why = lost,
            }
            tokio::time::sleep(pause).await;
        }
        Err(StoreError::Unavailable(why))
    }

    /// Puts a full part beside the head. One of that name is there if a crash left it, and is replaced, or if
    /// somebody who took the run over counts it by now, and then stays as it is.
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
                // The part was read before the head: whoever takes over from here on changes its version.
                self.still_ours().await?;
                self.api.send(Method::PUT, &self.path(&name), Some(&body)).await
            } else {
                self.api.send(Method::POST, &self.path(""), Some(&body)).await
            };
            match sent {
                Ok(answer) if answer.is_success() => return Ok(()),
                Ok(answer) => why = self.explain(&answer),
                Err(Lost(lost)) => why = lost,
            }
            tokio::time::sleep(pause).await;
        }
        Err(StoreError::Unavailable(why))
    }

    /// Fails if somebody else wrote the head since it was loaded.
    async fn still_ours(&mut self) -> Result<(), StoreError> {
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
            StoreError::Unavailable(format!(
                "the {what} in {place} is unreadable (docs/RUNBOOK.md)"
            ))
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
            Ok(answer) if answer.is_success() => Ok(Some(answer.body)),
            Ok(answer) if answer.status == 404 => Ok(None),
            Ok(answer) => Err(StoreError::Unavailable(self.explain(&answer))),
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
