//! JSON in its original text, with a typed view.
//!
//! A pool that is read in order to be recreated must lose nothing: no unknown member, no digit of a number. So the
//! text is kept, and the type is only a view of it. A [`RawObject`] changes single members of a text and keeps all
//! others byte for byte.

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// A value from Azure: its text and a typed view.
#[derive(Clone)]
pub struct Raw<T> {
    text: Box<RawValue>,
    view: T,
}

impl<T: DeserializeOwned> Raw<T> {
    pub fn parse(text: &str) -> Result<Self, RawError> {
        Self::from_raw(serde_json::from_str(text)?)
    }

    pub(crate) fn from_raw(text: Box<RawValue>) -> Result<Self, RawError> {
        Ok(Self { view: serde_json::from_str(text.get())?, text })
    }
}

impl<T> Raw<T> {
    /// Returns the text byte for byte as Azure sent it.
    pub fn text(&self) -> &str {
        self.text.get()
    }

    pub fn document(&self) -> Result<RawObject, RawError> {
        RawObject::parse(self.text())
    }

    pub fn view(&self) -> &T {
        &self.view
    }
}

impl<T> std::ops::Deref for Raw<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.view
    }
}

/// Prints the view only: the text may contain secrets that the view omits.
impl<T: std::fmt::Debug> std::fmt::Debug for Raw<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view.fmt(f)
    }
}

impl<T> PartialEq for Raw<T> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Raw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(text).map_err(serde::de::Error::custom)
    }
}

impl<T> Serialize for Raw<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

/// A JSON object whose members are kept as text, in their order.
#[derive(Clone, Default)]
pub struct RawObject(Vec<(String, Box<RawValue>)>);

impl RawObject {
    pub fn parse(text: &str) -> Result<Self, RawError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Serializes a value that is a JSON object.
    pub fn of<T: Serialize>(value: &T) -> Result<Self, RawError> {
        Self::parse(&serde_json::to_string(value)?)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| value.get())
    }

    /// Returns a member that is an object; `None` if it is absent or `null`.
    pub fn object(&self, name: &str) -> Result<Option<Self>, RawError> {
        match self.get(name) {
            None | Some("null") => Ok(None),
            Some(text) => Self::parse(text).map(Some),
        }
    }

    /// Sets a member; an existing one keeps its position.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), RawError> {
        let value = serde_json::value::to_raw_value(value)?;
        match self.0.iter_mut().find(|(member, _)| member == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
        Ok(())
    }

    /// Removes a member, and returns true if it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(member, _)| member != name);
        self.0.len() != before
    }

    pub fn text(&self) -> Result<String, RawError> {
        Ok(serde_json::to_string(self)?)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = RawObject;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, Box<RawValue>>()? {
                    members.push(member);
                }
                Ok(RawObject(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl Serialize for RawObject {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Prints names only: values may be secrets.
impl std::fmt::Debug for RawObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A list that may be empty, `null` or absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RawList<T> {
    #[default]
    Absent,
    Null,
    Items(Vec<T>),
}

impl<T> RawList<T> {
    pub fn items(&self) -> &[T] {
        match self {
            Self::Items(items) => items,
            Self::Absent | Self::Null => &[],
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for RawList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<Vec<T>>::deserialize(deserializer)?.map_or(Self::Null, Self::Items))
    }
}

/// Position of unexpected JSON. The value is not printed: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unexpected JSON at line {line}, column {column}")]
pub struct RawError {
    line: usize,
    column: usize,
}

impl From<serde_json::Error> for RawError {
    fn from(error: serde_json::Error) -> Self {
        Self { line: error.line(), column: error.column() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        r#"{"b": 1.10, "a":{"x":12345678901234567890123,"é":"é"},"n":null, "b2":-0.0}"#;

    #[derive(Debug, Deserialize)]
    struct View {
        b: f64,
    }

    #[test]
    fn text_is_kept_byte_for_byte() {
        let raw = Raw::<View>::parse(TEXT).unwrap();
        assert_eq!(raw.text(), TEXT);
        assert!((raw.b - 1.1).abs() < 1e-9);
        assert_eq!(serde_json::to_string(&raw).unwrap(), TEXT);
        assert_eq!(format!("{raw:?}"), "View { b: 1.1 }");
        assert!(raw == Raw::parse(TEXT).unwrap());
        assert!(raw != Raw::parse(&TEXT.replace("null", "0")).unwrap());
    }

    #[test]
    fn document_must_be_an_object() {
        let object = RawObject::of(&serde_json::json!({"a": 1, "n": null})).unwrap();
        assert_eq!(object.text().unwrap(), r#"{"a":1,"n":null}"#);
        assert!(object.object("n").unwrap().is_none() && object.object("a").is_err());
        assert!(RawObject::of(&[1]).is_err());
        for text in ["[]", "1", "\"x\""] {
            let error = serde_json::from_str::<RawObject>(text).unwrap_err().to_string();
            assert!(error.contains("expected a JSON object"), "{text}: {error}");
        }
    }

    #[test]
    fn change_affects_one_member_only() {
        let mut document = RawObject::parse(TEXT).unwrap();
        document.set("b", &7).unwrap();
        assert!(document.remove("n") && !document.remove("n"));
        assert_eq!(
            document.text().unwrap(),
            r#"{"b":7,"a":{"x":12345678901234567890123,"é":"é"},"b2":-0.0}"#
        );
        assert_eq!(
            document.object("a").unwrap().unwrap().get("x"),
            Some("12345678901234567890123")
        );
        assert_eq!(format!("{document:?}"), r#"["b", "a", "b2"]"#);
    }

    #[test]
    fn null_absent_and_empty_lists_are_distinguished() {
        #[derive(Deserialize)]
        struct Nic {
            #[serde(default)]
            ip: RawList<u8>,
        }
        let listed = |text| serde_json::from_str::<Nic>(text).unwrap().ip;
        assert_eq!(listed("{}"), RawList::Absent);
        assert_eq!(listed(r#"{"ip":null}"#), RawList::Null);
        assert_eq!(listed(r#"{"ip":[]}"#), RawList::Items(Vec::new()));
        assert_eq!(listed(r#"{"ip":[1]}"#).items(), [1]);
    }

    #[test]
    fn error_contains_no_value() {
        let error = Raw::<View>::parse(r#"{"b":"hunter2"}"#).unwrap_err();
        assert_eq!(error.to_string(), "unexpected JSON at line 1, column 14");
    }
}
