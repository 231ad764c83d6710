//! Azure and its cluster together, under virtual time.

mod endpoints;
mod karpenter;
mod patience;
mod recorded;
mod scenarios;
mod shell;
mod support;
