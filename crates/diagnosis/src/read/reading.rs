//! What has been read so far: which facts belong together.
//!
//! A text may hold the messages of several machines and extensions, repeat them, or begin in the
//! middle of one. Facts come in the order of the text. What stands before a message (a name, an
//! instance, a state) waits for it; what stands behind its beginning belongs to it until the next.

use crate::read::message::{Found, Handler, Message, Opener};

/// A text with more messages than this is cut off there; it is no text that a person pastes.
const MOST_MESSAGES: usize = 1024;

/// So many different names or sentences are kept.
const MOST_LOOSE: usize = 32;

#[derive(Debug)]
pub(crate) struct Read<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) messages: Vec<Message>,
    /// Names that AKS gives to errors.
    pub(crate) names: Vec<Found<String>>,
    /// Codes that sentences imply.
    pub(crate) sentences: Vec<Found<i64>>,
    /// Codes of Azure Resource Manager, which tell less than anything else.
    pub(crate) arm_codes: Vec<Found<&'static str>>,
    pub(crate) loose: Message,
    /// Whether anything in the text is from an AKS node.
    pub(crate) from_aks_node: bool,
    current: Option<usize>,
    full: bool,
    lookups: usize,
}

impl<'a> Read<'a> {
    pub(crate) fn new(text: &'a [u8], from_aks_node: bool) -> Self {
        Self {
            text,
            messages: Vec::new(),
            names: Vec::new(),
            sentences: Vec::new(),
            arm_codes: Vec::new(),
            loose: Message::new(Opener::Log, 0),
            from_aks_node,
            current: None,
            full: false,
            lookups: 0,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// The message that is being read.
    pub(crate) fn current(&mut self) -> Option<&mut Message> {
        self.current.and_then(|index| self.messages.get_mut(index))
    }

    /// Where a fact belongs: the message that is being read, or the next one.
    pub(crate) fn here(&mut self) -> &mut Message {
        match self.current {
            Some(index) => &mut self.messages[index],
            None => &mut self.loose,
        }
    }

    /// Begins a message; what waited for it is now its own.
    pub(crate) fn open(&mut self, opener: Opener, at: usize) -> &mut Message {
        self.full = self.messages.len() + 1 >= MOST_MESSAGES;
        let mut message = std::mem::replace(&mut self.loose, Message::new(Opener::Log, at));
        message.opener = opener;
        message.at = at;
        message.span = at..at;
        self.messages.push(message);
        let index = self.messages.len() - 1;
        self.current = Some(index);
        &mut self.messages[index]
    }

    /// Ends the message that is being read: what follows waits for the next.
    pub(crate) fn close(&mut self) {
        self.current = None;
    }

    /// The message that a handler's text belongs to: a wrapper's that has none yet, or a new one.
    pub(crate) fn handler_message(&mut self, at: usize) -> &mut Message {
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

    /// Whether one more name may be looked up: that takes microseconds, and a text can be all names.
    pub(crate) fn may_look_up(&mut self) -> bool {
        self.lookups += 1;
        self.lookups <= MOST_MESSAGES
    }

    pub(crate) fn add_name(&mut self, name: &[u8], at: usize) {
        let name = String::from_utf8_lossy(name);
        let known = |found: &Found<String>| found.value.eq_ignore_ascii_case(&name);
        if self.names.len() < MOST_LOOSE && !self.names.iter().any(known) {
            self.names.push(Found { value: name.into_owned(), at });
        }
    }

    pub(crate) fn add_sentence(&mut self, code: i64, at: usize) {
        if !self.sentences.iter().any(|found| found.value == code) {
            self.sentences.push(Found { value: code, at });
        }
    }

    pub(crate) fn add_arm_code(&mut self, code: &'static str, at: usize) {
        if !self.arm_codes.iter().any(|found| found.value == code) {
            self.arm_codes.push(Found { value: code, at });
        }
    }

    /// A message reaches to the next one; the first and the last also have what is around them.
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
