//! Lists of Nodes in the binary format of the API server. Numbers of fields are those of its published API.

use jiff::Timestamp;
use mooring_kube::protobuf::{FieldValue, fields, object};

use crate::object::NodeItem;

/// A page of a list of Nodes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NodePage {
    pub nodes: Vec<NodeItem>,
    /// Token of the next page; empty for the last one.
    pub next: String,
    /// Version of the list.
    pub version: String,
}

impl NodePage {
    /// Reads a page; none if it is broken or in another format.
    pub fn decode(response: &[u8]) -> Option<Self> {
        let mut page = Self::default();
        for (field, value) in fields(object(response)?)? {
            match field {
                1 => {
                    page.version = text(value, 2).ok()?;
                    page.next = text(value, 3).ok()?;
                }
                2 => page.nodes.push(node(value).ok()?),
                _ => {}
            }
        }
        Some(page)
    }
}

/// A message that is not complete.
struct Broken;

fn message(field: FieldValue<'_>) -> Result<Vec<(u64, FieldValue<'_>)>, Broken> {
    field.message().ok_or(Broken)
}

fn node(node: FieldValue<'_>) -> Result<NodeItem, Broken> {
    let mut item = NodeItem::default();
    for (field, part) in message(node)? {
        match field {
            1 => metadata(&mut item, part)?,
            2 => {
                item.provider_id = text(part, 3)?;
                item.is_unschedulable = find(part, 4)? == Some(FieldValue::Number(1));
            }
            3 => status(&mut item, part)?,
            _ => {}
        }
    }
    Ok(item)
}

fn metadata(item: &mut NodeItem, metadata: FieldValue<'_>) -> Result<(), Broken> {
    for (field, value) in message(metadata)? {
        match field {
            1 => value.text().clone_into(&mut item.name),
            5 => value.text().clone_into(&mut item.uid),
            8 => item.created = time(value)?,
            11 => item.labels.add(&text(value, 1)?, &text(value, 2)?),
            _ => {}
        }
    }
    Ok(())
}

fn status(item: &mut NodeItem, status: FieldValue<'_>) -> Result<(), Broken> {
    for (field, condition) in message(status)? {
        if field == 4 && text(condition, 1)? == "Ready" {
            item.is_ready = text(condition, 2)? == "True";
            let changed = match find(condition, 4)? {
                Some(changed) => time(changed)?,
                None => None,
            };
            item.ready_since = changed.filter(|_| item.is_ready);
            item.not_ready = (!item.is_ready).then_some((text(condition, 6)?, changed));
        }
    }
    Ok(())
}

/// Returns a field of a message.
fn find(field: FieldValue<'_>, number: u64) -> Result<Option<FieldValue<'_>>, Broken> {
    let found = message(field)?.into_iter().find(|(field, _)| *field == number);
    Ok(found.map(|(_, value)| value))
}

/// Returns a text of a message; empty if it has none.
fn text(field: FieldValue<'_>, number: u64) -> Result<String, Broken> {
    Ok(find(field, number)?.map(FieldValue::text).unwrap_or_default().to_owned())
}

/// Returns a time in seconds.
fn time(time: FieldValue<'_>) -> Result<Option<Timestamp>, Broken> {
    let Some(FieldValue::Number(seconds)) = find(time, 1)? else { return Ok(None) };
    Ok(Timestamp::from_second(seconds.cast_signed()).ok())
}
