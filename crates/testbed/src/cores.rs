//! Many small worlds, one after the other on every core.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Does the numbers of a range on all cores. A panic on one of them ends in a panic here.
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
