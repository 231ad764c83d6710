//! The queries of Resource Graph that the product sends: equal members, and columns.

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
        let top = options.get("$top").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let top = top.unwrap_or(MAX_ROWS).clamp(1, MAX_ROWS);
        let skip: usize = match options.get("$skipToken").and_then(Value::as_str) {
            None => 0,
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
        let page = rows.iter().skip(skip).take(top);
        let page: Vec<Value> = page.map(|row| query.project(row)).collect();
        let (count, end) = (page.len(), skip + page.len());
        let mut body = json!({
            "totalRecords": total, "count": count, "data": page, "facets": [],
            "resultTruncated": if end < total { "true" } else { "false" },
        });
        if end < total {
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

#[derive(Debug, Default)]
struct Query {
    filters: Vec<Filter>,
    /// Names and paths.
    columns: Vec<(String, String)>,
}

/// A member that has a value: `=~` ignores case, `==` does not.
#[derive(Debug)]
struct Filter {
    path: String,
    ignores_case: bool,
    value: String,
}

impl Query {
    /// Reads `resources | where PATH =~ 'VALUE' and … | project NAME, NAME = PATH`.
    fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self::default();
        let mut clauses = text.split('|').map(str::trim);
        if !clauses.next().is_some_and(|table| table.eq_ignore_ascii_case("resources")) {
            return Err("it does not begin with 'resources'.".to_owned());
        }
        for clause in clauses {
            let bad = || format!("'{clause}' is not understood.");
            match clause.split_once(' ') {
                Some(("where", conditions)) => {
                    for condition in conditions.split(" and ") {
                        query.filters.push(Filter::parse(condition).ok_or_else(bad)?);
                    }
                }
                Some(("project", columns)) => {
                    query.columns = columns.split(',').map(column).collect();
                }
                _ => return Err(bad()),
            }
        }
        Ok(query)
    }

    fn project(&self, row: &Value) -> Value {
        let column = |(name, path): &(String, String)| {
            (name.clone(), at(row, path).cloned().unwrap_or_default())
        };
        self.columns.iter().map(column).collect()
    }
}

impl Filter {
    fn parse(text: &str) -> Option<Self> {
        let (path, rest) = text.trim().split_once(' ')?;
        let (operator, value) = rest.split_once(' ')?;
        let ignores_case = match operator {
            "=~" => true,
            "==" => false,
            _ => return None,
        };
        let value = value.strip_prefix('\'')?.strip_suffix('\'')?.to_owned();
        Some(Self { path: path.to_owned(), ignores_case, value })
    }

    fn fits(&self, row: &Value) -> bool {
        let actual = at(row, &self.path).and_then(Value::as_str).unwrap_or_default();
        if self.ignores_case {
            actual.eq_ignore_ascii_case(&self.value)
        } else {
            actual == self.value
        }
    }
}

/// Returns the name and the path of a column, which may be converted to text.
fn column(text: &str) -> (String, String) {
    let (name, path) = text.split_once('=').unwrap_or((text, text));
    let (name, path) = (name.trim(), path.trim());
    let inside = path.strip_prefix("tostring(").and_then(|path| path.strip_suffix(')'));
    (name.to_owned(), inside.unwrap_or(path).to_owned())
}

fn at<'a>(row: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(row, |value, name| value.get(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_the_product_are_understood_and_no_others() {
        let query = Query::parse(
            "resources | where type =~ 'microsoft.compute/virtualmachines/extensions' and resourceGroup =~ 'MC_x' | project id, state = tostring(properties.provisioningState)",
        )
        .unwrap();
        let row = json!({"id": "/A", "resourceGroup": "mc_x", "properties": {"provisioningState": "Failed"}});
        assert!(query.filters[1].fits(&row) && !query.filters[0].fits(&row));
        assert_eq!(query.project(&row), json!({"id": "/A", "state": "Failed"}));
        for other in [
            "resources | summarize count()",
            "resources | where type",
            "resources | where a has 'b'",
            "vms",
        ] {
            assert!(Query::parse(other).is_err(), "{other}");
        }
    }
}
