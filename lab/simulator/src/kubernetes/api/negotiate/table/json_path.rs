//! JSON paths of printer columns: members, list indexes, and elements by an equal member.

use serde_json::Value;

/// Finds the value at a path such as `.status.conditions[?(@.type=="Ready")].status`; null if missing.
pub(super) fn find(value: &Value, path: &str) -> Value {
    walk(value, path).cloned().unwrap_or(Value::Null)
}

fn walk<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return Some(value);
    }
    if let Some(rest) = path.strip_prefix('[') {
        let (inside, rest) = rest.split_once(']')?;
        let item = if let Some(filter) =
            inside.strip_prefix("?(@.").and_then(|one| one.strip_suffix(')'))
        {
            let (member, wanted) = filter.split_once("==")?;
            let wanted = wanted.trim().trim_matches(['"', '\'']);
            value
                .as_array()?
                .iter()
                .find(|item| item.get(member.trim()).and_then(Value::as_str) == Some(wanted))?
        } else if let Ok(at) = inside.parse::<usize>() {
            value.get(at)?
        } else {
            value.get(inside.trim_matches(['"', '\'']))?
        };
        return walk(item, rest);
    }
    let path = path.strip_prefix('.').unwrap_or(path);
    let mut name = String::new();
    let mut letters = path.char_indices();
    let mut end = path.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, letter)| letter)),
            '.' | '[' => {
                end = at;
                break;
            }
            other => name.push(other),
        }
    }
    walk(value.get(&name)?, &path[end..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_of_columns_are_found() {
        let value = json!({
            "metadata": {"labels": {"a.b/c": "x"}},
            "status": {"conditions": [{"type": "A", "status": "1"}, {"type": "Ready", "status": "True"}]},
        });
        for (path, expected) in [
            (r".metadata.labels.a\.b/c", json!("x")),
            (r#".status.conditions[?(@.type=="Ready")].status"#, json!("True")),
            (".status.conditions[0].type", json!("A")),
            (".status.none.at.all", json!(null)),
        ] {
            assert_eq!(find(&value, path), expected, "{path}");
        }
    }
}
