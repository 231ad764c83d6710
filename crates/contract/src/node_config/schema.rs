//! The language in which the contract's table is written, and what it generates.
//!
//! A message is declared once, as a struct whose fields carry their protobuf number and JSON name;
//! the parser, the serialiser, the list of secrets and the description follow from it.

use super::decode::Decoder;
use super::encode::Encoder;
use super::error::ParseError;

/// One message of the contract.
pub(crate) trait Message: Default {
    /// Its name in the contract.
    const NAME: &'static str;
    /// Its fields, in order of declaration.
    const FIELDS: &'static [FieldFacts];

    /// The number of the field that has this proto name or JSON name.
    fn number_of(name: &str) -> Option<u32>;
    /// Reads the value of the field with this number.
    fn read_field(&mut self, number: u32, decoder: &mut Decoder<'_>) -> Result<(), ParseError>;
    /// Writes every field that is set, in order of declaration.
    fn write_fields(&self, encoder: &mut Encoder);
    /// Calls `visit` for each secret in here.
    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str));
}

/// A type that a single value in the document can have.
pub(crate) trait Value: Sized {
    /// As the contract names it.
    const TYPE: &'static str;

    /// Reads a value; `None` if it is to be passed over (an unknown enum name).
    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, ParseError>;
    fn write(&self, encoder: &mut Encoder);
    fn visit_secrets<'a>(&'a self, _visit: &mut dyn FnMut(&'a str)) {}
}

/// A type that a field can have: a value, perhaps optional, repeated or in a map.
pub(crate) trait Field {
    const TYPE: &'static str;
    const LABEL: Label;

    fn read(&mut self, decoder: &mut Decoder<'_>) -> Result<(), ParseError>;
    /// True if a serialiser leaves the field out.
    fn is_unset(&self) -> bool;
    fn write(&self, encoder: &mut Encoder);
    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str));
}

/// How often a field may stand, and how its absence is told from its zero value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Once; absent is the same as zero or empty.
    Implicit,
    /// Once; absent and zero are different.
    Optional,
    /// A list.
    Repeated,
    /// A map with text keys.
    Map,
}

/// What the contract says of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldFacts {
    /// The protobuf field number.
    pub number: u32,
    /// The name in the document, as Mooring writes it.
    pub name: &'static str,
    /// The other name that a document may use.
    pub json_name: &'static str,
    /// `string`, `bool`, `int32`, `double`, `enum:<Name>` or `message:<Name>`.
    pub value_type: &'static str,
    /// How often it may stand.
    pub label: Label,
}

/// What the contract says of one message.
#[derive(Debug, Clone, Copy)]
pub struct MessageFacts {
    /// The name in the contract.
    pub name: &'static str,
    /// The fields, in order of declaration.
    pub fields: &'static [FieldFacts],
}

/// What the contract says of one enum.
#[derive(Debug, Clone, Copy)]
pub struct EnumFacts {
    /// The name in the contract.
    pub name: &'static str,
    /// The known values, by number.
    pub values: &'static [(i32, &'static str)],
}

