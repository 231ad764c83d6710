//! Images and pools whose nodes fail.

pub mod images;
pub mod pools;
