//! The types that fields of the contract have.

use std::collections::BTreeMap;

use mooring_redact::{ProxyUrl, Secret};

use super::decode::Decoder;
use super::encode::Encoder;
use super::schema::{Field, Label, Message, Value};
use crate::json::Error;

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
