//! Images whose nodes fail.

pub mod images;
