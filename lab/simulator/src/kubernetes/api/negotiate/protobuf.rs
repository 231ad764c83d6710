//! Bodies in protobuf, as `kubectl` sends them for known types: `create namespace`, `auth can-i`
//! and similar. Responses are always JSON, which every client accepts.
//!
//! A message is read by a table of its fields. A field that its table does not have is an error, so
//! that nothing is lost silently.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

pub(crate) const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// Prefix of every body.
const MAGIC: &[u8] = b"k8s\0";

enum Kind {
    /// Always sent, empty if unset.
    Text,
    Texts,
    Bytes,
    Number,
    Truth,
    Message(Fields),
    Messages(Fields),
    Map(&'static Kind),
    Ignored,
}

/// Number, name in JSON, and type.
type Fields = &'static [(u64, &'static str, Kind)];

const KIND: Fields = &[(1, "apiVersion", Kind::Text), (2, "kind", Kind::Text)];
const OWNER: Fields = &[
    (1, "kind", Kind::Text),
    (3, "name", Kind::Text),
    (4, "uid", Kind::Text),
    (5, "apiVersion", Kind::Text),
    (6, "controller", Kind::Truth),
    (7, "blockOwnerDeletion", Kind::Truth),
];
const METADATA: Fields = &[
    (1, "name", Kind::Text),
    (2, "generateName", Kind::Text),
    (3, "namespace", Kind::Text),
    (4, "selfLink", Kind::Ignored),
    (5, "uid", Kind::Text),
    (6, "resourceVersion", Kind::Text),
    (7, "generation", Kind::Ignored),
    (8, "creationTimestamp", Kind::Ignored),
    (9, "deletionTimestamp", Kind::Ignored),
    (10, "deletionGracePeriodSeconds", Kind::Ignored),
    (11, "labels", Kind::Map(&Kind::Text)),
    (12, "annotations", Kind::Map(&Kind::Text)),
    (13, "ownerReferences", Kind::Messages(OWNER)),
    (14, "finalizers", Kind::Texts),
    (17, "managedFields", Kind::Ignored),
];
const NAMESPACE: Fields = &[
    (1, "metadata", Kind::Message(METADATA)),
    (2, "spec", Kind::Message(&[(1, "finalizers", Kind::Texts)])),
    (3, "status", Kind::Ignored),
];
const CONFIG_MAP: Fields = &[
    (1, "metadata", Kind::Message(METADATA)),
    (2, "data", Kind::Map(&Kind::Text)),
    (3, "binaryData", Kind::Map(&Kind::Bytes)),
    (4, "immutable", Kind::Truth),
];
const SECRET: Fields = &[
    (1, "metadata", Kind::Message(METADATA)),
    (2, "data", Kind::Map(&Kind::Bytes)),
    (3, "type", Kind::Text),
    (4, "stringData", Kind::Map(&Kind::Text)),
    (5, "immutable", Kind::Truth),
];
const ATTRIBUTES: Fields = &[
    (1, "namespace", Kind::Text),
    (2, "verb", Kind::Text),
    (3, "group", Kind::Text),
    (4, "version", Kind::Text),
    (5, "resource", Kind::Text),
    (6, "subresource", Kind::Text),
    (7, "name", Kind::Text),
];
const ACCESS_REVIEW: Fields = &[
    (1, "metadata", Kind::Message(METADATA)),
    (2, "spec", Kind::Message(&[(1, "resourceAttributes", Kind::Message(ATTRIBUTES))])),
    (3, "status", Kind::Ignored),
];
const DELETE_OPTIONS: Fields = &[
    (1, "gracePeriodSeconds", Kind::Number),
    (
        2,
        "preconditions",
        Kind::Message(&[(1, "uid", Kind::Text), (2, "resourceVersion", Kind::Text)]),
    ),
    (3, "orphanDependents", Kind::Truth),
    (4, "propagationPolicy", Kind::Text),
    (5, "dryRun", Kind::Texts),
];

fn fields_of(kind: &str) -> Option<Fields> {
    Some(match kind {
        "Namespace" => NAMESPACE,
        "ConfigMap" => CONFIG_MAP,
        "Secret" => SECRET,
        "SelfSubjectAccessReview" => ACCESS_REVIEW,
        "DeleteOptions" => DELETE_OPTIONS,
        _ => return None,
    })
}

