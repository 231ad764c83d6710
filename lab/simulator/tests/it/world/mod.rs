//! Azure and its cluster together, under virtual time.

mod endpoints;
mod karpenter;
mod patience;
mod recorded;
mod requests;
mod scenarios;
mod shell;
mod support;
