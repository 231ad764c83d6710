//! The part of Resource Graph that operators use: filters and columns over the resources.

use serde_json::{Value, json};

use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{AzureState, text};

/// Maximum rows of one response.
const MAX_ROWS: usize = 1000;

impl AzureState {
    pub(crate) fn graph(&self, call: &ArmCall) -> ArmResult {
        let sent = call.object()?;
        let text_of = sent.get("query").and_then(Value::as_str).unwrap_or_default();
        let query = Query::parse(text_of).map_err(|why| {
            let message = format!(
                "Please provide below info when asking for support: the query is invalid. {why}"
            );
            ArmError::new(400, "BadRequest", message)
        })?;
        let options = sent.get("options").cloned().unwrap_or_default();
        let number = |name: &str| {
            options.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
        };
        let top = number("$top").or(number("top")).unwrap_or(MAX_ROWS).clamp(1, MAX_ROWS);
        let token = options.get("$skipToken").or(options.get("skipToken")).and_then(Value::as_str);
        let skip = match token {
            None => number("$skip").unwrap_or_default(),
            Some(token) => token
                .parse()
                .map_err(|_| ArmError::new(400, "BadRequest", "The skip token is invalid."))?,
        };
        let rows: Vec<Value> = self
            .store
            .all()
            .filter(|body| body.get("type").is_some())
            .map(|body| self.row(body))
            .filter(|row| query.filters.iter().all(|filter| filter.fits(row)))
            .collect();
        let total = rows.len();
        let limit = query.limit.unwrap_or(usize::MAX);
        let page: Vec<Value> = rows
            .into_iter()
            .take(limit)
            .skip(skip)
            .take(top)
            .map(|row| query.project(row))
            .collect();
        let (count, end) = (page.len(), skip + page.len());
        let mut body = json!({
            "totalRecords": total.min(limit), "count": count, "data": page, "facets": [],
            "resultTruncated": if end < total.min(limit) { "true" } else { "false" },
        });
        if end < total.min(limit) {
            body["$skipToken"] = json!(end.to_string());
        }
        Ok(Reply::ok(body))
    }

    /// Returns a resource as a row: types and groups in lower case, as in the graph.
    fn row(&self, body: &Value) -> Value {
        let id = text(body, "/id");
        let group = id.split('/').nth(4).unwrap_or_default();
        let mut row = body.clone();
        row["type"] = json!(text(body, "/type").to_lowercase());
        row["resourceGroup"] = json!(group.to_lowercase());
        row["subscriptionId"] = json!(self.options.subscription);
        row["tenantId"] = json!(self.options.tenant);
        // Extensions have no instance view in the graph, and VMs only their power state.
        if let Some(properties) = row["properties"].as_object_mut() {
            properties.remove("instanceView");
        }
        row
    }
}

#[derive(Debug)]
struct Query {
    filters: Vec<Filter>,
    columns: Option<Vec<(String, String)>>,
    limit: Option<usize>,
}

#[derive(Debug)]
struct Filter {
    path: String,
    operator: String,
    values: Vec<String>,
}

impl Query {
    fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self { filters: Vec::new(), columns: None, limit: None };
        for (index, clause) in split(text, '|').into_iter().enumerate() {
            let clause = clause.trim();
            let (verb, rest) = clause.split_once(char::is_whitespace).unwrap_or((clause, ""));
            match verb.to_lowercase().as_str() {
                "resources" | "computeresources" if index == 0 && rest.is_empty() => {}
                "where" => {
                    let words = split(rest, ' ');
                    for part in words.split(|word| word.eq_ignore_ascii_case("and")) {
                        query.filters.push(Filter::parse(&part.join(" "))?);
                    }
                }
                "project" => {
                    let column = |part: &str| match part.split_once('=') {
                        Some((name, path)) => (name.trim().to_owned(), path.trim().to_owned()),
                        None => (last(part.trim()).to_owned(), part.trim().to_owned()),
                    };
                    query.columns = Some(split(rest, ',').into_iter().map(column).collect());
                }
                "limit" | "take" => {
                    query.limit =
                        Some(rest.trim().parse().map_err(|_| format!("'{rest}' is no number."))?);
                }
                // Rows are already ordered by id, the only order that clients request.
                "order" | "sort" => {}
                _ => return Err(format!("'{clause}' is not understood.")),
            }
        }
        Ok(query)
    }

    fn project(&self, row: Value) -> Value {
        let Some(columns) = &self.columns else { return row };
        columns
            .iter()
            .map(|(name, path)| (name.clone(), at(&row, path).cloned().unwrap_or_default()))
            .collect()
    }
}

