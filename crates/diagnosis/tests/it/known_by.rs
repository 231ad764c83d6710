//! Texts that the page of a cause lists under "Known by".

use mooring_diagnosis::{Hints, cause_pages, diagnose};

#[test]
fn text_under_known_by_is_recognized_when_pasted_alone() {
    let mut missed = Vec::new();
    let mut count = 0;
    for page in cause_pages() {
        for sign in &page.known_by {
            count += 1;
            let found = diagnose(sign.join(" ").as_bytes(), Hints::default());
            if !found.iter().any(|one| one.reason == page.reason) {
                let found: Vec<&str> = found.iter().map(|one| one.reason.as_str()).collect();
                missed.push(format!("{} {sign:?} {found:?}", page.reason));
            }
        }
    }
    assert!(missed.is_empty(), "{} of {count}:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn phrase_among_other_words_needs_its_subject() {
    for text in ["quota exceeded", "Quota exceeded.", "\"quota exceeded\"\n"] {
        assert_eq!(diagnose(text.as_bytes(), Hints::default()).len(), 1, "{text}");
    }
    for text in ["mailbox: quota exceeded", "quota exceeded: 5", "quota exceeded \u{3067}\u{3059}"]
    {
        assert_eq!(diagnose(text.as_bytes(), Hints::default()), [], "{text}");
    }
}
