//! `upstream PATH`: what a checkout of AgentBaker has that our recordings of it do not have, and the other way around.

mod chore;
mod facts;
mod found;
mod proto;
mod recorded;

pub(crate) use chore::upstream;
