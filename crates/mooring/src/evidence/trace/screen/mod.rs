//! The screen of a node's life: a verdict, and its stages over time.

mod axis;
mod life;
mod rows;
#[cfg(test)]
mod tests;
mod verdict;

pub(super) use life::screen;
