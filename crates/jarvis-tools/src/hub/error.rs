//! Why a call of the hub gives no result.

use std::fmt;

use jarvis_prompt::number::ArithmeticError;

/// A call without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HubError {
    /// Of what kind.
    pub fault: HubFault,
    /// What happened, naming the function and the argument; a model may read it.
    pub message: String,
}

/// The kinds of failed calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HubFault {
    /// Too few arguments, or too many.
    Arity,
    /// There is no real result for these numbers.
    Domain,
    /// A division by zero.
    ZeroDivision,
    /// An argument is no number, or no whole number where one is needed.
    Type,
    /// The result is beyond the range of floats, about 1.8e308.
    Overflow,
    /// The result would be too long to work out.
    TooLarge,
    /// There is no such function.
    UnknownFunction,
}

impl fmt::Display for HubFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl HubError {
    pub(super) fn new(fault: HubFault, function: impl fmt::Display, what: impl fmt::Display) -> HubError {
        HubError { fault, message: format!("{function}: {what}") }
    }

    pub(super) fn bare(fault: HubFault, what: impl Into<String>) -> HubError {
        HubError { fault, message: what.into() }
    }

    pub(super) fn of(self, function: impl fmt::Display) -> HubError {
        HubError { fault: self.fault, message: format!("{function}: {}", self.message) }
    }

    /// Arithmetic that failed at an argument, counted from 1.
    pub(super) fn at(function: impl fmt::Display, argument: usize, error: ArithmeticError) -> HubError {
        let fault = match error {
            ArithmeticError::DivisionByZero => HubFault::ZeroDivision,
            ArithmeticError::NotReal => HubFault::Domain,
            ArithmeticError::NotFinite => HubFault::Overflow,
            ArithmeticError::TooLarge => HubFault::TooLarge,
        };
        HubError::new(fault, function, format_args!("{error} (at argument {argument})"))
    }
}
