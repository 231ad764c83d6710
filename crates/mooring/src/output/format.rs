//! Formats of answers.

use clap::ValueEnum;

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
