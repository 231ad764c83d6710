//! Macros that declare the contract's table, and the traits that they implement.
//!
//! A message is declared once, as a struct whose fields carry their protobuf number and JSON name;
//! parser, serializer, list of secrets and description are generated from it.

use crate::json::Error;
use crate::node_config::decode::Decoder;
use crate::node_config::fields::Encoder;

/// An optional message; if absent, all of its fields are unset.
pub trait OrUnset {
    type Message;

    /// Returns the message, or one with all fields unset.
    fn or_unset(&self) -> &Self::Message;
}

/// One message of the contract.
pub(crate) trait Message: Default {
    /// Name of the type of fields with this message.
    const TYPE: &'static str;

    /// Returns the number of the field with this proto name or JSON name.
    fn number_of(name: &str) -> Option<u32>;
    /// Reads the value of the field with this number.
    fn read_field(&mut self, number: u32, decoder: &mut Decoder<'_>) -> Result<(), Error>;
    /// Writes every field that is set, in order of declaration.
    fn write_fields(&self, encoder: &mut Encoder);
    /// Calls `visit` for each secret.
    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str));
}

/// A type that a single value in the document can have.
pub(crate) trait Value: Sized {
    /// Name of the type in the contract.
    const TYPE: &'static str;

    /// Reads a value; `None` if it is ignored (an unknown enum name).
    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error>;
    fn write(&self, encoder: &mut Encoder);
    fn visit_secrets<'a>(&'a self, _visit: &mut dyn FnMut(&'a str)) {}
}

/// A type that a field can have: a value, perhaps optional, repeated or in a map.
pub(crate) trait Field {
    const TYPE: &'static str;
    const LABEL: Label;

    fn read(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Error>;
    /// Returns true if the serializer omits the field.
    fn is_unset(&self) -> bool;
    fn write(&self, encoder: &mut Encoder);
    fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str));
}

/// Cardinality of a field, and the meaning of its absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Once; absent is the same as zero or empty.
    Implicit,
    /// Once; absent and zero are different.
    Optional,
    Repeated,
    /// A map with text keys.
    Map,
}

/// Description of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldFacts {
    pub number: u32,
    /// The name in the document, as Mooring writes it.
    pub name: &'static str,
    /// The other name that a document may use.
    pub json_name: &'static str,
    /// `string`, `bool`, `int32`, `double`, `enum:<Name>` or `message:<Name>`.
    pub value_type: &'static str,
    pub label: Label,
}

/// Description of a message.
#[derive(Debug, Clone, Copy)]
pub struct MessageFacts {
    pub name: &'static str,
    pub fields: &'static [FieldFacts],
}

/// Description of an enum.
#[derive(Debug, Clone, Copy)]
pub struct EnumFacts {
    pub name: &'static str,
    /// The known values, by number.
    pub values: &'static [(i32, &'static str)],
}

/// Declares every message, the document first: `number field "jsonName": Type,`
macro_rules! messages {
    ($(
        $(#[$about:meta])*
        pub struct $rust:ident = $name:literal {
            $( $(#[$field_about:meta])* $number:literal $field:ident $json:literal : $type:ty, )+
        }
    )+) => {
        /// Every message of the contract, the document first.
        pub const MESSAGES: &[$crate::node_config::schema::MessageFacts] = &[$(
            $crate::node_config::schema::MessageFacts {
                name: $name,
                fields: &[$( $crate::node_config::schema::FieldFacts {
                    number: $number,
                    name: stringify!($field),
                    json_name: $json,
                    value_type: <$type as $crate::node_config::schema::Field>::TYPE,
                    label: <$type as $crate::node_config::schema::Field>::LABEL,
                }, )+],
            },
        )+];

        $(
            $(#[$about])*
            #[derive(Debug, Clone, Default, PartialEq)]
            pub struct $rust {
                $( $(#[$field_about])* pub $field: $type, )+
            }

            impl $crate::node_config::schema::Message for $rust {
                const TYPE: &'static str = concat!("message:", $name);

                fn number_of(name: &str) -> Option<u32> {
                    $( if name == stringify!($field) || name == $json { return Some($number); } )+
                    None
                }

                fn read_field(
                    &mut self,
                    number: u32,
                    decoder: &mut $crate::node_config::decode::Decoder<'_>,
                ) -> Result<(), $crate::json::Error> {
                    match number {
                        $( $number => $crate::node_config::schema::Field::read(&mut self.$field, decoder), )+
                        _ => Ok(()),
                    }
                }

                fn write_fields(&self, encoder: &mut $crate::node_config::fields::Encoder) {
                    $( encoder.field(stringify!($field), $json, &self.$field); )+
                }

                fn visit_secrets<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
                    $( $crate::node_config::schema::Field::visit_secrets(&self.$field, visit); )+
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
        )+
    };
}

/// Declares every open enum: a number, of which some have names.
macro_rules! open_enums {
    ($(
        $(#[$about:meta])*
        pub enum $rust:ident { $( $number:literal $constant:ident = $name:literal, )+ }
    )+) => {
        /// Every enum of the contract.
        pub const ENUMS: &[$crate::node_config::schema::EnumFacts] = &[$(
            $crate::node_config::schema::EnumFacts {
                name: stringify!($rust),
                values: $rust::VALUES,
            },
        )+];

        $(
            $(#[$about])*
            ///
            /// Open: a number without a name is kept, as protobuf requires.
            #[derive(Clone, Copy, Default, PartialEq, Eq)]
            pub struct $rust(pub i32);

            impl $rust {
                $(
                    #[doc = concat!("`", $name, "`")]
                    pub const $constant: Self = Self($number);
                )+

                const VALUES: &[(i32, &str)] = &[$( ($number, $name), )+];
            }

            impl std::fmt::Debug for $rust {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    match Self::VALUES.iter().find(|(number, _)| *number == self.0) {
                        Some((_, name)) => f.write_str(name),
                        None => write!(f, "{}({})", stringify!($rust), self.0),
                    }
                }
            }

            impl $crate::node_config::schema::Value for $rust {
                const TYPE: &'static str = concat!("enum:", stringify!($rust));

                fn read(
                    decoder: &mut $crate::node_config::decode::Decoder<'_>,
                ) -> Result<Option<Self>, $crate::json::Error> {
                    Ok(decoder.enum_number(Self::VALUES)?.map(Self))
                }

                fn write(&self, encoder: &mut $crate::node_config::fields::Encoder) {
                    encoder.enum_value(Self::VALUES, self.0);
                }
            }
        )+
    };
}

pub(super) use {messages, open_enums};
