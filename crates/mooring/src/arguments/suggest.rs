//! Suggestions for names that do not exist.

/// Suggestions per name.
const MAX_SUGGESTIONS: usize = 3;
/// Wrong letters in a name.
const MAX_DISTANCE: usize = 2;
/// Shorter names match only with fewer wrong letters.
const MIN_LENGTH: usize = 4;

/// Returns up to three known names that are similar to a name, the most similar first. Case, `_` and `-` do not matter.
pub(crate) fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = letters(name);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| Some((rank(&wanted, &letters(candidate))?, candidate)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, candidate)| candidate).take(MAX_SUGGESTIONS).collect()
}

/// Returns the number of wrong letters.
#[cfg(test)]
pub(crate) fn count_typos(name: &str, known: &str) -> usize {
    distance(&letters(name), &letters(known))
}

/// Returns true if at most two letters are wrong.
pub(crate) fn is_similar(name: &str, known: &str) -> bool {
    is_close(&letters(name), &letters(known))
}

/// Returns true if a word of a text may be a typo of another: one wrong letter, or two in a long word.
pub(crate) fn is_typo(word: &str, known: &str) -> bool {
    const LONG: usize = 8;
    let (word, known) = (letters(word), letters(known));
    let allowed = if word.len() < LONG { 1 } else { MAX_DISTANCE };
    is_within(&word, &known, allowed)
}

/// Returns a hint with suggestions, and with the command if there is only one.
pub(crate) fn hint<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    command: &str,
) -> Option<String> {
    let similar = similar(name, known);
    let quoted: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => None,
        [one] => Some(format!("hint: did you mean {one}?   {command} {}", similar[0])),
        [first @ .., last] => Some(format!("hint: did you mean {} or {last}?", first.join(", "))),
    }
}

/// Ranks similar names by their distance, then names that contain the wanted one.
fn rank(wanted: &[char], candidate: &[char]) -> Option<usize> {
    if is_close(wanted, candidate) {
        return Some(distance(wanted, candidate));
    }
    let contains = wanted.len() >= MIN_LENGTH
        && candidate.windows(wanted.len()).any(|window| window == wanted);
    contains.then_some(MAX_DISTANCE + 1)
}

fn is_close(one: &[char], other: &[char]) -> bool {
    let allowed = if one.len() < MIN_LENGTH { 1 } else { MAX_DISTANCE };
    is_within(one, other, allowed)
}

fn is_within(one: &[char], other: &[char], allowed: usize) -> bool {
    one.len().abs_diff(other.len()) <= allowed
        && count_other_letters(one, other) <= allowed
        && distance(one, other) <= allowed
}

/// Returns the number of letters that only one of them has. The distance is at least this, and takes longer to compute.
fn count_other_letters(one: &[char], other: &[char]) -> usize {
    let mut counts = [0_i32; 128];
    for letter in one {
        counts[*letter as usize % 128] += 1;
    }
    for letter in other {
        counts[*letter as usize % 128] -= 1;
    }
    let (mut more, mut fewer) = (0, 0);
    for count in counts {
        if count > 0 { more += count } else { fewer -= count }
    }
    usize::try_from(more.max(fewer)).unwrap_or(usize::MAX)
}

fn letters(name: &str) -> Vec<char> {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns the number of inserted, deleted, replaced and swapped letters (optimal string alignment).
fn distance(one: &[char], other: &[char]) -> usize {
    let width = other.len() + 1;
    let mut current: Vec<usize> = vec![0; width];
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (row, letter) in one.iter().enumerate() {
        current[0] = row + 1;
        for (column, facing) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != facing);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let is_swap =
                row > 0 && column > 0 && one[row - 1] == *facing && *letter == other[column - 1];
            if is_swap {
                best = best.min(before[column - 1] + 1);
            }
            current[column + 1] = best;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut current);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOLS: [&str; 5] = ["default", "gpu", "system", "user", "default-spot"];

    #[test]
    fn similar_names_come_first_and_longer_ones_after_them() {
        assert_eq!(similar("defalt", POOLS), ["default"]);
        assert_eq!(similar("Default", POOLS), ["default", "default-spot"]);
        assert_eq!(similar("gpus", POOLS), ["gpu"]);
        assert_eq!(similar("gup", POOLS), ["gpu"]);
        assert_eq!(similar("nothing", POOLS), [""; 0]);
        assert_eq!(similar("abc", ["abd", "abe", "abf", "abg"]).len(), 3);
        assert_eq!(similar("abc", ["xbz", "abc"]), ["abc"], "two of three letters are wrong");
        assert_eq!(similar("pool", ["a-pool-long", "zzol"]), ["zzol", "a-pool-long"]);
        assert_eq!(similar("oo", ["a-pool-long"]), [""; 0], "too short for a part");
    }

    #[test]
    fn hint_has_the_command_of_a_single_suggestion() {
        let hint = |name| hint(name, POOLS, "mooring why");
        assert_eq!(hint("defalt").unwrap(), "hint: did you mean `default`?   mooring why default");
        assert_eq!(hint("DEFAULT").unwrap(), "hint: did you mean `default` or `default-spot`?");
        assert_eq!(hint("nothing"), None);
    }

    #[test]
    fn distance_counts_wrong_letters() {
        let count = count_typos;
        assert_eq!(count("", ""), 0);
        assert_eq!(count("abc", ""), 3);
        assert_eq!(count("abc", "acb"), 1, "swapped");
        assert_eq!(count("abcd", "bacdx"), 2);
        assert_eq!(count("ERR_A-b", "errab"), 0);
        assert_eq!(count("abcd", "abd"), 1, "deleted");
        assert_eq!(count("abd", "abcd"), 1, "inserted");
        assert_eq!(count("abd", "abx"), 1, "replaced");
    }

    #[test]
    fn long_words_may_have_two_typos() {
        for (word, known, expected) in [
            ("timeout", "timeuot", true),
            ("timeout", "timeoxx", false),
            ("the", "txx", false),
            ("registry", "registxx", true),
            ("registry", "regisxxx", false),
        ] {
            assert_eq!(is_typo(word, known), expected, "{word} {known}");
        }
        assert!(!is_similar("abcdef", "fedcba"), "the same letters");
        assert!(is_similar("abcdef", "abcdxy") && !is_similar("abcdef", "abcxyz"));
    }

    #[test]
    fn letters_of_one_word_only_are_counted() {
        for (one, other, expected) in
            [("", "", 0), ("abc", "", 3), ("", "abc", 3), ("abc", "cab", 0), ("abc", "abd", 1)]
        {
            assert_eq!(count_other_letters(&letters(one), &letters(other)), expected, "{one}");
        }
        assert_eq!(count_other_letters(&letters("aab"), &letters("abbbc")), 3);
    }
}
