//! Decides what a repair does next.
//!
//! A decision depends on the replayed run, on what was read since the last change, and on the time; nothing else is
//! kept. Every step is *level-triggered*: it compares what is with what should be, so that after a crash it does not
//! matter what was being done, only what is still missing.
//!
//! | module | idea |
//! |---|---|
//! | `reads` | what each step depends on |
//! | `decide` | the step's decision, and the preconditions of its effect |
//! | `context` | what a step may know, and how an effect is tried again |
//! | `clear_operation`, `pools`, `drain`, `verify` | the steps |
//! | `rollback` | `abort` |

mod clear_operation;
mod context;
mod decide;
mod drain;
mod pools;
mod reads;
mod rollback;
mod verify;

pub(crate) use context::{Context, Halt, Progress, Unknown, resumable};
