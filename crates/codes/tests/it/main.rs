//! Exit codes, dates of images, and errors in the data.

mod codes;
mod data;
mod history;
mod image_date;
