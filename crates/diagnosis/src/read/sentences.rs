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
