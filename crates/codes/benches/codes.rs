//! Time of lookups: `cargo bench -p mooring-codes`. The limit is 100 ns.

use divan::{Bencher, black_box};
use mooring_codes::{Date, Os, by_name, lookup};

fn main() {
    divan::main();
}

#[divan::bench(args = [50, 232, 255])]
fn look_up_number(bencher: Bencher, number: i32) {
    bencher.bench(|| lookup(Os::Linux, black_box(number), None));
}

#[divan::bench(args = [50, 232, 255])]
fn look_up_number_and_day(bencher: Bencher, number: i32) {
    let day = Date::new(2026, 1, 27);
    bencher.bench(|| lookup(Os::Linux, black_box(number), black_box(day)));
}

#[divan::bench]
fn look_up_name(bencher: Bencher) {
    bencher.bench(|| by_name(black_box("VMExtensionError_OutboundConnFail")));
}
