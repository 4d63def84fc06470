//! The function hub: thirteen arithmetic functions by name, each on one list of numbers.
//!
//! Numbers keep their kind (`5` is whole, `5.0` is not) and whole ones their digits. What a call would cost is known before
//! it is done, so that no input hangs. Two modes differ in what is shown: the decimal places of the original, or all.

mod compute;
mod error;
mod function;
mod input;
mod show;

use std::fmt;
use std::str::FromStr;

use jarvis_prompt::literal::Literal;
use jarvis_prompt::number::Number;

use crate::{ToolError, ToolErrorKind};

pub use error::{HubError, HubFault};
pub use function::Function;
pub use input::arguments;
pub(crate) use input::written;
pub(crate) use show::significant;

/// What a result is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// All digits of whole numbers, and as many of floats as tell them from their neighbours. For chains of calls.
    #[default]
    Precise,
    /// As the original shows it: two decimal places, or two significant digits below a tenth; its defects are mended.
    Compat,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Precise => "precise",
            Mode::Compat => "compat",
        })
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        match text {
            "precise" => Ok(Mode::Precise),
            "compat" => Ok(Mode::Compat),
            other => Err(format!("`{other}` is no mode; there are precise and compat")),
        }
    }
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct HubResult {
    /// The result before it was made a text.
    pub value: Number,
    /// What the mode shows: decimal digits without exponent, `0` for negative zero.
    pub text: String,
    /// The mode.
    pub mode: Mode,
}

impl HubResult {
    /// All digits of the result, whatever the mode shows.
    pub fn digits(&self) -> String {
        show::exact(&self.value)
    }

    /// What a model is shown: the text; of precise floats no more than 12 significant digits.
    pub fn shown_in_prompt(&self) -> String {
        match (self.mode, &self.value) {
            (Mode::Precise, Number::Float(float)) => show::significant(*float),
            (Mode::Precise, Number::Int(_)) | (Mode::Compat, _) => self.text.clone(),
        }
    }
}

/// Calls a function with a list of numbers: whole numbers, floats, truth values as 1 and 0, and texts of one number
/// (`"10"`, `"2,500"`). Both modes succeed and fail alike.
///
/// # Errors
/// When the list is not what the function takes, there is no real result, or it is beyond about 1.8e308 or beyond 2^20
/// bits on the way; the message names the function and the argument.
pub fn call(function: Function, input: &[Literal], mode: Mode) -> Result<HubResult, HubError> {
    let value = compute::value(function, input, mode)?;
    let text = match mode {
        Mode::Precise => show::exact(&value),
        Mode::Compat => show::rounded(&value),
    };
    Ok(HubResult { value, text, mode })
}

/// The functions by name, with a way to show results.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hub {
    mode: Mode,
}

impl Hub {
    /// A hub whose results are shown in a mode.
    pub fn new(mode: Mode) -> Hub {
        Hub { mode }
    }

    /// How results are shown.
    pub fn mode(self) -> Mode {
        self.mode
    }

    /// Calls a function by its name, with parameters as a model writes them: [`Function::parse`], [`arguments`], [`call`].
    ///
    /// # Errors
    /// As these three.
    pub fn call_named(self, function: &str, parameters: &Literal) -> Result<HubResult, HubError> {
        let function = Function::parse(function)?;
        call(function, arguments(parameters).map_err(|error| error.of(function))?, self.mode)
    }
}

impl From<HubError> for ToolError {
    fn from(error: HubError) -> ToolError {
        let kind = match error.fault {
            HubFault::UnknownFunction => ToolErrorKind::UnknownTool,
            _ => ToolErrorKind::InvalidInput,
        };
        ToolError::from_error(kind, error)
    }
}

#[cfg(test)]
mod tests;