/// Declares a message: `number field "jsonName": Type,`
macro_rules! message {
    (
        $(#[$about:meta])*
        pub struct $rust:ident = $name:literal {
            $( $(#[$field_about:meta])* $number:literal $field:ident $json:literal : $type:ty, )+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $rust {
            $( $(#[$field_about])* pub $field: $type, )+
        }

        impl $crate::node_config::schema::Message for $rust {
            const NAME: &'static str = $name;
            const FIELDS: &'static [$crate::node_config::schema::FieldFacts] = &[
                $( $crate::node_config::schema::FieldFacts {
                    number: $number,
                    name: stringify!($field),
                    json_name: $json,
                    value_type: <$type as $crate::node_config::schema::Field>::TYPE,
                    label: <$type as $crate::node_config::schema::Field>::LABEL,
                }, )+
            ];

            fn number_of(name: &str) -> Option<u32> {
                $( if name == stringify!($field) || name == $json { return Some($number); } )+
                None
            }

            fn read_field(
                &mut self,
                number: u32,
                decoder: &mut $crate::node_config::decode::Decoder<'_>,
            ) -> Result<(), $crate::node_config::error::ParseError> {
                match number {
                    $( $number => $crate::node_config::schema::Field::read(&mut self.$field, decoder), )+
                    _ => Ok(()),
                }
            }

            fn write_fields(&self, encoder: &mut $crate::node_config::encode::Encoder) {
                $( encoder.field(stringify!($field), $json, &self.$field); )+
            }

            fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
                $( $crate::node_config::schema::Field::visit_secrets(&self.$field, visit); )+
            }
        }

        $crate::node_config::schema::message_value!($rust, $name);
    };
}

/// A message is a value too.
macro_rules! message_value {
    ($rust:ident, $name:literal) => {
        impl $crate::node_config::schema::Value for $rust {
            const TYPE: &'static str = concat!("message:", $name);

            fn read(
                decoder: &mut $crate::node_config::decode::Decoder<'_>,
            ) -> Result<Option<Self>, $crate::node_config::error::ParseError> {
                decoder.message().map(Some)
            }

            fn write(&self, encoder: &mut $crate::node_config::encode::Encoder) {
                encoder.message(self);
            }

            fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
                $crate::node_config::schema::Message::visit_secrets(self, visit);
            }
        }

        impl $crate::node_config::OrUnset for Option<$rust> {
            type Message = $rust;

            fn or_unset(&self) -> &$rust {
                static UNSET: std::sync::LazyLock<$rust> =
                    std::sync::LazyLock::new(<$rust>::default);
                self.as_ref().unwrap_or(&UNSET)
            }
        }
    };
}

/// Declares an open enum: a number, of which some have names.
macro_rules! open_enum {
    (
        $(#[$about:meta])*
        pub enum $rust:ident { $( $number:literal $constant:ident = $name:literal, )+ }
    ) => {
        $(#[$about])*
        ///
        /// Open: a number without a name is kept, as protobuf demands.
        #[derive(Clone, Copy, Default, PartialEq, Eq)]
        pub struct $rust(pub i32);

        impl $rust {
            $(
                #[doc = concat!("`", $name, "`")]
                pub const $constant: Self = Self($number);
            )+

            /// What the contract says of this enum.
            pub const FACTS: $crate::node_config::schema::EnumFacts = $crate::node_config::schema::EnumFacts {
                name: stringify!($rust),
                values: &[ $( ($number, $name), )+ ],
            };

            /// The name of the value, if it has one.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $( $number => Some($name), )+
                    _ => None,
                }
            }

            /// The value with exactly this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $( $name => Some(Self($number)), )+
                    _ => None,
                }
            }
        }

        impl std::fmt::Debug for $rust {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{}({})", stringify!($rust), self.0),
                }
            }
        }

        impl $crate::node_config::schema::Value for $rust {
            const TYPE: &'static str = concat!("enum:", stringify!($rust));

            fn read(
                decoder: &mut $crate::node_config::decode::Decoder<'_>,
            ) -> Result<Option<Self>, $crate::node_config::error::ParseError> {
                Ok(decoder.enum_number(|name| Self::from_name(name).map(|value| value.0))?.map(Self))
            }

            fn write(&self, encoder: &mut $crate::node_config::encode::Encoder) {
                encoder.enum_value(self.name(), self.0);
            }
        }

        $crate::node_config::schema::implicit_field!($rust);
    };
}

/// A value whose absence is the same as its zero.
macro_rules! implicit_field {
    ($type:ty) => {
        impl $crate::node_config::schema::Field for $type {
            const TYPE: &'static str = <$type as $crate::node_config::schema::Value>::TYPE;
            const LABEL: $crate::node_config::schema::Label =
                $crate::node_config::schema::Label::Implicit;

            fn read(
                &mut self,
                decoder: &mut $crate::node_config::decode::Decoder<'_>,
            ) -> Result<(), $crate::node_config::error::ParseError> {
                if let Some(value) = $crate::node_config::schema::Value::read(decoder)? {
                    *self = value;
                }
                Ok(())
            }

            fn is_unset(&self) -> bool {
                *self == <$type>::default()
            }

            fn write(&self, encoder: &mut $crate::node_config::encode::Encoder) {
                $crate::node_config::schema::Value::write(self, encoder);
            }

            fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
                $crate::node_config::schema::Value::visit_secrets(self, visit);
            }
        }
    };
}

pub(super) use {implicit_field, message, message_value, open_enum};
