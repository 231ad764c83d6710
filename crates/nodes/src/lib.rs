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
//! | `report` | [`NodeReport`]: one node as Azure or the node itself shows it |
//! | `object` | the parts of NodeClaims and Nodes that are used |
//! | `failure` | [`NodeFailure`]: cause, codes and evidence of one node |
//! | `node` | [`Node`]: one node, in the cluster or only in the record; [`Nodes`] that inventories share |
//! | `merge` | [`Inventory`]: all nodes, merged by the uid of their NodeClaim |
//! | `unlisted` | [`Unlisted`]: nodes that only the counts have |
//! | `fleet` | [`Fleet`]: images and causes with 95 % intervals; [`FailureGroup`]: failures with the same cause, image and pool |
//! | `pool` | [`Pool`]: counts by pool; [`JoinTimes`]: usual times to join, and nodes that are late |
//! | `karpenter` | [`Karpenter`]: NodePools and AKSNodeClasses, and the mitigations that are in effect |
//! | `advice` | [`Adviser`]: next steps that this cluster can follow; [`DocsUrl`]: links to the published documents |
//! | `count` | [`Count`], [`Listed`]: a number or a list that may be incomplete; [`Reads`]: which sources were read |
//! | `facts` | [`ClusterFacts`]: everything that was read, and the state of the controller |
//! | `status` | content of the documents of `status` and `fleet` |
//!
//! A fact that was not read is a [`Reading`](mooring_workflow::Reading) or a [`Count`] without a
//! value, never zero: a pool is healthy only if everything that could deny it was read.

mod advice;
pub mod claim;
mod count;
mod facts;
mod failure;
mod fleet;
pub mod images;
mod karpenter;
mod merge;
mod node;
mod object;
mod pool;
pub mod record;
mod report;
pub mod status;
pub mod text;
mod unlisted;
pub mod unregistered;
pub mod verdict;

pub use advice::{Advice, Adviser, DocsUrl};
pub use claim::scope::Scope;
pub use claim::{Claim, LaunchError};
pub use count::{AksPool, Count, Listed, Reads};
pub use facts::{ClusterFacts, ControllerState};
pub use failure::{Code, Evidence, NodeFailure};
pub use fleet::{FailureGroup, Fleet, FleetRow, FleetVerdict, Share, groups, median, percent};
pub use karpenter::{Karpenter, Mitigation, NodeClass, NodePool, Versions, has_versions};
pub use merge::Inventory;
pub use node::{Filter, JoinState, Node, Nodes, PoolKind};
pub use object::{NodeItem, NodePage};
pub use pool::{JoinTimes, Pool, PoolState, Usual, pools};
pub use report::{NodeReport, ReportSource};
pub use unlisted::Unlisted;
pub use unregistered::UnregisteredNode;
pub use verdict::registration::REGISTRATION_LIMIT;
pub use verdict::{ConditionReason, ConditionStatus, Finding, Verdict};
