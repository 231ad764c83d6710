//! AKS messages that imply a code without naming it.

use crate::text::lexer::{follows, phrase};
use crate::text::scan::Anchor;

/// Returns the code that the message around an anchor implies.
pub(crate) fn code(text: &[u8], anchor: Anchor, at: usize, end: usize) -> Option<i64> {
    let then = |words: &str| phrase(text, end, words).is_some();
    let after = |words: &str| follows(text, at, words);
    match anchor {
        Anchor::Establish if after("unable to") && then("outbound connection from agents") => {
            Some(50)
        }
        Anchor::Establish
            if after("unable to") && then("connection from agents to Kubernetes API server") =>
        {
            Some(51)
        }
        Anchor::Resolve if after("unable to") && then("Kubernetes API server name") => Some(52),
        Anchor::NoSuchHost => Some(52),
        Anchor::Registry if after("Bootstrap Container") && then("is not reachable") => Some(211),
        Anchor::Registry if after("Bootstrap Container") && then("authorization failed") => {
            Some(212)
        }
        Anchor::Endpoint
            if after("connect to the")
                && (then("that's used to download the container network interface")
                    || then("that is used to download the container network interface")) =>
        {
            Some(41)
        }
        Anchor::Downloading
            if (after("timeout") || after("time-out") || after("timed out"))
                && then("Kubernetes binaries") =>
        {
            Some(31)
        }
        _ => None,
    }
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
