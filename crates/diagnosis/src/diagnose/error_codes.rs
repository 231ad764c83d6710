//! Names of error codes in a text: `Code="X"`, `"code": "X"`, `ERROR CODE: X`, `(X) …`, and words that look like one.

use std::ops::Range;

const MAX_NAME: usize = 96;
/// Longer texts are searched for labels only.
const MAX_UNLABELED: usize = 64 << 10;
/// Distance of the start of an address from a name in it.
const MAX_URL: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundCode {
    pub(crate) name: String,
    pub(crate) at: usize,
    /// False for a mere word, which a catalog must know.
    pub(crate) is_labeled: bool,
}

/// Codes of errors that only wrap another, states that are named code as well, and the label after an empty code.
const WRAPPERS: &[&str] = &[
    "Message",
    "Running",
    "Stopped",
    "Succeeded",
    "DeploymentFailed",
    "InvalidTemplateDeployment",
    "ResourceDeploymentFailure",
    "ResourceOperationFailure",
    "Conflict",
    "ProvisioningState",
    "UpgradeFailed",
    "CreateVMSSAgentPoolFailed",
    "ReconcileVMSSAgentPoolFailed",
    "LaunchFailed",
    "CreateInstanceFailed",
];

/// Returns the codes of a text, the innermost first: wrappers come first in a text, and are left out.
pub(crate) fn error_codes(text: &[u8]) -> Vec<FoundCode> {
    let mut found: Vec<FoundCode> = labeled(text).chain(in_parentheses(text)).collect();
    if text.len() <= MAX_UNLABELED {
        let words = words(text).filter(|word| is_long_name(&text[word.clone()]));
        let known: Vec<usize> = found.iter().map(|code| code.at).collect();
        let words =
            words.filter(|word| !known.contains(&word.start) && !is_in_url(text, word.start));
        found.extend(words.map(|word| code(text, word, false)));
    }
    found.retain(|code| !WRAPPERS.contains(&code.name.as_str()));
    found.sort_by_key(|code| (std::cmp::Reverse(code.is_labeled), std::cmp::Reverse(code.at)));
    found
}

fn code(text: &[u8], range: Range<usize>, is_labeled: bool) -> FoundCode {
    let at = range.start;
    let name = String::from_utf8_lossy(&text[range]).into_owned();
    let is_labeled = is_labeled || name.starts_with("AADSTS");
    FoundCode { name, at, is_labeled }
}

/// Reads the values of `Code=`, `"code":`, `ERROR CODE:`, `Subcode:`, also of translated labels that end so.
fn labeled(text: &[u8]) -> impl Iterator<Item = FoundCode> {
    const LABELS: [&[u8]; 5] = [
        b"ode",
        b"ODE",
        "digo".as_bytes(),
        "\u{30b3}\u{30fc}\u{30c9}".as_bytes(),
        "\u{4ee3}\u{7801}".as_bytes(),
    ];
    let ends = LABELS.iter().flat_map(move |label| {
        // `code`, but not `node`.
        let is_english = label[0].eq_ignore_ascii_case(&b'o');
        let is_word = move |at: &usize| {
            !is_english || at.checked_sub(1).is_some_and(|at| text[at].eq_ignore_ascii_case(&b'c'))
        };
        memchr::memmem::find_iter(text, label).filter(is_word).map(|at| at + label.len())
    });
    ends.filter_map(|end| {
        let at = end + count(&text[end..], b"\"'\\ ", 4);
        let after = match &text[at..] {
            [b':' | b'=', ..] => at + 1,
            // A colon of Chinese and Japanese texts.
            [0xef, 0xbc, 0x9a, ..] => at + 3,
            _ => return None,
        };
        let start = after + count(&text[after..], b"\"'\\ \n", 8);
        let range = name_at(text, start)?;
        // `rpc error: code = Unknown desc = ...`
        let is_rpc = text[range.end..].starts_with(b" desc");
        (!is_rpc && is_name(&text[range.clone()])).then(|| code(text, range, true))
    })
}

