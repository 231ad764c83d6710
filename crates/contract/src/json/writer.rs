//! Writing JSON whose bytes are part of an interface.

use mooring_redact::{Escape, escape_into};

/// White space between members and elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonLayout {
    /// Everything on one line, without blanks.
    Compact,
    /// Each member and element on its own line, indented by this many blanks a level.
    Indented(usize),
}

/// Appends JSON to a text.
///
/// The caller opens and closes containers; commas, line ends and indentation are added.
#[derive(Debug)]
pub struct Writer {
    text: String,
    layout: JsonLayout,
    escape: Escape,
    depth: usize,
    needs_comma: bool,
    after_name: bool,
}

impl Writer {
    pub fn new(layout: JsonLayout, escape: Escape) -> Self {
        Self {
            text: String::new(),
            layout,
            escape,
            depth: 0,
            needs_comma: false,
            after_name: false,
        }
    }

    /// Returns the text written so far.
    pub fn finish(self) -> String {
        self.text
    }

    /// Opens an object; [`Self::close_object`] ends it.
    pub fn open_object(&mut self) {
        self.open('{');
    }

    pub fn close_object(&mut self) {
        self.close('}');
    }

    /// Opens an array; [`Self::close_array`] ends it.
    pub fn open_array(&mut self) {
        self.open('[');
    }

    pub fn close_array(&mut self) {
        self.close(']');
    }

    /// Writes a member's name; its value must follow.
    pub fn name(&mut self, name: &str) {
        self.begin_item();
        self.quote(name);
        self.text.push(':');
        if self.layout != JsonLayout::Compact {
            self.text.push(' ');
        }
        self.after_name = true;
    }

    pub fn string(&mut self, value: &str) {
        self.begin_item();
        self.quote(value);
        self.needs_comma = true;
    }

    pub fn boolean(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    pub fn integer(&mut self, value: i64) {
        self.raw(&value.to_string());
    }

    /// Writes a value that is already JSON.
    pub fn raw(&mut self, json: &str) {
        self.begin_item();
        self.text.push_str(json);
        self.needs_comma = true;
    }

    fn open(&mut self, bracket: char) {
        self.begin_item();
        self.text.push(bracket);
        self.depth += 1;
        self.needs_comma = false;
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        // An empty container stays on one line.
        if self.needs_comma {
            self.break_line();
        }
        self.text.push(bracket);
        self.needs_comma = true;
    }

    fn begin_item(&mut self) {
        if std::mem::take(&mut self.after_name) {
            return;
        }
        if self.needs_comma {
            self.text.push(',');
        }
        if self.depth > 0 {
            self.break_line();
        }
    }

    fn break_line(&mut self) {
        if let JsonLayout::Indented(blanks) = self.layout {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n(' ', blanks * self.depth));
        }
    }

    fn quote(&mut self, value: &str) {
        self.text.push('"');
        escape_into(&mut self.text, value, self.escape);
        self.text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use mooring_redact::escaped_len;

    use super::*;

    fn sample(layout: JsonLayout) -> String {
        let mut writer = Writer::new(layout, Escape::Minimal);
        writer.open_object();
        writer.name("a");
        writer.open_array();
        writer.integer(1);
        writer.string("x");
        writer.close_array();
        writer.name("b");
        writer.open_object();
        writer.close_object();
        writer.name("c");
        writer.boolean(true);
        writer.close_object();
        writer.finish()
    }

    #[test]
    fn layouts_differ_only_in_white_space() {
        assert_eq!(sample(JsonLayout::Compact), r#"{"a":[1,"x"],"b":{},"c":true}"#);
        assert_eq!(
            sample(JsonLayout::Indented(2)),
            "{\n  \"a\": [\n    1,\n    \"x\"\n  ],\n  \"b\": {},\n  \"c\": true\n}"
        );
    }

    #[test]
    fn escapes_are_what_go_writes() {
        let escaped = |escape| {
            let mut text = String::new();
            escape_into(&mut text, "\"\\\u{8}\u{c}\n\r\t\u{1}<>&\u{2028}\u{fffd}\u{7f}ü/", escape);
            text
        };
        assert_eq!(
            escaped(Escape::Minimal),
            "\\\"\\\\\\b\\f\\n\\r\\t\\u0001<>&\u{2028}\u{fffd}\u{7f}ü/"
        );
        assert_eq!(
            escaped(Escape::Html),
            "\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u003c\\u003e\\u0026\\u2028\u{fffd}\u{7f}ü/"
        );
        assert_eq!(
            escaped(Escape::HtmlReplaced),
            "\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u003c\\u003e\\u0026\\u2028\\ufffd\u{7f}ü/"
        );
        assert_eq!(
            escaped(Escape::Log),
            "\\\"\\\\\\u0008\\u000c\\n\\r\\t\\u0001<>&\\u2028\\ufffd\u{7f}ü/"
        );
    }

    #[test]
    fn a_character_is_as_long_as_it_is_written() {
        for character in ['a', '"', '\n', '\u{1}', '<', 'ü', '\u{2028}', '\u{fffd}', '\u{1F600}'] {
            for escape in [Escape::Minimal, Escape::Html, Escape::HtmlReplaced, Escape::Log] {
                let mut text = String::new();
                escape_into(&mut text, &character.to_string(), escape);
                assert_eq!(escaped_len(character, escape), text.len(), "{character:?}");
            }
        }
    }
}
