//! What a node is to be, its pool and image, its failure, and what is known of it. Nothing here reads a cluster.
//!
//! | module | contents |
//! |---|---|
//! | [`claim`] | the kept part of a NodeClaim, under 1 KiB; which reads of Azure it permits; names of images |
//! | [`verdict`] | verdicts, reasons of conditions, failures with their texts, nodes that did not register |
//! | [`record`] | the last failures of each pool; joined and failed nodes by half hour |
//! | [`images`] | detection of failing images |
//! | [`unregistered`] | Nodes that Karpenter has not registered |
//! | [`text`] | printable, redacted texts |
//! | `report` | [`NodeReport`]: one node as Azure, the node or the record shows it |
//! | `object` | the parts of NodeClaims and Nodes that are used |
//! | `failure` | [`NodeFailure`]: cause, codes and evidence of one node |
//! | `node` | [`Node`]: one node, in the cluster or only in the record; [`Nodes`] that inventories share |
//! | `merge` | [`Inventory`]: all nodes, merged by the uid of their NodeClaim |
//! | `unlisted` | [`Unlisted`]: nodes that only the counts have |
//! | `group` | [`FailureGroup`]: failures with the same cause, image and pool |
//! | `fleet` | [`Fleet`]: images and causes with 95 % intervals |
//! | `pool` | [`Pool`]: counts by pool |
//! | `karpenter` | [`Karpenter`]: NodePools and AKSNodeClasses, and the mitigations that are in effect |
//! | `docs` | [`DocsUrl`]: links to the published documents |
//! | `advice` | [`Adviser`]: next steps that this cluster can follow |
//! | `count` | [`Count`], [`Listed`]: a number or a list that may be incomplete |
//! | `usual` | [`JoinTimes`]: usual times to join, and nodes that are late |
//! | `facts` | [`ClusterFacts`]: everything that was read, and the state of the controller |
//! | `reads` | [`Reads`]: which sources were read |
//! | `status` | content of the documents of `status` and `fleet` |
//!
//! A fact that was not read is a [`Reading`](mooring_workflow::Reading) or a [`Count`] without a
//! value, never zero: a pool is healthy only if everything that could deny it was read.

mod advice;
mod aks_pool;
pub mod claim;
mod count;
mod docs;
mod facts;
mod failure;
mod fleet;
mod group;
pub mod hash;
pub mod images;
mod karpenter;
mod merge;
mod node;
mod object;
mod pool;
mod reads;
pub mod record;
mod report;
pub mod status;
pub mod text;
mod unlisted;
pub mod unregistered;
mod usual;
pub mod verdict;

pub use advice::{Advice, Adviser};
pub use aks_pool::AksPool;
pub use claim::Claim;
pub use claim::scope::Scope;
pub use count::{Count, Listed};
pub use docs::DocsUrl;
pub use facts::{ClusterFacts, ControllerState};
pub use failure::{Code, Evidence, NodeFailure};
pub use fleet::{Fleet, FleetRow, FleetVerdict, Share, percent};
pub use group::{FailureGroup, groups, median};
pub use karpenter::{Karpenter, Mitigation, NodeClass, NodePool, Versions, has_versions};
pub use merge::Inventory;
pub use node::Nodes;
pub use node::{Filter, JoinState, Node, PoolKind};
pub use object::NodePage;
pub use object::{ClaimItem, LaunchError, NodeItem};
pub use pool::{Pool, PoolState, pools};
pub use reads::Reads;
pub use report::{NodeReport, ReportSource};
pub use unlisted::Unlisted;
pub use unregistered::UnregisteredNode;
pub use usual::{JoinTimes, Usual};
pub use verdict::condition::{ConditionReason, ConditionStatus};
pub use verdict::registration::REGISTRATION_LIMIT;
pub use verdict::{Finding, Verdict};
