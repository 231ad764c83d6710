//! AKS messages that imply a code without naming it.

use crate::text::lexer::{follows, phrase};
use crate::text::scan::Anchor;

/// Anchors with the phrases before and after them, of which one each is required, and the codes that they imply.
const SENTENCES: &[(Anchor, &[&str], &[&str], i64)] = &[
    (Anchor::Establish, &["unable to"], &["outbound connection from agents"], 50),
    (Anchor::Establish, &["unable to"], &["connection from agents to Kubernetes API server"], 51),
    (Anchor::Resolve, &["unable to"], &["Kubernetes API server name"], 52),
    (Anchor::NoSuchHost, &[""], &[""], 52),
    (Anchor::Registry, &["Bootstrap Container"], &["is not reachable"], 211),
    (Anchor::Registry, &["Bootstrap Container"], &["authorization failed"], 212),
    (
        Anchor::Endpoint,
        &["connect to the"],
        &[
            "that's used to download the container network interface",
            "that is used to download the container network interface",
        ],
        41,
    ),
    (Anchor::Downloading, &["timeout", "time-out", "timed out"], &["Kubernetes binaries"], 31),
];

/// Returns the code that the message around an anchor implies.
pub(crate) fn code(text: &[u8], anchor: Anchor, at: usize, end: usize) -> Option<i64> {
    let mut of_anchor = SENTENCES.iter().filter(|(known, ..)| *known == anchor);
    let found = of_anchor.find(|(_, before, after, _)| {
        before.iter().any(|words| follows(text, at, words))
            && after.iter().any(|words| phrase(text, end, words).is_some())
    });
    found.map(|(.., code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_messages_of_aks_imply_a_code() {
        use Anchor::{Downloading, Endpoint, Establish, NoSuchHost, Registry, Resolve};
        let download = "used to download the container network interface";
        for (before, word, anchor, after, expected) in [
            ("Unable to", "establish", Establish, "outbound connection from agents", Some(50)),
            ("able to", "establish", Establish, "outbound connection from agents", None),
            (
                "unable to",
                "establish",
                Establish,
                "connection from agents to Kubernetes API server",
                Some(51),
            ),
            ("we", "establish", Establish, "connection from agents to Kubernetes API server", None),
            ("unable to", "establish", Establish, "a connection", None),
            ("unable to", "resolve", Resolve, "Kubernetes API server name", Some(52)),
            ("to", "resolve", Resolve, "Kubernetes API server name", None),
            ("unable to", "resolve", Resolve, "names", None),
            ("", "LookupNoSuchHost", NoSuchHost, "", Some(52)),
            ("Bootstrap Container", "Registry", Registry, "is not reachable", Some(211)),
            ("Container", "Registry", Registry, "is not reachable", None),
            ("Bootstrap Container", "Registry", Registry, "authorization failed", Some(212)),
            ("Container", "Registry", Registry, "authorization failed", None),
            ("Bootstrap Container", "Registry", Registry, "is used", None),
            ("connect to the", "endpoint", Endpoint, &format!("that's {download}"), Some(41)),
            ("connect to the", "endpoint", Endpoint, &format!("that is {download}"), Some(41)),
            ("the", "endpoint", Endpoint, &format!("that's {download}"), None),
            ("connect to the", "endpoint", Endpoint, "of the API", None),
            ("timeout", "downloading", Downloading, "Kubernetes binaries", Some(31)),
            ("time-out", "downloading", Downloading, "Kubernetes binaries", Some(31)),
            ("timed out", "downloading", Downloading, "Kubernetes binaries", Some(31)),
            ("failed", "downloading", Downloading, "Kubernetes binaries", None),
            ("timeout", "downloading", Downloading, "images", None),
        ] {
            let text = format!("{before} {word} {after}");
            let at = before.len() + 1;
            assert_eq!(code(text.as_bytes(), anchor, at, at + word.len()), expected, "{text}");
        }
    }
}
