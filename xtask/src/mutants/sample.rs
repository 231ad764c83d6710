//! Samples mutants by seed.

use std::collections::HashMap;

/// Chooses `count` mutants. Each mutant's rank follows from the seed and its name without line and column, so that the choice stays
/// the same when code above or below a mutant changes.
pub(super) fn choose<'a>(names: &[&'a str], count: usize, seed: u64) -> Vec<&'a str> {
    let mut occurrences: HashMap<String, u64> = HashMap::new();
    let mut ranked: Vec<(u64, &str)> = names
        .iter()
        .map(|name| {
            let change = without_position(name);
            let occurrence =
                occurrences.entry(change.clone()).and_modify(|count| *count += 1).or_default();
            (rank(&change, *occurrence, seed), *name)
        })
        .collect();
    ranked.sort_unstable();
    ranked.truncate(count);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// Removes line and column: `src/a.rs:3:5: replace x` becomes `src/a.rs: replace x`.
fn without_position(name: &str) -> String {
    let Some((place, change)) = name.split_once(": ") else { return name.to_owned() };
    let file = place.split(':').next().unwrap_or(place);
    format!("{file}: {change}")
}

/// Returns a number that looks random: FNV-1a over seed, occurrence and text, mixed by the finalizer of `SplitMix64`.
fn rank(text: &str, occurrence: u64, seed: u64) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(occurrence.to_le_bytes()).chain(text.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::choose;

    const NAMES: [&str; 4] = [
        "src/a.rs:3:5: replace f -> bool with true",
        "src/a.rs:3:5: replace f -> bool with false",
        "src/a.rs:9:5: replace == with != in g",
        "src/a.rs:9:15: replace == with != in g",
    ];

    #[test]
    fn sample_follows_from_its_seed() {
        let many: Vec<String> =
            (0..100).map(|at| format!("src/b.rs:{at}:1: replace f{at} with ()")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let first = choose(&many, 10, 1);
        assert_eq!(first.len(), 10);
        assert_eq!(choose(&many, 10, 1), first);
        assert_ne!(choose(&many, 10, 2), first);
        assert_eq!(choose(&many, 20, 1)[..10], first[..]);
        let mut reversed = many.clone();
        reversed.reverse();
        assert_eq!(choose(&reversed, 10, 1), first);
    }

    #[test]
    fn sample_stays_when_lines_move() {
        let moved = NAMES.map(|name| name.replace(":9:", ":12:").replace(":3:", ":4:"));
        let moved: Vec<&str> = moved.iter().map(String::as_str).collect();
        for count in 1..=4 {
            let before = choose(&NAMES, count, 3);
            let after = choose(&moved, count, 3);
            let places = |chosen: &[&str], all: &[&str]| -> Vec<usize> {
                chosen.iter().map(|name| all.iter().position(|of| of == name).unwrap()).collect()
            };
            assert_eq!(places(&before, &NAMES), places(&after, &moved));
        }
    }
}
