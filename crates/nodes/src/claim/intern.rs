//! Texts that many NodeClaims share, stored once.

use std::collections::HashSet;
use std::sync::Arc;

/// Shared texts: pools, images, zones, subscriptions, messages.
#[derive(Debug, Default)]
pub struct Interner {
    texts: HashSet<Arc<str>>,
    /// Number of texts at which unused ones are removed.
    sweep_at: usize,
}

const MIN_SWEEP: usize = 256;

impl Interner {
    pub fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        if self.texts.len() >= self.sweep_at.max(MIN_SWEEP) {
            self.texts.retain(|text| Arc::strong_count(text) > 1);
            self.sweep_at = self.texts.len() * 2;
        }
        let text: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&text));
        text
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_text_is_stored_once() {
        let mut interner = Interner::default();
        let (one, other) = (interner.intern("default"), interner.intern("default"));
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn unused_texts_are_removed() {
        let mut interner = Interner::default();
        let kept = interner.intern("kept");
        for text in 0..100_000 {
            interner.intern(&format!("message {text}"));
        }
        assert!(interner.len() <= 2 * MIN_SWEEP, "{}", interner.len());
        assert!(Arc::ptr_eq(&kept, &interner.intern("kept")));
    }

    #[test]
    fn unused_texts_are_removed_only_when_the_number_has_doubled() {
        let mut interner = Interner::default();
        assert!(interner.is_empty());
        let kept: Vec<Arc<str>> =
            (0..300).map(|text| interner.intern(&format!("kept {text}"))).collect();
        assert!(!interner.is_empty());
        for text in 0..2 * MIN_SWEEP - kept.len() {
            interner.intern(&format!("unused {text}"));
        }
        assert_eq!(interner.len(), 2 * MIN_SWEEP);
        interner.intern("one more");
        assert_eq!(interner.len(), kept.len() + 1);
    }
}
