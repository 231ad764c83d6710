//! Nodes of a cluster with their failures, merged from live objects and the failure record.
//!
//! | module | contents |
//! |---|---|
//! | `object` | the parts of NodeClaims and Nodes that are used |
//! | `failure` | [`NodeFailure`]: cause, codes and evidence of one node |
//! | `node` | [`Node`]: one node, in the cluster or only in the record |
//! | `nodes` | [`Nodes`]: nodes that inventories share |
//! | `merge` | [`Inventory`]: all nodes, merged by the uid of their NodeClaim |
//! | `unlisted` | [`Unlisted`]: nodes that only the counts have |
//! | `group` | [`FailureGroup`]: failures with the same cause, image and pool |
//! | `fleet` | [`Fleet`]: images and causes with 95 % intervals |
//! | `pool` | [`Pool`]: counts by pool |
//! | `karpenter` | [`Karpenter`]: NodePools and AKSNodeClasses, and the mitigations that are in effect |
//! | `advice` | [`Adviser`]: next steps that this cluster can follow |
//! | `reads` | [`Reads`]: which sources were read |
//! | `count` | [`Count`], [`Listed`]: a number or a list that may be incomplete |
//! | `usual` | [`JoinTimes`]: usual times to join, and nodes that are late |
//! | `facts` | [`ClusterFacts`]: everything that was read, and the state of the controller |
//! | `status` | content of the documents of `status` and `fleet` |
//!
//! Nothing here reads a cluster. A fact that was not read is a [`Reading`](mooring_workflow::Reading) or a [`Count`] without a
//! value, never zero: a pool is healthy only if everything that could deny it was read.

mod advice;
mod aks_pool;
mod count;
mod facts;
mod failure;
mod fleet;
mod group;
mod karpenter;
mod merge;
mod node;
mod node_list;
mod nodes;
mod object;
mod pool;
mod reads;
pub mod status;
mod unlisted;
mod usual;

pub use advice::{Advice, Adviser};
pub use aks_pool::AksPool;
pub use count::{Count, Listed};
pub use facts::{ClusterFacts, ControllerState};
pub use failure::{Code, Evidence, NodeFailure};
pub use fleet::{Fleet, FleetRow, FleetVerdict, Share, percent};
pub use group::{FailureGroup, groups, median};
pub use karpenter::{Karpenter, Mitigation, NodeClass, NodePool, Versions};
pub use merge::Inventory;
pub use mooring_controller::verdict::registration::REGISTRATION_LIMIT;
pub use node::{Filter, JoinState, Node, PoolKind};
pub use node_list::NodePage;
pub use nodes::Nodes;
pub use object::{ClaimItem, LaunchError, NodeItem};
pub use pool::{Pool, PoolState, pools};
pub use reads::Reads;
pub use unlisted::Unlisted;
pub use usual::{JoinTimes, Usual};
