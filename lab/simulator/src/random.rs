//! Random numbers from a seed.

use std::time::Duration;

/// A stream of numbers that depends only on its seed.
///
/// `SplitMix64`: small, and implemented here so that a seed in an old report replays the same run,
/// independent of library versions.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a separate stream for one use, so that drawing from it does not shift the others.
    #[must_use]
    pub fn fork(&self, name: &str) -> Self {
        // FNV-1a, 64 bits.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut fork = Self { state: self.state ^ hash };
        fork.draw();
        fork
    }

    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn guid(&mut self) -> String {
        let (high, low) = (self.draw(), self.draw());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }

    /// Returns a number below `bound`; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of a 128-bit product: uniform enough for any bound of a simulation.
        u64::try_from((u128::from(self.draw()) * u128::from(bound)) >> 64).unwrap_or_default()
    }

    /// Returns true with this probability: 0 never, 1 always.
    pub fn random_bool(&mut self, probability: f64) -> bool {
        self.fraction() < probability
    }

    /// Returns a duration in the range, both ends included.
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let span = most.saturating_sub(least);
        least + span.mul_f64(self.fraction())
    }

    /// Returns a number in `0.0..1.0`.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what an f64 holds")]
    fn fraction(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_gives_stable_numbers() {
        let mut random = Random::new(1);
        assert_eq!(
            [random.draw(), random.draw(), random.draw()],
            [0x910a_2dec_8902_5cc1, 0xbeeb_8da1_658e_ec67, 0xf893_a2ee_fb32_555e]
        );
    }

    #[test]
    fn drawing_from_a_fork_leaves_the_others_alone() {
        let root = Random::new(7);
        let mut one = root.fork("faults");
        let first = one.draw();
        let mut other = root.fork("names");
        other.draw();
        assert_eq!(root.fork("faults").draw(), first);
        assert_ne!(root.fork("names").draw(), first);
    }

    #[test]
    fn probability_zero_is_never_and_one_is_always() {
        let mut random = Random::new(3);
        assert!((0..1000).all(|_| !random.random_bool(0.0)));
        assert!((0..1000).all(|_| random.random_bool(1.0)));
        let half = (0..10_000).filter(|_| random.random_bool(0.5)).count();
        assert!((4_700..5_300).contains(&half), "{half}");
    }
}
