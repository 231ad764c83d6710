//! Encoder of messages of the contract as JSON.

use std::collections::BTreeMap;

use super::schema::{Field, Message, Value};
use crate::json::{Escape, JsonLayout, Writer};

/// Naming of the written fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldNames {
    /// `kube_binary_config`, as node configs are written.
    Proto,
    /// `kubeBinaryConfig`, as in the kubelet's config file.
    Json,
}

#[derive(Debug)]
pub(crate) struct Encoder {
    pub(super) writer: Writer,
    names: FieldNames,
}

impl Encoder {
    pub(super) fn document<M: Message>(
        message: &M,
        names: FieldNames,
        layout: JsonLayout,
        escape: Escape,
    ) -> String {
        let mut encoder = Self { writer: Writer::new(layout, escape), names };
        encoder.message(message);
        encoder.writer.finish()
    }

    pub(super) fn message<M: Message>(&mut self, message: &M) {
        self.writer.open_object();
        message.write_fields(self);
        self.writer.close_object();
    }

    pub(super) fn field(&mut self, name: &str, json_name: &str, field: &impl Field) {
        if field.is_unset() {
            return;
        }
        self.writer.name(match self.names {
            FieldNames::Proto => name,
            FieldNames::Json => json_name,
        });
        field.write(self);
    }

    /// Writes the shortest text that parses as the same number.
    pub(super) fn double(&mut self, value: f64) {
        if value.is_nan() {
            self.writer.string("NaN");
        } else if value.is_infinite() {
            self.writer.string(if value > 0.0 { "Infinity" } else { "-Infinity" });
        } else if value == 0.0 || (1e-6..1e21).contains(&value.abs()) {
            self.writer.raw(&format!("{value}"));
        } else {
            self.writer.raw(&format!("{value:e}"));
        }
    }

    pub(super) fn enum_value(&mut self, name: Option<&str>, number: i32) {
        match name {
            Some(name) => self.writer.string(name),
            None => self.writer.integer(i64::from(number)),
        }
    }

    pub(super) fn list<T: Value>(&mut self, values: &[T]) {
        self.writer.open_array();
        for value in values {
            value.write(self);
        }
        self.writer.close_array();
    }

    pub(super) fn map<T: Value>(&mut self, entries: &BTreeMap<String, T>) {
        self.writer.open_object();
        for (key, value) in entries {
            self.writer.name(key);
            value.write(self);
        }
        self.writer.close_object();
    }
}
