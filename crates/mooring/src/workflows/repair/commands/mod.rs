//! The commands of `mooring repair`, a file each.

pub(super) mod abort;
pub(super) mod apply;
pub(super) mod detect;
pub(super) mod pipeline;
mod pipeline_end;
pub(super) mod resume;
pub(super) mod status;
