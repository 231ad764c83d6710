//! Terms, run, what was read and the time in; exactly one decision out.
//!
//! Every step is *level-triggered*: it compares what is with what should be, so that after a crash the question is never
//! what was being done, only what is still missing. One thing differs from a pool's repair: an effect does not end a
//! look, since a look is a list of perhaps a thousand objects. What was acted upon since the look counts as handled
//! until the next one.
//!
//! | module | idea |
//! |---|---|
//! | [`reads`] | what each step depends on |
//! | `decide` | the decision of the current step |
//! | `context` | what a step may know, and how an effect is tried again |
//! | `objects`, `installation` | the steps |
//! | `leftovers` | what is left at the end, and why |

mod context;
mod decide;
mod installation;
mod leftovers;
mod objects;
pub(crate) mod reads;

pub(crate) use context::{Context, Halt, stop};
