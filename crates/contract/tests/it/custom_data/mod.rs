//! Custom data: documents, limits and errors.

mod multipart_reader;
mod node;
mod samples;

mod boothook_runs;
mod features;
mod golden;
mod multipart;
mod round_trip;
mod scale_set;
mod secrets;
mod size;
