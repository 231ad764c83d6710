//! Decodes JSON escapes of any depth, HTML, Markdown, mail quoting, terminal colors and UTF-16.
//!
//! Every layer that transports a message escapes it again, and users truncate or re-wrap it, so valid JSON is not
//! required. A run of backslashes of any length is replaced by the character that it escapes. The text never grows.

/// One pass decodes any depth of backslashes; further ones decode mixtures such as `\u0026quot;`.
const PASSES: usize = 3;

/// Bytes that need decoding; all others are copied in bulk.
static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let bytes = b"\\&<\r\n*`\x1b\0\xc2\xe2\xef";
    let mut next = 0;
    while next < bytes.len() {
        special[bytes[next] as usize] = true;
        next += 1;
    }
    special
};

const BLOCK: usize = 32;

/// Tests without a branch, so that the compiler vectorizes it. All control characters and bytes beyond ASCII pass.
#[allow(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
fn may_be_special(byte: u8) -> bool {
    let is_mark = (byte == b'&') | (byte == b'*') | (byte == b'<');
    is_mark | (byte == b'\\') | (byte == b'`') | (byte.cast_signed() < 0x20)
}

/// Returns the number of bytes before the first special one.
fn plain_len(text: &[u8]) -> Option<usize> {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let find = |bytes: &[u8]| bytes.iter().position(|byte| SPECIAL[usize::from(*byte)]);
    for (number, block) in blocks.iter().enumerate() {
        let any = block.iter().fold(false, |any, byte| any | may_be_special(*byte));
        if any && let Some(at) = find(block) {
            return Some(number * BLOCK + at);
        }
    }
    find(rest).map(|at| text.len() - rest.len() + at)
}

const ENTITIES: &[(&[u8], u8)] = &[
    (b"quot;", b'"'),
    (b"#34;", b'"'),
    (b"#x22;", b'"'),
    (b"apos;", b'\''),
    (b"#39;", b'\''),
    (b"#039;", b'\''),
    (b"#x27;", b'\''),
    (b"lt;", b'<'),
    (b"gt;", b'>'),
    (b"nbsp;", b' '),
    (b"ensp;", b' '),
    (b"emsp;", b' '),
    (b"#10;", b'\n'),
    (b"#xA;", b'\n'),
    (b"#13;", b' '),
    (b"#xD;", b' '),
];

/// HTML elements that end a line, and those that only format text.
const BREAKS: &[&[u8]] = &[b"br", b"p", b"div", b"li", b"tr", b"td", b"th"];
const MARKS: &[&[u8]] = &[b"b", b"strong", b"em", b"i", b"code", b"pre", b"span", b"a", b"u"];

/// Limit of HTML tags and terminal sequences that are removed.
const MAX_TAG: usize = 96;

/// Returns the decoded text as bytes: it may be truncated within a character.
pub(crate) fn normalize(input: &[u8]) -> Vec<u8> {
    let Pass { mut out, mut again, .. } = Pass::new(input);
    for _ in 1..PASSES {
        if again {
            let pass = Pass::new(&out);
            (out, again) = (pass.out, pass.again);
        }
    }
    out
}

struct Pass<'a> {
    input: &'a [u8],
    at: usize,
    out: Vec<u8>,
    /// Set if decoded text may contain further escapes.
    again: bool,
}

impl<'a> Pass<'a> {
    fn new(input: &'a [u8]) -> Self {
        let mut pass = Self { input, at: 0, out: Vec::with_capacity(input.len()), again: false };
        pass.skip_quoting();
        while let Some(len) = plain_len(pass.rest()) {
            pass.copy(len);
            pass.special();
        }
        pass.copy(pass.rest().len());
        pass
    }

