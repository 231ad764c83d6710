//! Runs many small simulations in parallel.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls `act` for the numbers of a range on all cores. Panics if one of them panics.
pub fn on_all_cores(numbers: Range<u64>, act: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(numbers.start);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        break;
                    }
                    act(number);
                }
            });
        }
    });
}
