//! Suggestions for names that do not exist.

/// Suggestions per name.
const MAX_SUGGESTIONS: usize = 3;
/// Wrong letters in a name.
const MAX_DISTANCE: usize = 2;
/// Shorter names match only with fewer wrong letters.
const MIN_LENGTH: usize = 4;

/// Returns up to three known names that are similar to a name, the most similar first. Case, `_` and `-` do not matter.
pub fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = letters(name);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| Some((rank(&wanted, &letters(candidate))?, candidate)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, candidate)| candidate).take(MAX_SUGGESTIONS).collect()
}

/// Returns true if at most two letters are wrong.
pub fn is_similar(name: &str, known: &str) -> bool {
    typos(&letters(name), &letters(known), MIN_LENGTH).is_some()
}

/// Returns true if a word of a text may be a typo of another: one wrong letter, or two in a long word.
pub fn is_typo(word: &str, known: &str) -> bool {
    const LONG: usize = 8;
    typos(&letters(word), &letters(known), LONG).is_some()
}

/// Returns a hint with suggestions, and with the command if there is only one.
pub fn hint<'a>(
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
fn rank(wanted: &str, candidate: &str) -> Option<usize> {
    let is_part = wanted.len() >= MIN_LENGTH && candidate.contains(wanted);
    typos(wanted, candidate, MIN_LENGTH).or(is_part.then_some(MAX_DISTANCE + 1))
}

/// Returns the number of wrong letters: at most two, or one in a name that is shorter than `long`.
fn typos(one: &str, other: &str, long: usize) -> Option<usize> {
    let allowed = if one.len() < long { 1 } else { MAX_DISTANCE };
    // The distance is at least this, and takes longer to compute.
    let is_near = one.chars().count().abs_diff(other.chars().count()) <= allowed;
    is_near.then(|| strsim::osa_distance(one, other)).filter(|distance| *distance <= allowed)
}

pub fn letters(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
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
    fn swapped_letters_are_one_typo() {
        let count = |name: &str, known: &str| typos(&letters(name), &letters(known), 0);
        assert_eq!(count("abc", "acb"), Some(1), "swapped");
        assert_eq!(count("abcd", "bacdx"), Some(2));
        assert_eq!(count("ERR_A-b", "errab"), Some(0));
        assert_eq!(count("abc", ""), None);
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
}