    fn rest(&self) -> &'a [u8] {
        &self.input[self.at..]
    }

    fn copy(&mut self, len: usize) {
        self.out.extend_from_slice(&self.rest()[..len]);
        self.at += len;
    }

    /// Replaces `len` bytes with one.
    fn replace(&mut self, len: usize, byte: u8) {
        self.at += len;
        self.out.push(byte);
    }

    fn special(&mut self) {
        let rest = self.rest();
        match rest[0] {
            b'\\' => self.backslashes(),
            b'\r' if rest.get(1) == Some(&b'\n') => self.at += 1,
            b'\n' | b'\r' => self.end_line(1),
            b'&' => self.entity(),
            b'<' => self.tag(),
            b'*' => self.asterisks(),
            b'\x1b' => self.at += escape_sequence(rest),
            // Code marks of Markdown, and every second byte of UTF-16.
            b'`' | 0 => self.at += 1,
            _ => self.beyond_ascii(),
        }
    }

    /// Decodes a run of backslashes, whose length depends on the number of layers.
    fn backslashes(&mut self) {
        let run = self.rest().iter().take_while(|byte| **byte == b'\\').count();
        let after = &self.rest()[run..];
        match after.first() {
            // Quotes, ends of wrapped lines, and characters that Markdown escapes.
            Some(b'"' | b'\'' | b'/' | b'\n' | b'\r' | b'_' | b'[' | b']' | b'*') => self.at += run,
            Some(b'n') => self.end_line(run + 1),
            Some(b'r') => {
                let next = after[1..].iter().find(|byte| **byte != b'\\');
                if matches!(next, Some(b'n' | b'\n' | b'\r')) {
                    self.at += run + 1;
                } else {
                    self.end_line(run + 1);
                }
            }
            Some(b't') => self.replace(run + 1, b'\t'),
            Some(b'u') => match after.get(1..5).and_then(hex) {
                Some(code) => self.unicode(run + 5, code),
                None => self.replace(run, b'\\'),
            },
            _ => self.replace(run, b'\\'),
        }
    }

    fn unicode(&mut self, len: usize, code: u32) {
        self.at += len;
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        // At most three bytes replace six or more.
        self.out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        self.again |= SPECIAL[usize::from(self.out[self.out.len() - 1])] || code > 0x7f;
    }

    fn entity(&mut self) {
        let mut name = &self.rest()[1..];
        while let Some(rest) = name.strip_prefix(b"amp;") {
            name = rest;
        }
        let skipped = self.rest().len() - name.len();
        let found = ENTITIES.iter().find(|(wanted, _)| name.starts_with(wanted));
        match found {
            Some((wanted, b'\n')) => self.end_line(skipped + wanted.len()),
            Some((wanted, byte)) => {
                self.again |= *byte == b'<';
                // The quote was escaped in JSON before HTML.
                if matches!(byte, b'"' | b'\'') && self.out.last() == Some(&b'\\') {
                    self.out.pop();
                }
                self.replace(skipped + wanted.len(), *byte);
            }
            None => self.replace(skipped, b'&'),
        }
    }

    fn tag(&mut self) {
        let rest = self.rest();
        let inside = &rest[1..rest.len().min(MAX_TAG)];
        let inside = inside.strip_prefix(b"/").unwrap_or(inside);
        let name = inside.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let ends = matches!(inside.get(name), Some(b'>' | b' ' | b'/'));
        let is = |tags: &[&[u8]]| tags.iter().any(|tag| inside[..name].eq_ignore_ascii_case(tag));
        let closed = rest[..rest.len().min(MAX_TAG)].iter().position(|byte| *byte == b'>');
        match closed {
            Some(end) if ends && is(BREAKS) => self.end_line(end + 1),
            Some(end) if ends && is(MARKS) => self.at += end + 1,
            _ => self.copy(1),
        }
    }

    /// Removes bold marks of Markdown, often around the number; keeps a single asterisk.
    fn asterisks(&mut self) {
        let run = self.rest().iter().take_while(|byte| **byte == b'*').count();
        if run > 1 {
            self.at += run;
        } else {
            self.copy(1);
        }
    }

    fn beyond_ascii(&mut self) {
        match self.rest() {
            // Typographic quotes.
            [0xe2, 0x80, 0x98 | 0x99, ..] => self.replace(3, b'\''),
            [0xe2, 0x80, 0x9c | 0x9d, ..] => self.replace(3, b'"'),
            // The frame of Terraform errors, and zero-width spaces.
            [0xe2, 0x94, 0x82, ..] | [0xe2, 0x95, 0xb5 | 0xb7, ..] | [0xe2, 0x80, 0x8b, ..] => {
                self.replace(3, b' ');
            }
            [0xc2, 0xa0, ..] => self.replace(2, b' '),
            [0xef, 0xbb, 0xbf, ..] => self.at += 3,
            _ => self.copy(1),
        }
    }

    fn end_line(&mut self, len: usize) {
        self.replace(len, b'\n');
        self.skip_quoting();
    }

    /// Skips any number of `> ` before a line.
    fn skip_quoting(&mut self) {
        let rest = self.rest();
        let marks = rest.iter().take(64).take_while(|byte| matches!(byte, b' ' | b'>')).count();
        if rest[..marks].contains(&b'>') {
            self.at += marks;
        }
    }
}

/// Returns the length of a terminal's color or cursor sequence.
fn escape_sequence(text: &[u8]) -> usize {
    if text.get(1) != Some(&b'[') {
        return 1;
    }
    let parameters = &text[2..text.len().min(MAX_TAG)];
    let end = parameters.iter().position(|byte| (0x40..0x7f).contains(byte));
    end.map_or(1, |end| end + 3)
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| {
        char::from(*digit).to_digit(16).map(|digit| number * 16 + digit)
    })
}

#[cfg(test)]
mod tests {
    use super::{SPECIAL, may_be_special, normalize, plain_len};

    fn decoded(input: &str) -> String {
        String::from_utf8(normalize(input.as_bytes())).unwrap()
    }

