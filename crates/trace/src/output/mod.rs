//! The formats of a timeline, and the building blocks of pages.

pub mod bars;
pub mod chrome;
pub mod html;
pub mod json;
pub mod otlp;
pub mod page;
pub mod table;
pub mod waterfall;
