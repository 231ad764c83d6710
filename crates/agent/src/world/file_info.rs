//! Files, and the reason why one cannot be read.

use std::io;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    pub kind: EntryKind,
    pub mode: u32,
    pub length: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    pub free_bytes: u64,
    /// Files that can still be made; `None` where the file system does not count them.
    pub free_files: Option<u64>,
}

/// Policy for a rename whose target exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    Yes,
    /// It fails with [`io::ErrorKind::AlreadyExists`].
    No,
    /// Both change places; a file system that cannot do so fails with [`io::ErrorKind::Unsupported`].
    Exchange,
}

/// The reason why a file could not be read; Go has a message for each.
#[derive(Debug)]
pub enum ReadFailure {
    Open(io::Error),
    Read(io::Error),
    TooLarge { limit: u64 },
}