    #[test]
    fn backslash_run_of_any_length_is_one_escape() {
        for run in [1, 2, 3, 7, 15] {
            let run = "\\".repeat(run);
            assert_eq!(decoded(&format!("a{run}\"b{run}nc{run}td")), "a\"b\nc\td");
            assert_eq!(decoded(&format!("a{run}r{run}nb")), "a\nb");
            assert_eq!(decoded(&format!("{run}u003cb\u{e9}")), "<b\u{e9}");
        }
    }

    #[test]
    fn html_markdown_and_quoting_are_removed() {
        assert_eq!(decoded("a&quot;b&amp;quot;c</br>d<BR />e"), "a\"b\"c\nd\ne");
        assert_eq!(decoded("status=**50**, `x`"), "status=50, x");
        assert_eq!(decoded("status=<b>50</b> <a href=\"x\">y</a>"), "status=50 y");
        assert_eq!(decoded("> a\r\n> > b\n c"), "a\nb\n c");
        assert_eq!(decoded("\u{1b}[31mred\u{1b}[0m \u{2018}q\u{2019}"), "red 'q'");
        assert_eq!(decoded("\\\\\\&quot;a\\&#39;"), "\"a'");
        assert_eq!(decoded("\\u0026quot;\\\\u003cbr\\\\u003ex"), "\"\nx");
    }

    #[test]
    fn escapes_are_decoded_or_kept() {
        for (text, expected) in [
            ("a\rb\r\nc", "a\nb\nc"),
            ("a\\rb\\r\\nc\\r\nd", "a\nb\nc\nd"),
            ("\\/ \\_ \\[ \\] \\* \\' \\\\\"", "/ _ [ ] * ' \""),
            ("\\x \\\\x \\", "\\x \\x \\"),
            ("\\u0041\\u00e9\\u1234", "A\u{e9}\u{1234}"),
            ("\\u12 \\uzzzz \\ud83d", "\\u12 \\uzzzz \u{fffd}"),
            ("\\u00a0\\u201cx\\u201d", " \"x\""),
            ("\\u005cu0026quot;", "\""),
            ("\\u005cu005cu0026quot;", "&quot;"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn entities_and_tags_are_decoded_or_kept() {
        let link = |len: usize| format!("<a {}>x", "h".repeat(len - 4));
        assert_eq!((decoded(&link(96)), decoded(&link(97))), ("x".to_owned(), link(97)));
        for (text, expected) in [
            ("&lt;br&gt;a&amp;lt;p&gt;b", "\na\nb"),
            ("&#10;> a&nbsp;b", "\na b"),
            ("\\&nbsp;", "\\ "),
            ("&x &amp;y &amp;amp;z", "&x &y &z"),
            ("<p>a</p><tr><br/>b", "\na\n\n\nb"),
            ("<pre>a</pre><B>b", "ab"),
            ("a<br> b", "a\n b"),
            ("<foo> <b-x> <> <b", "<foo> <b-x> <> <b"),
            ("*a* **b** ***c", "*a* b c"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn terminal_sequences_and_marks_beyond_ascii_are_removed() {
        for (text, expected) in [
            ("\u{1b}[@a\u{1b}[~b\u{1b}[\u{7f}mc\u{1b}[?25hd", "abcd"),
            ("\u{1b}Xa\u{1b}[31", "Xa[31"),
            ("\u{feff}\u{201c}a\u{201d} \u{2502}\u{2575}\u{2577}\u{200b}\u{a0}b", "\"a\"      b"),
            ("\u{a9} \u{2192} \u{ff01}", "\u{a9} \u{2192} \u{ff01}"),
            ("  a\n  > b", "  a\nb"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
        assert_eq!(decoded(&format!("{}a", ">".repeat(70))), ">>>>>>a");
        let long = |len: usize| format!("\u{1b}[{}mx", "1".repeat(len));
        assert_eq!(
            (decoded(&long(93)), decoded(&long(94))),
            ("x".to_owned(), long(94)[1..].to_owned())
        );
    }

    #[test]
    fn special_control_and_non_ascii_bytes_stop_a_block() {
        for byte in 0..=u8::MAX {
            let stops = SPECIAL[usize::from(byte)] || byte < 0x20 || !byte.is_ascii();
            assert_eq!(may_be_special(byte), stops, "{byte:#x}");
        }
    }

    #[test]
    fn special_bytes_are_found_at_every_offset() {
        for byte in 0..=u8::MAX {
            for at in 0..70 {
                let mut text = [b'a'; 70];
                text[at] = byte;
                let found = SPECIAL[usize::from(byte)].then_some(at);
                assert_eq!(plain_len(&text), found, "{byte:#x} at {at}");
            }
        }
    }

    #[test]
    fn utf16_is_decoded_to_ascii() {
        let utf16: Vec<u8> = "exit status=50".bytes().flat_map(|byte| [byte, 0]).collect();
        assert_eq!(normalize(&utf16), b"exit status=50");
    }
}
