//! Exit codes, dates of images, and errors in the data.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod codes;
mod data;
mod history;
mod image_date;