pub(crate) fn read(body: &[u8]) -> Result<Value, String> {
    let body = body.strip_prefix(MAGIC).ok_or("it does not begin as such a body does")?;
    let (mut head, mut raw) = (Map::new(), &[][..]);
    for field in Reader(body) {
        match field? {
            (1, Wire::Bytes(bytes)) => head = message(KIND, bytes)?,
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let kind = head.get("kind").and_then(Value::as_str).unwrap_or_default();
    let fields = fields_of(kind).ok_or_else(|| format!("{kind:?} is not read in this form"))?;
    head.extend(message(fields, raw)?);
    Ok(Value::Object(head))
}

fn message(fields: Fields, bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let mut members = Map::new();
    for field in Reader(bytes) {
        let (number, wire) = field?;
        let (_, name, kind) = fields
            .iter()
            .find(|one| one.0 == number)
            .ok_or_else(|| format!("field {number} is not known"))?;
        match (kind, wire) {
            (Kind::Ignored, _) => {}
            (Kind::Texts | Kind::Messages(_), Wire::Bytes(bytes)) => {
                let item = match kind {
                    Kind::Messages(fields) => Value::Object(message(fields, bytes)?),
                    _ => text(bytes)?.into(),
                };
                if let Some(list) = members.entry(*name).or_insert(json!([])).as_array_mut() {
                    list.push(item);
                }
            }
            (Kind::Map(of), Wire::Bytes(bytes)) => {
                let (mut key, mut value) = (String::new(), single(of, Wire::Bytes(&[]))?);
                for part in Reader(bytes) {
                    match part? {
                        (1, Wire::Bytes(bytes)) => key = text(bytes)?,
                        (2, wire) => value = single(of, wire)?,
                        _ => return Err(format!("{name} is not a map")),
                    }
                }
                members.entry(*name).or_insert(json!({}))[key] = value;
            }
            (kind, wire) => {
                let value = single(kind, wire)?;
                let unset =
                    value.as_str() == Some("") || value.as_object().is_some_and(Map::is_empty);
                if !unset {
                    members.insert((*name).to_owned(), value);
                }
            }
        }
    }
    Ok(members)
}

fn single(kind: &Kind, wire: Wire<'_>) -> Result<Value, String> {
    match (kind, wire) {
        (Kind::Text, Wire::Bytes(bytes)) => Ok(text(bytes)?.into()),
        (Kind::Bytes, Wire::Bytes(bytes)) => Ok(BASE64_STANDARD.encode(bytes).into()),
        (Kind::Message(fields), Wire::Bytes(bytes)) => Ok(Value::Object(message(fields, bytes)?)),
        // Negative integers are sent as their two's complement.
        (Kind::Number, Wire::Number(number)) => Ok(number.cast_signed().into()),
        (Kind::Truth, Wire::Number(number)) => Ok((number != 0).into()),
        _ => Err("a field is of another type than expected".to_owned()),
    }
}

fn text(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
}

enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Iterator over the fields of a message.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn field(&mut self) -> Option<(u64, Wire<'a>)> {
        let tag = self.number()?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.number()?),
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Wire::Bytes(bytes)
            }
            _ => return None,
        };
        Some((tag >> 3, wire))
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<(u64, Wire<'a>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            // The rest cannot be decoded.
            self.0 = &[];
        }
        Some(
            field.ok_or_else(|| "it ends in the middle, or has a form that is not read".to_owned()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_map_is_read() {
        // Kind ConfigMap of v1; name `m`, an empty generateName, data k=v, binaryData b=0xff.
        let map =
            b"\x0a\x05\x0a\x01m\x12\x00\x12\x06\x0a\x01k\x12\x01v\x1a\x06\x0a\x01b\x12\x01\xff";
        let mut body = MAGIC.to_vec();
        body.extend(b"\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12");
        body.push(u8::try_from(map.len()).unwrap());
        body.extend(map);
        let expected = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"},
            "data": {"k": "v"}, "binaryData": {"b": "/w=="},
        });
        assert_eq!(read(&body), Ok(expected));
        for length in 0..body.len() {
            assert!(read(&body[..length]).is_err() || length == MAGIC.len() + 17, "{length}");
        }
    }

    #[test]
    fn unknown_fields_are_rejected() {
        let mut body = MAGIC.to_vec();
        body.extend(b"\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x03\x4a\x01x");
        assert_eq!(read(&body), Err("field 9 is not known".to_owned()));
        let mut body = MAGIC.to_vec();
        body.extend(b"\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x00");
        assert_eq!(read(&body), Err("\"Pod\" is not read in this form".to_owned()));
    }
}
