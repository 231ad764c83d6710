//! Values that must not be printed.
//!
//! Neither type has `Display`, `Serialize` or `Deref`: the only way to the text is a call of
//! `expose()`, which is easy to find in a review.
//!
//! ```compile_fail
//! let token = mooring_redact::Secret::from("abcdef.0123456789abcdef");
//! println!("{token}");
//! ```

use std::fmt;

/// The placeholder that is printed for a secret.
pub const MASK: &str = "[secret]";

/// A secret text, such as a bootstrap token or a private key.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the text. Never pass it to a log, an error, an event or a command line.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// A proxy's address, whose user information (`user:password@`) is a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyUrl(String);

impl ProxyUrl {
    /// Returns the address including its user information.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the user information.
    ///
    /// A password may hold an unescaped `/` or `@`, so everything from the scheme to the *last*
    /// `@` counts: hiding too much is harmless, hiding too little is not.
    pub fn expose_user_info(&self) -> Option<&str> {
        self.split().map(|(_, user_info, _)| user_info)
    }

    /// Returns everything that must be redacted: the user information as a whole and its password alone.
    pub fn expose_secrets(&self) -> impl Iterator<Item = &str> {
        let user_info = self.expose_user_info();
        let password =
            user_info.and_then(|both| both.split_once(':')).map(|(_, password)| password);
        user_info.into_iter().chain(password)
    }

    /// Returns the address with a mask for its user information.
    pub fn masked(&self) -> String {
        match self.split() {
            Some((scheme, _, rest)) => format!("{scheme}{MASK}{rest}"),
            None => self.0.clone(),
        }
    }

    /// (scheme with `://`, user information, rest with `@`)
    fn split(&self) -> Option<(&str, &str, &str)> {
        let from = self.0.find("://").map_or(0, |at| at + "://".len());
        let at = self.0[from..].rfind('@')? + from;
        Some((&self.0[..from], &self.0[from..at], &self.0[at..]))
    }
}

impl<T: Into<String>> From<T> for ProxyUrl {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.split() {
            Some((scheme, _, rest)) => write!(f, "{:?}", format_args!("{scheme}{MASK}{rest}")),
            None => write!(f, "{:?}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_as_a_mask() {
        assert_eq!(format!("{:?}", Secret::from("hunter2")), "[secret]");
        assert_eq!(format!("{:#?}", Some(Secret::from("hunter2"))), "Some(\n    [secret],\n)");
        assert!(!Secret::from("hunter2").is_empty() && Secret::from("").is_empty());
        assert!(!ProxyUrl::from("http://proxy").is_empty() && ProxyUrl::from("").is_empty());
    }

    #[test]
    fn a_proxy_url_prints_without_its_user_information() {
        let debug = |url: &str| format!("{:?}", ProxyUrl::from(url));
        assert_eq!(debug("http://u:p@proxy:3128/"), "http://[secret]@proxy:3128/");
        assert_eq!(debug("http://u:p/a@b@proxy:3128"), "http://[secret]@proxy:3128");
        assert_eq!(debug("u:p@proxy:3128"), "[secret]@proxy:3128");
        assert_eq!(debug("http://proxy:3128"), "\"http://proxy:3128\"");
        assert_eq!(debug(""), "\"\"");
        assert_eq!(ProxyUrl::from("http://u:p/a@b@proxy").masked(), "http://[secret]@proxy");
        assert_eq!(ProxyUrl::from("http://proxy").masked(), "http://proxy");
    }

    #[test]
    fn password_alone_is_also_a_secret() {
        let url = ProxyUrl::from("https://user:pa:ss@proxy");
        assert_eq!(url.expose_secrets().collect::<Vec<_>>(), ["user:pa:ss", "pa:ss"]);
        assert_eq!(
            ProxyUrl::from("https://user@proxy").expose_secrets().collect::<Vec<_>>(),
            ["user"]
        );
        assert_eq!(ProxyUrl::from("https://proxy").expose_secrets().count(), 0);
    }
}
