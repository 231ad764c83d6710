//! Formats of answers.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Formats of commands that answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// Human-readable table
    Table,
    /// Table with more columns and every name
    Wide,
    /// JSON; `mooring schema` prints its schema
    Json,
    /// YAML with the members of the JSON document
    Yaml,
    /// Markdown, for issues and chats
    Markdown,
    /// Names for kubectl, one per line
    Name,
}

impl AnswerFormat {
    /// Returns the parser of `--output` of a command that describes `table`, `wide`, `json` and `name` itself.
    pub(crate) fn described(help: [&'static str; 4]) -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(Self::values(help)).try_map(|name| Self::from_str(&name, false))
    }

    fn values([table, wide, json, name]: [&'static str; 4]) -> impl Iterator<Item = PossibleValue> {
        Self::value_variants().iter().filter_map(move |format| {
            let value = format.to_possible_value()?;
            Some(match format {
                Self::Table => value.help(table),
                Self::Wide => value.help(wide),
                Self::Json => value.help(json),
                Self::Name => value.help(name),
                Self::Yaml | Self::Markdown => value,
            })
        })
    }

    pub(crate) fn is_document(self) -> bool {
        matches!(self, Self::Json | Self::Yaml)
    }
}

/// Formats of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanFormat {
    Answer(AnswerFormat),
    Mermaid,
}

impl PlanFormat {
    /// Returns the parser of `--output`, as [`AnswerFormat::described`].
    pub(crate) fn described(help: [&'static str; 4]) -> impl TypedValueParser<Value = Self> {
        let mermaid = PossibleValue::new("mermaid").help("Mermaid diagram");
        let values = AnswerFormat::values(help).chain([mermaid]);
        PossibleValuesParser::new(values).try_map(|name| match name.as_str() {
            "mermaid" => Ok(Self::Mermaid),
            name => AnswerFormat::from_str(name, false).map(Self::Answer),
        })
    }
}
