//! The types that fields of the contract have, and their encoder as JSON.

use std::collections::BTreeMap;

use mooring_redact::{ProxyUrl, Secret};

use crate::json::{Error, Escape, JsonLayout, Writer};
use crate::node_config::decode::Decoder;
use crate::node_config::schema::{Field, Label, Message, Value};

impl Value for String {
    const TYPE: &'static str = "string";

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        decoder.reader.string().map(|text| Some(text.into_owned()))
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.writer.string(self);
    }
}

impl Value for Secret {
    const TYPE: &'static str = "string";

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        decoder.reader.string().map(|text| Some(Self::from(text)))
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.writer.string(self.expose());
    }

    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        visit(self.expose());
    }
}

impl Value for ProxyUrl {
    const TYPE: &'static str = "string";

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        decoder.reader.string().map(|text| Some(Self::from(text)))
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.writer.string(self.expose());
    }

    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        self.expose_secrets().for_each(visit);
    }
}

impl Value for bool {
    const TYPE: &'static str = "bool";

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        decoder.reader.boolean().map(Some)
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.writer.boolean(*self);
    }
}

impl Value for i32 {
    const TYPE: &'static str = "int32";

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        decoder.int32().map(Some)
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.writer.integer(i64::from(*self));
    }
}

impl Value for f64 {
    const TYPE: &'static str = "double";

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        decoder.double().map(Some)
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.double(*self);
    }
}

impl<M: Message> Value for M {
    const TYPE: &'static str = <M as Message>::TYPE;

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        decoder.message().map(Some)
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.message(self);
    }

    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        Message::visit_secrets(self, visit);
    }
}

/// The absence of such a field equals its zero value.
impl<V: Value + Default + PartialEq> Field for V {
    const TYPE: &'static str = <V as Value>::TYPE;
    const LABEL: Label = Label::Implicit;

    fn read(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Error> {
        if let Some(value) = <V as Value>::read(decoder)? {
            *self = value;
        }
        Ok(())
    }

    fn is_unset(&self) -> bool {
        *self == V::default()
    }

    fn write(&self, encoder: &mut Encoder) {
        Value::write(self, encoder);
    }

    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        Value::visit_secrets(self, visit);
    }
}

impl<T: Value> Field for Option<T> {
    const TYPE: &'static str = T::TYPE;
    const LABEL: Label = Label::Optional;

    fn read(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Error> {
        *self = T::read(decoder)?;
        Ok(())
    }

    fn is_unset(&self) -> bool {
        self.is_none()
    }

    fn write(&self, encoder: &mut Encoder) {
        if let Some(value) = self {
            value.write(encoder);
        }
    }

    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        if let Some(value) = self {
            value.visit_secrets(visit);
        }
    }
}

impl<T: Value> Field for Vec<T> {
    const TYPE: &'static str = T::TYPE;
    const LABEL: Label = Label::Repeated;

    fn read(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Error> {
        decoder.elements(|decoder| {
            self.extend(T::read(decoder)?);
            Ok(())
        })
    }

    fn is_unset(&self) -> bool {
        self.is_empty()
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.list(self);
    }

    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        for value in self {
            value.visit_secrets(visit);
        }
    }
}

impl<T: Value> Field for BTreeMap<String, T> {
    const TYPE: &'static str = T::TYPE;
    const LABEL: Label = Label::Map;

    fn read(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Error> {
        *self = decoder.map(|decoder| T::read(decoder))?;
        Ok(())
    }

    fn is_unset(&self) -> bool {
        self.is_empty()
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.map(self);
    }

    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        for value in self.values() {
            value.visit_secrets(visit);
        }
    }
}

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

    pub(super) fn enum_value(&mut self, values: &[(i32, &str)], number: i32) {
        match values.iter().find(|value| value.0 == number) {
            Some((_, name)) => self.writer.string(name),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_lists_and_maps_are_visited() {
        fn secrets(field: &impl Field) -> Vec<&str> {
            let mut found = Vec::new();
            field.visit_secrets(&mut |secret| found.push(secret));
            found
        }
        let values = ["a", "b"].map(Secret::from);
        assert_eq!(secrets(&values.to_vec()), ["a", "b"]);
        let keys = ["x", "y"].map(str::to_owned);
        assert_eq!(secrets(&keys.into_iter().zip(values).collect::<BTreeMap<_, _>>()), ["a", "b"]);
    }
}
