//! Assigns facts to messages.
//!
//! A text may contain the messages of several VMs and extensions, repeat them, or begin within one. Facts arrive in the
//! order of the text. Facts before a message (a name, an instance, a state) wait for it; later ones belong to it until
//! the next message.

use crate::read::message::{ExtensionMessage, Handler, Located, Opener};

/// Later messages of a text are ignored.
const MAX_MESSAGES: usize = 1024;

const MAX_NAMES: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct TextReading<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) messages: Vec<ExtensionMessage>,
    pub(crate) names: Vec<Located<String>>,
    /// Codes inferred from AKS messages.
    pub(crate) sentences: Vec<Located<i64>>,
    /// ARM error codes, the weakest evidence.
    pub(crate) arm_codes: Vec<Located<&'static str>>,
    /// Facts outside of messages.
    pub(crate) loose: ExtensionMessage,
    /// Set if any part of the text is from an AKS node.
    pub(crate) from_aks_node: bool,
    current: Option<usize>,
    pub(crate) full: bool,
    lookups: usize,
}

impl<'a> TextReading<'a> {
    pub(crate) fn new(text: &'a [u8], from_aks_node: bool) -> Self {
        Self { text, from_aks_node, ..Self::default() }
    }

    pub(crate) fn current(&mut self) -> Option<&mut ExtensionMessage> {
        self.current.and_then(|index| self.messages.get_mut(index))
    }

    /// Returns the current message, or the facts that wait for the next one.
    pub(crate) fn here(&mut self) -> &mut ExtensionMessage {
        match self.current {
            Some(index) => &mut self.messages[index],
            None => &mut self.loose,
        }
    }

    /// Starts a message with the facts that waited for it.
    pub(crate) fn open(&mut self, opener: Opener, at: usize) -> &mut ExtensionMessage {
        self.full = self.messages.len() + 1 >= MAX_MESSAGES;
        let mut message =
            std::mem::replace(&mut self.loose, ExtensionMessage::new(Opener::Log, at));
        message.opener = opener;
        message.at = at;
        message.span = at..at;
        self.messages.push(message);
        let index = self.messages.len() - 1;
        self.current = Some(index);
        &mut self.messages[index]
    }

    /// Ends the current message.
    pub(crate) fn close(&mut self) {
        self.current = None;
    }

    /// Returns the message for a handler's text: a wrapper without one, or a new message.
    pub(crate) fn handler_message(&mut self, at: usize) -> &mut ExtensionMessage {
        let fits = self.current.is_some_and(|index| {
            let message = &self.messages[index];
            let waits = matches!(message.opener, Opener::Wrapper | Opener::Handler);
            waits
                && message.handler == Handler::Silent
                && message.outer.is_none()
                && !message.in_streams()
        });
        match self.current {
            Some(index) if fits => &mut self.messages[index],
            _ => self.open(Opener::Handler, at),
        }
    }

    /// Limits lookups of names, which take microseconds: a text can be all names.
    pub(crate) fn may_look_up(&mut self) -> bool {
        self.lookups += 1;
        self.lookups <= MAX_MESSAGES
    }

    pub(crate) fn add_name(&mut self, name: &[u8], at: usize) {
        let name = String::from_utf8_lossy(name);
        let known = |found: &Located<String>| found.value.eq_ignore_ascii_case(&name);
        if self.names.len() < MAX_NAMES && !self.names.iter().any(known) {
            self.names.push(Located { value: name.into_owned(), at });
        }
    }

    pub(crate) fn add_sentence(&mut self, code: i64, at: usize) {
        if !self.sentences.iter().any(|found| found.value == code) {
            self.sentences.push(Located { value: code, at });
        }
    }

    pub(crate) fn add_arm_code(&mut self, code: &'static str, at: usize) {
        if !self.arm_codes.iter().any(|found| found.value == code) {
            self.arm_codes.push(Located { value: code, at });
        }
    }

    /// Extends each message to the next one, and the first to the start of the text.
    pub(crate) fn close_spans(&mut self) {
        let mut end = self.text.len();
        for message in self.messages.iter_mut().rev() {
            message.span.end = end;
            end = message.span.start;
        }
        if let Some(first) = self.messages.first_mut() {
            first.span.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_messages_lookups_and_names_is_limited() {
        let mut read = TextReading::new(b"", false);
        for number in 1..=MAX_MESSAGES {
            read.open(Opener::Log, 0);
            assert_eq!(read.full, number == MAX_MESSAGES, "{number}");
            assert!(read.may_look_up(), "{number}");
        }
        assert!(!read.may_look_up());
        for number in 0..=MAX_NAMES {
            read.add_name(format!("Name{number}").as_bytes(), number);
        }
        assert_eq!(read.names.len(), MAX_NAMES);
    }

    #[test]
    fn names_and_codes_are_kept_once() {
        let mut read = TextReading::new(b"", false);
        for name in ["A_x", "a_X", "B"] {
            read.add_name(name.as_bytes(), 0);
        }
        for code in [50, 50, 51] {
            read.add_sentence(code, 0);
        }
        for code in ["A", "A", "B"] {
            read.add_arm_code(code, 0);
        }
        let values = |found: &[Located<String>]| -> Vec<String> {
            found.iter().map(|one| one.value.clone()).collect()
        };
        assert_eq!(values(&read.names), ["A_x", "B"]);
        assert!(read.sentences.iter().map(|one| one.value).eq([50, 51]));
        assert!(read.arm_codes.iter().map(|one| one.value).eq(["A", "B"]));
    }

    #[test]
    fn handler_text_belongs_to_a_wrapper_that_waits_for_it() {
        let continues = |change: &dyn Fn(&mut ExtensionMessage)| {
            let mut read = TextReading::new(b"", false);
            change(read.open(Opener::Wrapper, 0));
            read.handler_message(5);
            read.messages.len() == 1
        };
        assert!(continues(&|_| {}));
        assert!(continues(&|message| message.opener = Opener::Handler));
        assert!(!continues(&|message| message.opener = Opener::Log));
        assert!(!continues(&|message| message.handler = Handler::Failed));
        assert!(!continues(&|message| message.outer = Some(Located { value: 50, at: 0 })));
        assert!(!continues(&|message| message.stdout = Some(0)));
        let mut read = TextReading::new(b"", false);
        read.open(Opener::Wrapper, 0);
        read.close();
        assert!(read.current().is_none());
        assert_eq!(read.handler_message(5).opener, Opener::Handler);
    }

    #[test]
    fn message_ends_where_the_next_one_starts() {
        let mut read = TextReading::new(&[b'x'; 20], false);
        read.open(Opener::Wrapper, 5);
        read.open(Opener::Wrapper, 9);
        read.close_spans();
        let spans: Vec<_> = read.messages.iter().map(|message| message.span.clone()).collect();
        assert_eq!(spans, [0..9, 9..20]);
    }
}
