//! The environment variables of the image's bootstrap scripts.
//!
//! Everything here is a function of four inputs, without I/O: the node config, the GPU images that `components.json`
//! lists, the output of `containerd --version`, and the date of the image's version. The scripts were written for the upstream Go agent, so its values
//! are kept byte for byte, including quirks, which are marked as such.
//!
//! | module | contents |
//! |---|---|
//! | [`command`] | the command line that runs in it, and paths of the scripts, also under another root |
//! | `config` | the variables of one field of the config |
//! | `kubelet`, `containerd`, `corefile` | files passed in variables |
//! | `gpu` | drivers by VM size, and the image's list of them |
//! | [`go`] | versions, letters and numbers as Go has them |
//!
//! ```
//! use mooring_agent::environment::{self, ContainerdLayout, GpuImages};
//!
//! let config = mooring_contract::node_config::parse(br#"{"version": "v1"}"#)?.config;
//! let gpu = GpuImages::from_components(b"{}")?;
//! let built = environment::build(&config, &gpu, ContainerdLayout::detect(None), None)?;
//! assert_eq!(built.environment.expose("ADMINUSER"), Some("azureuser"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
pub mod command;
mod config;
mod containerd;
mod corefile;
pub mod go;
mod gpu;
mod kubelet;

pub use build::{Built, NulError, build};
pub use command::Root;
pub use containerd::ContainerdLayout;
pub use gpu::{GpuImage, GpuImages};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mooring_redact::{MASK, ProxyUrl, Secret};

/// Variables, ordered by name.
///
/// Some are secrets, so `Debug` prints names only, and values are returned by methods named `expose`.
/// The type of the source field determines whether a value is a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<Cow<'static, str>, Value>,
}

#[derive(Clone, PartialEq, Eq)]
struct Value {
    text: String,
    is_secret: bool,
}

impl Environment {
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(AsRef::as_ref)
    }

    /// A variable's value, even if it is a secret.
    pub fn expose(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.text.as_str())
    }

    /// All names and values, in order, secrets included: for the child process and nothing else.
    pub fn expose_all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_ref(), value.text.as_str()))
    }

    /// The same, without copying the values.
    pub(crate) fn into_exposed(self) -> impl Iterator<Item = (String, String)> {
        self.variables.into_iter().map(|(name, value)| (name.into_owned(), value.text))
    }

    /// Returns names and values, in order, with masked secrets.
    pub fn masked(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| {
            (name.as_ref(), if value.is_secret { MASK } else { value.text.as_str() })
        })
    }

    /// The variables that hold a secret, in order. An empty value is none.
    pub fn secret_names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().filter(|(_, value)| value.is_secret).map(|(name, _)| name.as_ref())
    }

    /// The first variable, by name, whose value holds a NUL.
    fn first_with_nul(&self) -> Option<&str> {
        self.expose_all().find(|(_, value)| value.contains('\0')).map(|(name, _)| name)
    }

    fn text(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> &mut Self {
        self.insert(name.into(), value.into(), false)
    }

    fn flag(&mut self, name: &'static str, value: bool) -> &mut Self {
        self.text(name, if value { "true" } else { "false" })
    }

    fn integer(&mut self, name: &'static str, value: i32) -> &mut Self {
        self.text(name, value.to_string())
    }

    /// A file that travels in base64: standard alphabet, padded, no line breaks.
    fn file(&mut self, name: &'static str, content: &str) -> &mut Self {
        self.text(name, STANDARD.encode(content))
    }

    fn secret(&mut self, name: &'static str, value: &Secret) -> &mut Self {
        self.insert(name.into(), value.expose().to_owned(), !value.is_empty())
    }

    /// A text made from these proxies: secret if one of them holds user information.
    fn proxies(
        &mut self,
        name: &'static str,
        text: impl Into<String>,
        made_from: &[&ProxyUrl],
    ) -> &mut Self {
        let is_secret = made_from.iter().any(|proxy| proxy.expose_user_info().is_some());
        self.insert(name.into(), text.into(), is_secret)
    }

    /// Changes the value of a variable that exists and is not empty.
    fn change(&mut self, name: &str, change: impl FnOnce(&str) -> String) {
        if let Some(value) = self.variables.get_mut(name).filter(|value| !value.text.is_empty()) {
            value.text = change(&value.text);
        }
    }

    fn insert(&mut self, name: Cow<'static, str>, text: String, is_secret: bool) -> &mut Self {
        self.variables.insert(name, Value { text, is_secret });
        self
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Environment {
        let mut environment = Environment::default();
        let proxy = ProxyUrl::from("http://u:hunter2@proxy");
        environment
            .secret("TOKEN", &Secret::from("hunter2"))
            .secret("NO_TOKEN", &Secret::default())
            .proxies("PROXY", proxy.expose(), &[&proxy])
            .proxies("PLAIN_PROXY", "http://proxy", &[&ProxyUrl::from("http://proxy")])
            .text("LOCATION", "eastus");
        environment
    }

    #[test]
    fn debug_prints_names_and_never_a_value() {
        let debug = format!("{:?} {:#?}", sample(), sample());
        assert!(debug.contains("\"LOCATION\""));
        for value in ["hunter2", "eastus", "proxy"] {
            assert!(!debug.contains(value), "{debug}");
        }
    }

    #[test]
    fn secrets_are_masked_and_empty_ones_shown_as_empty() {
        let environment = sample();
        assert_eq!(
            environment.masked().collect::<Vec<_>>(),
            [
                ("LOCATION", "eastus"),
                ("NO_TOKEN", ""),
                ("PLAIN_PROXY", "http://proxy"),
                ("PROXY", "[secret]"),
                ("TOKEN", "[secret]"),
            ]
        );
        assert_eq!(environment.secret_names().collect::<Vec<_>>(), ["PROXY", "TOKEN"]);
        assert_eq!(environment.expose("TOKEN"), Some("hunter2"));
        assert_eq!(environment.expose("token"), None);
        assert_eq!((environment.len(), environment.is_empty()), (5, false));
        assert!(Environment::default().is_empty());
    }

    #[test]
    fn a_nul_is_found_by_the_name_of_its_variable() {
        let mut environment = sample();
        assert_eq!(environment.first_with_nul(), None);
        environment.text("B", "\0").text("A", "x\0y");
        assert_eq!(environment.first_with_nul(), Some("A"));
    }
}
