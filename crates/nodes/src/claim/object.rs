//! The fields of a NodeClaim that are read; serde skips the others.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::vm_id::{Interner, MachineId, ScopeViolation, VmId};
use super::{Claim, Condition, ConditionStatus, LaunchError, Shape};

#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    #[error("not a NodeClaim: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("node class group is {0:?}, not karpenter.azure.com")]
    OtherCloud(String),
}

impl Claim {
    /// Parses an object as the API server sends it. Fields that are not used are skipped.
    pub fn from_json(
        json: &[u8],
        condition_type: &str,
        interner: &mut Interner,
    ) -> Result<Self, ClaimError> {
        serde_json::from_slice::<ClaimFields>(json)?.project(condition_type, interner)
    }
}

type Text = Option<String>;

#[derive(Clone, Debug, Deserialize)]
pub struct ClaimFields {
    pub metadata: ClaimMetadata,
    spec: Spec,
    status: Option<StatusPart>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimMetadata {
    pub name: String,
    pub uid: String,
    pub resource_version: Text,
    generation: Option<i64>,
    creation_timestamp: Timestamp,
    deletion_timestamp: Option<Timestamp>,
    #[serde(default, deserialize_with = "or_default")]
    labels: Labels,
    #[serde(default, deserialize_with = "or_default")]
    annotations: Annotations,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Labels {
    #[serde(rename = "karpenter.sh/nodepool")]
    pool: Text,
    #[serde(rename = "karpenter.sh/capacity-type")]
    capacity_type: Text,
    #[serde(rename = "node.kubernetes.io/instance-type")]
    instance_type: Text,
    #[serde(rename = "topology.kubernetes.io/zone")]
    zone: Text,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Annotations {
    #[serde(rename = "karpenter.azure.com/aks-machine-resource-id")]
    machine: Text,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_class_ref: NodeClassRef,
}

#[derive(Clone, Debug, Deserialize)]
struct NodeClassRef {
    group: Text,
    name: Text,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct StatusPart {
    #[serde(rename = "providerID")]
    provider_id: Text,
    #[serde(rename = "imageID")]
    image_id: Text,
    conditions: Option<Vec<ConditionPart>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConditionPart {
    #[serde(rename = "type")]
    kind: String,
    status: Text,
    reason: Text,
    message: Text,
    last_transition_time: Option<Timestamp>,
}

/// Go writes `null` for an empty map.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

impl ClaimFields {
    pub fn project(
        self,
        condition_type: &str,
        interner: &mut Interner,
    ) -> Result<Claim, ClaimError> {
        let Self { metadata, spec, status } = self;
        let group = spec.node_class_ref.group.unwrap_or_default();
        if group != "karpenter.azure.com" {
            return Err(ClaimError::OtherCloud(mooring_redact::identifier(&group)));
        }
        let shape = match &status {
            None => Shape::NoStatus,
            Some(StatusPart { conditions: None, .. }) => Shape::NoConditions,
            Some(_) => Shape::List,
        };
        let StatusPart { provider_id, image_id, conditions } = status.unwrap_or_default();
        let conditions = conditions.unwrap_or_default();
        let mut shared =
            |text: Text| text.filter(|text| !text.is_empty()).map(|text| interner.intern(&text));
        let (pool, zone) = (shared(metadata.labels.pool), shared(metadata.labels.zone));
        let instance_type = shared(metadata.labels.instance_type);
        let capacity_type = shared(metadata.labels.capacity_type);
        let image = shared(image_id);
        let node_class = shared(spec.node_class_ref.name).unwrap_or_default();
        let became_true = |kind: &str| {
            let condition = conditions.iter().find(|condition| condition.kind == kind)?;
            let is_true = condition.status.as_deref() == Some("True");
            is_true.then(|| condition.last_transition_time.unwrap_or(metadata.creation_timestamp))
        };
        let registered = conditions.iter().find(|condition| condition.kind == "Registered");
        let unregistered_since = registered
            .filter(|condition| condition.status.as_deref() != Some("True"))
            .and_then(|condition| condition.last_transition_time);
        let provider_id = provider_id.filter(|id| !id.is_empty());
        let vm = provider_id.as_deref().and_then(|id| VmId::parse(id, interner));
        Ok(Claim {
            pool,
            node_class,
            image,
            zone,
            instance_type,
            capacity_type,
            scope_violation: (vm.is_none() && provider_id.is_some())
                .then_some(ScopeViolation::ProviderId),
            vm,
            machine: metadata.annotations.machine.and_then(|id| MachineId::parse(&id, interner)),
            launched: became_true("Launched"),
            registered: became_true("Registered"),
            initialized: became_true("Initialized"),
            launch_error: launch_error(&conditions),
            unregistered_since: unregistered_since.unwrap_or(metadata.creation_timestamp),
            created: metadata.creation_timestamp,
            deleted: metadata.deletion_timestamp,
            condition: own_condition(
                &conditions,
                condition_type,
                metadata.creation_timestamp,
                interner,
            ),
            shape,
            uid: metadata.uid.into(),
            name: metadata.name.into(),
            resource_version: metadata.resource_version.unwrap_or_default().into(),
            generation: metadata.generation.unwrap_or(1),
        })
    }
}

/// Returns why there is no VM, unless Karpenter only waits.
fn launch_error(conditions: &[ConditionPart]) -> Option<Box<LaunchError>> {
    let launched = conditions.iter().find(|condition| condition.kind == "Launched")?;
    let reason = launched.reason.as_deref().unwrap_or_default();
    let message = launched.message.as_ref().filter(|message| !message.is_empty())?;
    let is_waiting =
        matches!(reason, "" | "AwaitingReconciliation" | "Launched" | "ReconcilingDependents");
    (launched.status.as_deref() != Some("True") && !is_waiting).then(|| {
        let at = launched.last_transition_time;
        Box::new(LaunchError { reason: reason.to_owned(), message: message.clone(), at })
    })
}

/// The older schema allows a type twice in the list; the first counts, as for other readers of conditions.
fn own_condition(
    conditions: &[ConditionPart],
    condition_type: &str,
    created: Timestamp,
    interner: &mut Interner,
) -> Option<Condition> {
    let index = conditions.iter().position(|condition| condition.kind == condition_type)?;
    let condition = &conditions[index];
    Some(Condition {
        index: u32::try_from(index).ok()?,
        status: ConditionStatus::parse(condition.status.as_deref().unwrap_or_default()),
        reason: interner.intern(condition.reason.as_deref().unwrap_or_default()),
        message: interner.intern(condition.message.as_deref().unwrap_or_default()),
        since: condition.last_transition_time.unwrap_or(created),
    })
}
