//! Errors for JavaScript: a class for programs, and a message for people.

use alloc::string::{String, ToString};
use core::fmt::Display;
use mksum::outboard::OutboardError;
use mksum::proof::ProofError;
use mksum::{Error, RootError, SpecError};

/// The class of an error, which TypeScript maps to an `ErrorCode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Class {
    /// An argument is invalid.
    Argument = 1,
    /// A length or position is out of range, or there is not enough memory.
    Length = 2,
    /// The format has no root for this input.
    Format = 3,
    /// The bytes are not a proof, or the proof is not valid.
    Proof = 4,
    /// The bytes are not an outboard, or it is damaged.
    Outboard = 5,
}

/// An error: its class and message.
#[derive(Clone, Debug)]
pub struct Refusal(pub Class, pub String);

impl Refusal {
    /// Creates an error.
    pub fn new(class: Class, message: impl Display) -> Self {
        Refusal(class, message.to_string())
    }
}

macro_rules! classes {
    ($($error:ty => $class:ident,)*) => {
        $(impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                Refusal::new(Class::$class, error)
            }
        })*
    };
}

classes! {
    SpecError => Argument,
    RootError => Argument,
    ProofError => Proof,
    OutboardError => Outboard,
    mksum::NeedsLength => Format,
    mksum::LengthError => Format,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let class = match error {
            // Reading memory never fails, so this is an error of an outboard.
            Error::Source(_) => Class::Outboard,
            Error::Pieces(_) => Class::Argument,
            _ => Class::Format,
        };
        Refusal::new(class, error)
    }
}
