//! Decides what a repair does next.
//!
//! A decision depends only on the replayed run, on the reads since the last change, and on the time. Every step is
//! *level-triggered*: it compares actual with desired state, so that a run can continue after a crash at any point.
//!
//! | module | idea |
//! |---|---|
//! | `reads` | reads of each step |
//! | `decide` | the step's decision, and the preconditions of its effect |
//! | `clear_operation`, `pools`, `drain`, `verify` | the steps |
//! | `rollback` | `abort` |

mod clear_operation;
mod decide;
mod drain;
mod pools;
mod reads;
mod rollback;
mod verify;
