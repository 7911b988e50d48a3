//! Errors for JavaScript: a class for programs, and words for people.

use alloc::string::{String, ToString};
use core::fmt::Display;
use mksum::outboard::OutboardError;
use mksum::proof::ProofError;
use mksum::{Error, RootError, SpecError};

/// The class of a refusal: `ErrorCode` of the TypeScript face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Class {
    /// An argument makes no sense.
    Argument = 1,
    /// A length or position is out of range, or memory lacks.
    Length = 2,
    /// The format has no root for this.
    Format = 3,
    /// No proof, or it does not hold.
    Proof = 4,
    /// No kept tree, or not one to be relied on.
    Outboard = 5,
}

/// A class and its words.
#[derive(Clone, Debug)]
pub struct Refusal(pub Class, pub String);

impl Refusal {
    /// A refusal of this class.
    pub fn new(class: Class, words: impl Display) -> Self {
        Refusal(class, words.to_string())
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
            // Bytes in memory never fail, so this is the error of an outboard.
            Error::Source(_) => Class::Outboard,
            Error::Pieces(_) => Class::Argument,
            _ => Class::Format,
        };
        Refusal::new(class, error)
    }
}
