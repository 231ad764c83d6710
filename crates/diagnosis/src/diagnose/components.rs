//! Components of a node and of its cluster (`data/components.toml`), and the one that a line is about.

use crate::cause::Component;
use crate::diagnose::rules::COMPONENTS;

/// Returns true for a cause that only a line shows; it is no evidence of what an image does.
pub fn is_unruled(reason: &str) -> bool {
    COMPONENTS.iter().any(|component| component.cause.reason == reason)
}

/// Returns the first component with a word in a text in lowercase; a part precedes the whole. In a text that names no
/// node, only specific ones count.
pub(crate) fn component_of(text: &[u8], is_node: bool) -> Option<&'static Component> {
    let mut components = COMPONENTS.iter().filter(|component| is_node || component.is_specific);
    components.find(|component| component.words.iter().any(|word| has_word(text, word)))
}

/// A short word counts only as a whole: `cni`, `pleg`, `node`.
fn has_word(text: &[u8], word: &str) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    memchr::memmem::find_iter(text, word).any(|at| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        word.len() > 5 || !is_letter(before) && !is_letter(text.get(at + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_precedes_the_whole_and_short_words_are_whole() {
        let name = |text: &str| component_of(text.as_bytes(), true).map(|component| component.name);
        assert_eq!(name("kubelet: cni plugin not initialized"), Some("cni"));
        assert_eq!(name("kubelet: failed to garbage collect"), Some("disk"));
        assert_eq!(name("kubelet exited on a node"), Some("kubelet"));
        assert_eq!(name("the node failed"), Some("node"));
        assert_eq!(name("technical nodejs"), None);
    }

    #[test]
    fn words_are_in_lowercase_and_belong_to_one_component() {
        let mut all: Vec<&str> = COMPONENTS.iter().flat_map(|one| one.words).copied().collect();
        assert!(all.iter().all(|word| *word == word.to_lowercase()));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
