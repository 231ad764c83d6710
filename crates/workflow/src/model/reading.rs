//! The result of a read. A failed read is unknown, and never means that nothing exists.

use std::cell::OnceCell;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reading<T> {
    Known(T),
    #[default]
    NotAsked,
    /// The service reports that it does not exist.
    NotFound,
    /// The caller lacks a permission; the text is the service's error code.
    Denied(String),
    /// The service rejected the request for now; the text is its error.
    Throttled(String),
    /// No usable response; the text is the reason.
    Failed(String),
}

impl<T> Reading<T> {
    /// Returns a value, or a failed reading with the reason.
    pub fn of(value: Option<T>, why: &str) -> Self {
        value.map_or_else(|| Self::Failed(why.to_owned()), Self::Known)
    }

    pub fn map<U>(&self, what: impl FnOnce(&T) -> U) -> Reading<U> {
        match self {
            Self::Known(value) => Reading::Known(what(value)),
            Self::NotAsked => Reading::NotAsked,
            Self::NotFound => Reading::NotFound,
            Self::Denied(code) => Reading::Denied(code.clone()),
            Self::Throttled(why) => Reading::Throttled(why.clone()),
            Self::Failed(why) => Reading::Failed(why.clone()),
        }
    }

    /// Returns the reading without its value.
    pub fn outcome(&self) -> Reading<()> {
        self.map(|_| ())
    }

    pub fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// Returns true for a value, and for one that is known not to exist.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Known(_) | Self::NotFound)
    }

    /// Returns true if the read was tried in vain.
    pub fn has_failed(&self) -> bool {
        matches!(self, Self::Denied(_) | Self::Throttled(_) | Self::Failed(_))
    }

    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value, or none if it does not exist; any other reading is an error.
    pub fn found<U>(self) -> Result<Option<T>, Reading<U>> {
        match self {
            Self::Known(value) => Ok(Some(value)),
            Self::NotFound => Ok(None),
            Self::NotAsked => Err(Reading::NotAsked),
            Self::Denied(code) => Err(Reading::Denied(code)),
            Self::Throttled(why) => Err(Reading::Throttled(why)),
            Self::Failed(why) => Err(Reading::Failed(why)),
        }
    }

    /// Returns the reason of a failed read; none if the value is known not to exist.
    pub fn error(&self) -> Option<String> {
        self.missing().filter(|_| !matches!(self, Self::NotFound))
    }

    /// Returns the reason for a missing value.
    pub fn missing(&self) -> Option<String> {
        match self {
            Self::Known(_) => None,
            Self::NotAsked => Some("not asked".to_owned()),
            Self::NotFound => Some("not found".to_owned()),
            Self::Denied(code) => Some(format!("not permitted ({code})")),
            Self::Throttled(why) => Some(format!("cannot be read now ({why})")),
            Self::Failed(why) => Some(format!("could not be read ({why})")),
        }
    }
}

/// Returns what the cell has, after a read if it is empty.
pub async fn once<T>(
    cell: &OnceCell<Reading<T>>,
    read: impl Future<Output = Reading<T>>,
) -> &Reading<T> {
    if let Some(reading) = cell.get() {
        return reading;
    }
    let reading = read.await;
    cell.get_or_init(|| reading)
}

/// Readings by name. They are added and never replaced, so that references to them stay valid.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T>(OnceCell<Box<(String, Reading<T>, Self)>>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(OnceCell::new())
    }
}

impl<T> Named<T> {
    pub fn of(name: &str, reading: Reading<T>) -> Self {
        Self(OnceCell::from(Box::new((name.to_owned(), reading, Self::default()))))
    }

    pub fn get(&self, name: &str) -> Option<&Reading<T>> {
        self.entries().find(|(own, _)| *own == name).map(|(_, reading)| reading)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&str, &Reading<T>)> {
        let entries = std::iter::successors(self.0.get(), |entry| entry.2.0.get());
        entries.map(|entry| (entry.0.as_str(), &entry.1))
    }

    /// Adds a reading; one that exists stays.
    pub fn add(&self, name: &str, reading: Reading<T>) -> &Reading<T> {
        let Some(entry) = self.0.get() else {
            let entry = || Box::new((name.to_owned(), reading, Self::default()));
            return &self.0.get_or_init(entry).1;
        };
        if entry.0 == name { &entry.1 } else { entry.2.add(name, reading) }
    }

    /// Returns the reading of a name, after a read if it has none.
    pub async fn once(&self, name: &str, read: impl Future<Output = Reading<T>>) -> &Reading<T> {
        match self.get(name) {
            Some(reading) => reading,
            None => self.add(name, read.await),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_value_is_none_and_unreadable_is_an_error() {
        assert_eq!(Reading::Known(1).found::<u8>(), Ok(Some(1)));
        assert_eq!(Reading::<u8>::NotFound.found::<u8>(), Ok(None));
        for (reading, expected) in [
            (Reading::<u8>::Denied("c".to_owned()), Reading::<u16>::Denied("c".to_owned())),
            (Reading::Throttled("w".to_owned()), Reading::Throttled("w".to_owned())),
            (Reading::Failed("w".to_owned()), Reading::Failed("w".to_owned())),
        ] {
            assert_eq!(reading.found(), Err(expected));
        }
    }

    #[test]
    fn missing_reading_has_a_reason() {
        assert_eq!(Reading::Known(1).missing(), None);
        assert_eq!(Reading::<()>::NotFound.missing().unwrap(), "not found");
        assert!(Reading::<()>::Denied("X".into()).missing().unwrap().contains('X'));
        assert!(Reading::<()>::Failed("Y".into()).missing().unwrap().contains('Y'));
        assert_eq!(Reading::Known(1).known(), Some(&1));
        assert_eq!(Reading::<()>::NotFound.known(), None);
    }

    #[test]
    fn only_a_failed_read_is_an_error() {
        assert_eq!(Reading::Known(1).error(), None);
        assert_eq!(Reading::<()>::NotFound.error(), None);
        let failed = Reading::<()>::of(None, "X");
        assert_eq!(failed, Reading::Failed("X".to_owned()));
        assert_eq!(failed.error().as_deref(), Some("could not be read (X)"));
        assert_eq!(Reading::of(Some(1), "X"), Reading::Known(1));
    }
}
