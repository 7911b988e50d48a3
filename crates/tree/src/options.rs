//! The options of formats beside hash and leaf: one table for texts, flags and bindings.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base16ct::{lower, mixed};
use core::fmt;

/// An option that some formats have. A new one is a row here and in those formats; texts, the tool's flags and the bindings follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FormatOption {
    /// Bytes that are hashed before each node.
    Salt,
}

impl FormatOption {
    /// Every option, in the order in which the text of a format names them.
    pub const ALL: &[FormatOption] = &[FormatOption::Salt];

    /// The name: `salt=` in the text of a format, `--salt` as a flag.
    pub const fn name(self) -> &'static str {
        match self {
            FormatOption::Salt => "salt",
        }
    }

    /// The form of a value in texts, as a placeholder: `HEX`.
    pub const fn placeholder(self) -> &'static str {
        match self {
            FormatOption::Salt => "HEX",
        }
    }

    /// The option with this name.
    pub fn from_name(name: &str) -> Option<FormatOption> {
        Self::ALL.iter().copied().find(|option| option.name() == name)
    }

    /// Reads a value, in hex with digits in either case; `None` if it is not one.
    pub fn parse(self, text: &str) -> Option<OptionValue> {
        match self {
            FormatOption::Salt => mixed::decode_vec(text).ok().map(OptionValue::Bytes),
        }
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionValue {
    /// Bytes; none if the option is not given.
    Bytes(Vec<u8>),
}

impl OptionValue {
    /// Whether the value equals an option that is not given.
    pub(crate) fn is_default(&self) -> bool {
        match self {
            OptionValue::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

impl fmt::Display for OptionValue {
    /// Writes the value as in the text of a format: lower-case hex.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Bytes(bytes) => f.write_str(&lower::encode_string(bytes)),
        }
    }
}

/// The values that a format allows for an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionRule {
    /// Up to this many bytes.
    Bytes(usize),
}

impl OptionRule {
    /// Checks a value of `option`; the error says which values are allowed.
    pub(crate) fn check(self, option: FormatOption, value: &OptionValue) -> Result<(), String> {
        match (self, value) {
            (OptionRule::Bytes(most), OptionValue::Bytes(bytes)) if bytes.len() > most => {
                Err(format!("a {} of at most {most} bytes, not {}", option.name(), bytes.len()))
            }
            _ => Ok(()),
        }
    }
}

/// Options with their values, in the order of [`FormatOption::ALL`], without defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen(Vec<(FormatOption, OptionValue)>);

impl Chosen {
    /// Returns a copy with another value of `option`.
    pub fn with(&self, option: FormatOption, value: OptionValue) -> Chosen {
        let mut values: Vec<_> = self.0.iter().filter(|(other, _)| *other != option).cloned().collect();
        if !value.is_default() {
            let place = values.partition_point(|&(other, _)| other < option);
            values.insert(place, (option, value));
        }
        Chosen(values)
    }

    /// The bytes of an option; none if it is not given.
    pub fn bytes(&self, option: FormatOption) -> &[u8] {
        match self.0.iter().find(|(other, _)| *other == option) {
            Some((_, OptionValue::Bytes(bytes))) => bytes,
            None => &[],
        }
    }

    /// The options that are given, with their values.
    pub fn iter(&self) -> impl Iterator<Item = &(FormatOption, OptionValue)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use crate::formats::FAMILIES;
    use alloc::string::ToString;
    use alloc::vec;

    #[test]
    fn a_format_has_the_options_of_its_row_in_texts_and_as_values() {
        for family in FAMILIES {
            for &option in FormatOption::ALL {
                let (spec, value) = (Spec::new(family), OptionValue::Bytes(vec![0x0a, 0xff]));
                let text = format!("{spec}:{}={value}", option.name());
                let changed = spec.clone().with_option(option, value);
                assert_eq!(changed, text.parse(), "{text}");
                assert_eq!(changed.is_ok(), family.rule(option).is_some(), "{text}");
                if let Ok(changed) = changed {
                    assert_eq!(changed.to_string(), text);
                    assert_ne!(changed, spec);
                    assert_eq!(changed.with_option(option, OptionValue::Bytes(Vec::new())), Ok(spec.clone()));
                }
                if let Some(OptionRule::Bytes(most)) = family.rule(option) {
                    assert!(spec.with_option(option, OptionValue::Bytes(vec![0; most + 1])).is_err());
                }
            }
        }
    }
}
