//! Lines and blocks of YAML.

pub(super) struct Lines<'a> {
    pub(super) rest: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
}

impl<'a> Lines<'a> {
    /// The next line that is neither blank nor a comment.
    pub(super) fn next_significant(&mut self) -> Result<Option<(usize, &'a str)>, String> {
        self.peek_significant();
        let found = self.rest.next();
        if let Some((number, line)) = found
            && line.contains(['\t', '\r', '\0'])
        {
            return Err(at(number, "a tab, carriage return or NUL"));
        }
        Ok(found)
    }

    pub(super) fn peek_significant(&mut self) -> Option<&'a str> {
        let is_passed = |line: &str| is_blank(line) || line.trim_start().starts_with('#');
        while self.rest.next_if(|(_, line)| is_passed(line)).is_some() {}
        self.rest.peek().map(|(_, line)| *line)
    }

    /// Passes over everything up to the next key at the margin.
    pub(super) fn skip_value(&mut self) {
        let is_inside = |line: &str| {
            is_blank(line) || line.starts_with([' ', '#', '-', '\t']) && !line.starts_with("---")
        };
        while self.rest.next_if(|(_, line)| is_inside(line)).is_some() {}
    }

    /// A literal block that is indented deeper than `parent`.
    pub(super) fn block(&mut self, parent: usize, chomp: Chomp) -> Result<String, String> {
        let mut depth = None;
        let mut content = String::new();
        let mut blanks = 0;
        while let Some(&(number, line)) = self.rest.peek() {
            if is_blank(line) {
                let beyond = depth.and_then(|depth| line.get(depth..)).unwrap_or_default();
                if beyond.is_empty() {
                    blanks += 1;
                } else {
                    content.extend(std::iter::repeat_n('\n', std::mem::take(&mut blanks)));
                    content.push_str(beyond);
                    content.push('\n');
                }
                self.rest.next();
                continue;
            }
            let own = indent(line);
            let depth = *depth.get_or_insert(own);
            if depth <= parent || own < depth {
                if own > parent {
                    return Err(at(number, "a line of a block is indented less than the first"));
                }
                break;
            }
            if line.contains(['\r', '\0']) {
                return Err(at(number, "a carriage return or NUL"));
            }
            content.extend(std::iter::repeat_n('\n', std::mem::take(&mut blanks)));
            content.push_str(&line[depth..]);
            content.push('\n');
            self.rest.next();
        }
        match chomp {
            Chomp::Clip => {}
            Chomp::Strip => content.truncate(content.trim_end_matches('\n').len()),
            Chomp::Keep => content.extend(std::iter::repeat_n('\n', blanks)),
        }
        Ok(content)
    }
}

/// The treatment of line ends at the end of a block.
#[derive(Clone, Copy)]
pub(super) enum Chomp {
    Clip,
    Strip,
    Keep,
}

pub(super) fn at(number: usize, what: &str) -> String {
    format!("line {}: {what}", number + 1)
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte == b' ')
}

pub(super) fn indent(line: &str) -> usize {
    line.bytes().take_while(|&byte| byte == b' ').count()
}
