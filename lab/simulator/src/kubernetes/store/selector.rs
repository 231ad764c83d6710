use serde_json::Value;

use super::objects;

/// Selection of objects by a list or watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
}

impl Selector {
    /// Parses both selectors; `supports` decides the allowed fields of a field selector.
    pub(crate) fn parse(
        labels: &str,
        fields: &str,
        supports: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        let labels = parse_labels(labels)?;
        let mut parsed_fields = Vec::new();
        for part in fields.split(',').filter(|part| !part.is_empty()) {
            let equal = !part.contains("!=");
            let (field, value) = ["!=", "==", "="]
                .iter()
                .find_map(|operator| part.split_once(operator))
                .ok_or_else(|| format!("invalid field selector: '{part}'"))?;
            if !supports(field) {
                return Err(format!("field label not supported: {field}"));
            }
            parsed_fields.push((field.to_owned(), equal, value.to_owned()));
        }
        Ok(Self { labels, fields: parsed_fields })
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn fits(&self, object: &Value) -> bool {
        self.labels.iter().all(|one| one.fits(objects::at(object, &["metadata", "labels"])))
            && self
                .fields
                .iter()
                .all(|(field, equal, value)| (field_value(object, field) == *value) == *equal)
    }
}

impl Requirement {
    fn fits(&self, labels: Option<&Value>) -> bool {
        let label = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
        match self {
            Self::In(key, values) => {
                label(key).is_some_and(|value| values.iter().any(|one| one == value))
            }
            Self::NotIn(key, values) => {
                label(key).is_none_or(|value| values.iter().all(|one| one != value))
            }
            Self::Exists(key) => label(key).is_some(),
            Self::Missing(key) => label(key).is_none(),
        }
    }
}

fn parse_labels(text: &str) -> Result<Vec<Requirement>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let owned = |text: &str| text.trim().to_owned();
            if part.contains([' ', '(', ')']) || part.starts_with('!') {
                return Err(format!("unable to parse requirement: '{part}'"));
            }
            Ok(if let Some((key, value)) = part.split_once("!=") {
                Requirement::NotIn(owned(key), vec![owned(value)])
            } else if let Some((key, value)) =
                part.split_once("==").or_else(|| part.split_once('='))
            {
                Requirement::In(owned(key), vec![owned(value)])
            } else {
                Requirement::Exists(part.to_owned())
            })
        })
        .collect()
}

pub(crate) fn has_labels(object: &Value, wanted: Option<&Value>) -> bool {
    objects::pairs(wanted).all(|(key, value)| {
        objects::at(object, &["metadata", "labels", key]).and_then(Value::as_str) == Some(value)
    })
}

/// Matches a label selector (`matchLabels`, `matchExpressions`). An empty one matches all, a missing one nothing.
pub(crate) fn fits_label_selector(selector: Option<&Value>, object: &Value) -> bool {
    let Some(selector) = selector.filter(|selector| selector.is_object()) else { return false };
    let labels = objects::at(object, &["metadata", "labels"]);
    has_labels(object, selector.get("matchLabels"))
        && objects::list(selector, &["matchExpressions"]).iter().all(|expression| {
            let key = objects::text(expression, &["key"]).to_owned();
            let values = objects::texts(expression, &["values"]).map(str::to_owned).collect();
            let requirement = match objects::text(expression, &["operator"]) {
                "In" => Requirement::In(key, values),
                "NotIn" => Requirement::NotIn(key, values),
                "Exists" => Requirement::Exists(key),
                _ => Requirement::Missing(key),
            };
            requirement.fits(labels)
        })
}

fn field_value(object: &Value, field: &str) -> String {
    let path: Vec<&str> = field.split('.').collect();
    objects::text(object, &path).to_owned()
}
