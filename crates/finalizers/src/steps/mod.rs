//! Decides what a removal does next.
//!
//! Every step is *level-triggered*: it compares actual with desired state, so that a run can continue after a crash at any
//! point. Unlike in a pool repair, an effect does not discard the reads, since lists may have thousands of objects: changed
//! objects count as handled until the next list.
//!
//! | module | idea |
//! |---|---|
//! | [`reads`] | reads of each step |
//! | `decide` | the decision of the current step |
//! | `context` | inputs of a step, and the retry policy of its effects |
//! | `objects`, `installation` | the steps |
//! | `operator_stopped` | the check right before finalizers are removed |
//! | `remaining` | objects that remain at the end |

mod context;
mod decide;
mod installation;
mod objects;
mod operator_stopped;
pub(crate) mod reads;
mod remaining;