impl Filter {
    fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("'{}' is not understood.", text.trim());
        let (path, rest) = text.trim().split_once(char::is_whitespace).ok_or_else(bad)?;
        let rest = rest.trim();
        let ends = rest
            .find(|c: char| c.is_whitespace() || c == '(' || c == '\'' || c == '"')
            .ok_or_else(bad)?;
        let (operator, value) = rest.split_at(ends);
        let operator = operator.to_lowercase();
        let value = value.trim();
        let values = match operator.as_str() {
            "in" | "in~" => {
                let inside =
                    value.strip_prefix('(').and_then(|v| v.strip_suffix(')')).ok_or_else(bad)?;
                split(inside, ',').iter().map(|value| unquote(value)).collect()
            }
            "==" | "=~" | "!=" | "!~" | "contains" | "startswith" | "endswith" | "has" => {
                vec![unquote(value)]
            }
            _ => return Err(bad()),
        };
        Ok(Self { path: path.to_owned(), operator, values })
    }

    fn fits(&self, row: &Value) -> bool {
        let actual = at(row, &self.path).and_then(Value::as_str).unwrap_or_default();
        let lower = actual.to_lowercase();
        let first = self.values.first().map(String::as_str).unwrap_or_default();
        match self.operator.as_str() {
            "==" => actual == first,
            "=~" => lower == first.to_lowercase(),
            "!=" => actual != first,
            "!~" => lower != first.to_lowercase(),
            "contains" | "has" => lower.contains(&first.to_lowercase()),
            "startswith" => lower.starts_with(&first.to_lowercase()),
            "endswith" => lower.ends_with(&first.to_lowercase()),
            "in" => self.values.iter().any(|value| value == actual),
            _ => self.values.iter().any(|value| value.to_lowercase() == lower),
        }
    }
}

/// Finds a member by its path: `properties.provisioningState`, `tags['a']`, `tostring(x)`.
fn at<'a>(row: &'a Value, path: &str) -> Option<&'a Value> {
    let path = path.trim();
    let path = path.strip_prefix("tostring(").and_then(|p| p.strip_suffix(')')).unwrap_or(path);
    let path = path.replace(['[', ']', '\'', '"'], "\u{0}");
    let mut value = row;
    // A bracketed name may contain dots, a plain one may not.
    for (index, piece) in path.split('\u{0}').filter(|piece| !piece.is_empty()).enumerate() {
        if index == 0 {
            for name in piece.split('.').filter(|name| !name.is_empty()) {
                value = member(value, name)?;
            }
        } else {
            value = member(value, piece)?;
        }
    }
    Some(value)
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let members = value.as_object()?;
    members.get(name).or_else(|| {
        members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    })
}

/// Returns the name of a column: the last name of its path.
fn last(path: &str) -> &str {
    match path.split_once(['\'', '"']) {
        Some((_, behind)) => behind.trim_end_matches([']', '\'', '"']),
        None => path.rsplit('.').next().unwrap_or(path),
    }
}

fn unquote(text: &str) -> String {
    text.trim().trim_matches(|c| c == '\'' || c == '"').to_owned()
}

/// Splits at a character outside quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut quote = None;
    let separates = |c| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            _ => {}
        }
        c == separator && quote.is_none()
    };
    text.split(separates).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operators_query_is_understood() {
        let query = Query::parse(
            "Resources | where type =~ 'microsoft.compute/virtualmachines/extensions' and resourceGroup =~ 'MC_x'\n| where id in~ ('/a','/b|c') | project id, state = properties.provisioningState, tags['x.y'] | limit 5",
        )
        .unwrap();
        assert_eq!(query.filters.len(), 3);
        assert_eq!(query.filters[2].values, ["/a", "/b|c"]);
        assert_eq!(query.limit, Some(5));
        let row = json!({"id": "/A", "properties": {"provisioningState": "Failed"}, "tags": {"x.y": "z"}});
        assert!(query.filters[2].fits(&row));
        assert_eq!(query.project(row), json!({"id": "/A", "state": "Failed", "x.y": "z"}));
        assert!(Query::parse("Resources | summarize count()").is_err());
        assert!(Query::parse("Resources | where type").is_err());
    }
}
