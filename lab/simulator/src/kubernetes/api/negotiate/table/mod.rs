mod age;
mod cells;
mod json_path;
mod printer;

pub(crate) use printer::{metadata_of, of};
