//! Proves that a node pool is wedged, plans its rebuilding, and carries the plan out from a journal so that
//! a kill at any instant loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`observation`] | what was read at one instant; what could not be read is *unknown* |
//! | [`signatures`] | what a wedge is, as data |
//! | [`guards`] | five preconditions with evidence, and the verdict that holds whatever is unknown |
//! | [`sanitise`], [`sensitive`], [`names`] | from a live pool to a request body |
//! | [`stand_in`] | a temporary pool that is there, and whose it is |
//! | [`approval`] | plan hash and expiry, as one token |
//! | [`plan`] | steps as data, with a hash over what matters |
//! | [`journal`] | write-ahead records, chained by hashes; the lock's decision |
//! | [`machine`] | state, what was seen and the time in; exactly one thing to do out |
//! | `replay` | from a journal's records to where its last run stands |
//! | [`begin`] | whether a run may begin at all |
//! | [`approval`], [`resume`] | what approves a plan, and on what authority a run is continued |
//! | [`effects`], [`world`], [`run`] | changes as data, the seam to the outside, and the loop between |
//! | [`shell`] | the real outside: Azure, Kubernetes, the journal's stores, and what an operator asks for |
//! | [`report`] | what was done, for people and programs |
//! | [`finalizers`] | the same for what a retired operator left behind |
//!
//! Decisions are pure; only [`shell`], [`finalizers::shell`] and [`journal::RealDisk`] touch anything.

pub mod approval;
pub mod begin;
pub mod canonical;
mod counted;
pub mod effects;
pub mod finalizers;
mod flowchart;
pub mod guards;
pub mod journal;
pub mod machine;
pub mod names;
pub mod observation;
pub mod plan;
mod replay;
pub mod report;
pub mod resume;
pub mod run;
pub mod sanitise;
pub mod sensitive;
pub mod settings;
pub mod shell;
pub mod signatures;
pub mod stand_in;
pub mod world;
