//! Links to the published documents.

use mooring_codes::{Os, lookup};
use mooring_diagnosis::cause_page;

/// Address of the site that `cargo xtask docs` builds. Without one, nothing links to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocsUrl(Option<String>);

/// The address becomes a part of conditions, which have little room.
const MAX_BYTES: usize = 200;

impl DocsUrl {
    /// Returns an address without the slash at its end; an empty text is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = text.trim_end_matches('/');
        if url.is_empty() {
            return Ok(Self(None));
        }
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:%".contains(&byte);
        let is_url = host.is_some_and(|host| host.starts_with(|c: char| c.is_alphanumeric()))
            && url.bytes().all(is_allowed)
            && url.len() <= MAX_BYTES;
        if is_url { Ok(Self(Some(url.to_owned()))) } else { Err(EXPECTED.to_owned()) }
    }

    /// Returns the address of the page of a cause; none if it has none.
    pub fn cause(&self, reason: &str) -> Option<String> {
        let page = cause_page(reason)?;
        Some(format!("{}/causes/{}.html", self.0.as_ref()?, page.reason))
    }

    /// Returns the address of the page of a cause, or of the code if the tables of codes name the cause.
    pub fn failure(&self, cause: &str, code: Option<i32>) -> Option<String> {
        self.cause(cause).or_else(|| self.code(code?))
    }

    /// Returns the address of the page of an exit code; none if no table has it.
    pub fn code(&self, number: i32) -> Option<String> {
        let is_known =
            [Os::Linux, Os::Windows].iter().any(|os| !lookup(*os, number, None).is_empty());
        is_known.then(|| Some(format!("{}/codes/{number}.html", self.0.as_ref()?)))?
    }
}

const EXPECTED: &str =
    "must be an address such as https://docs.example/mooring, of at most 200 characters";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_those_of_the_site() {
        let docs = DocsUrl::parse("https://docs.example/mooring/").unwrap();
        let cause = docs.cause("orasbinarymissing").unwrap();
        assert_eq!(cause, "https://docs.example/mooring/causes/OrasBinaryMissing.html");
        assert_eq!(docs.code(232).unwrap(), "https://docs.example/mooring/codes/232.html");
        assert_eq!(docs.failure("KubeletStartFail", Some(34)), docs.code(34));
        assert_eq!((docs.cause("NoSuchCause"), docs.code(9999)), (None, None));
        let none = DocsUrl::parse("").unwrap();
        assert_eq!((none.cause("OrasBinaryMissing"), none.code(232)), (None, None));
    }

    #[test]
    fn address_is_one_of_the_web_without_query_and_markup() {
        for wrong in [
            "docs.example",
            "https://",
            "javascript:alert(1)",
            "https://docs.example/?q=1",
            "https://docs.example/#a",
            "https://docs.example/ a",
            "https://docs.example/\"><script>",
            "https://user@docs.example",
        ] {
            assert!(DocsUrl::parse(wrong).is_err(), "{wrong}");
        }
        assert!(DocsUrl::parse(&format!("https://{}", "a".repeat(200))).is_err());
    }
}