/// Reads `(X) message`, which the Azure CLI prints, and `(Code: X)`.
fn in_parentheses(text: &[u8]) -> impl Iterator<Item = FoundCode> {
    memchr::memchr_iter(b'(', text).filter_map(|open| {
        let range = name_at(text, open + 1)?;
        let name = &text[range.clone()];
        (text.get(range.end) == Some(&b')') && is_name(name) && is_long_name(name))
            .then(|| code(text, range, true))
    })
}

fn count(text: &[u8], bytes: &[u8], most: usize) -> usize {
    text.iter().take(most).take_while(|byte| bytes.contains(byte)).count()
}

fn name_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = rest.iter().take(MAX_NAME + 1).take_while(is_part).count();
    (len > 0 && len <= MAX_NAME).then_some(at..at + len)
}

/// `BadRequest`, but neither `Forbid` nor `ERROR`.
fn is_name(name: &[u8]) -> bool {
    let is_directory = || name.starts_with(b"AADSTS") && name.len() > 9;
    let is_pascal = || name[0].is_ascii_uppercase() && name.iter().any(u8::is_ascii_lowercase);
    name.len() > 5 && (is_pascal() || is_directory())
}

/// A name of several words in one, such as `SubnetIsFull`, which is no word of a language.
fn is_long_name(name: &[u8]) -> bool {
    let humps =
        name.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    is_name(name) && (name.starts_with(b"AADSTS") || name.len() >= 8 && humps.count() >= 1)
}

fn words(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        at += text[at..].iter().position(is_part)?;
        let start = at;
        at += text[at..].iter().take_while(|byte| is_part(byte)).count();
        Some(start..at)
    })
}

/// Returns true for a part of a link, except to Azure's API.
fn is_in_url(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(MAX_URL)..at];
    let end =
        before.iter().rposition(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
    let token = end.map_or(before, |end| &before[end + 1..]);
    let has = |part: &[u8]| memchr::memmem::find(token, part).is_some();
    has(b"://") || has(b"aka.ms/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        error_codes(text.as_bytes()).into_iter().map(|code| code.name).collect()
    }

    #[test]
    fn labeled_codes_are_found_in_every_wrapping() {
        for text in [
            r#"Code="SubnetIsFull" Message="x""#,
            r#"{"code": "SubnetIsFull"}"#,
            r#"{\"code\":\"SubnetIsFull\"}"#,
            "ERROR CODE: SubnetIsFull",
            "Code: SubnetIsFull\nMessage: x",
            "(SubnetIsFull) Subnet x",
            "Codigo: SubnetIsFull",
            "C\u{f3}digo: SubnetIsFull",
            "\u{30b3}\u{30fc}\u{30c9}: SubnetIsFull",
            "\u{4ee3}\u{7801}\u{ff1a}SubnetIsFull",
        ] {
            let found = error_codes(text.as_bytes());
            assert!(found.iter().any(|one| one.name == "SubnetIsFull" && one.is_labeled), "{text}");
        }
    }

    #[test]
    fn innermost_code_is_first_and_wrappers_are_left_out() {
        let text = r#"{"code":"DeploymentFailed","details":[{"code":"BadRequest","message":"Code=\"VMCacheSizeTooSmall\""}]}"#;
        assert_eq!(names(text), ["VMCacheSizeTooSmall", "BadRequest"]);
        assert_eq!(names("AADSTS7000222: expired"), ["AADSTS7000222"]);
    }

    #[test]
    fn words_numbers_and_links_are_not_codes() {
        for text in ["node: SubnetA", "exit code: 50", "code: ERROR", "Code=Abcde", "Conflict"] {
            assert_eq!(names(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(names("see https://aka.ms/SubnetIsFull"), Vec::<String>::new());
        let word = error_codes(b"reason: SubnetIsFull");
        assert!(!word[0].is_labeled);
    }
}
