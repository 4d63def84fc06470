//! The functions of the hub, by name.

use std::fmt;

use super::error::{HubError, HubFault};

/// A function of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// The sum; 0 of nothing.
    Add,
    /// The first number less all others.
    Subtract,
    /// The product.
    Multiply,
    /// The first number divided by all others, in turn.
    Divide,
    /// The first number raised to all others, in turn.
    Power,
    /// The square root of the first number.
    Sqrt,
    /// The logarithm to base 10, or to the second number.
    Log,
    /// The natural logarithm of the first number.
    Ln,
    /// The least common multiple.
    Lcm,
    /// The greatest common divisor.
    Gcd,
    /// The remainder of the first number by the second.
    Remainder,
    /// How many choices of r things there are out of n.
    Choose,
    /// How many arrangements of r things there are out of n.
    Permutate,
}

impl Function {
    /// All functions, in the order of their published ids (0 to 12).
    pub const ALL: [Function; 13] = [
        Function::Add,
        Function::Subtract,
        Function::Multiply,
        Function::Divide,
        Function::Power,
        Function::Sqrt,
        Function::Log,
        Function::Ln,
        Function::Lcm,
        Function::Gcd,
        Function::Remainder,
        Function::Choose,
        Function::Permutate,
    ];

    /// Its published name, such as `add_`, and what it takes and gives.
    fn row(self) -> (&'static str, &'static str) {
        match self {
            Function::Add => ("add_", "[a, b, ...]: the sum; 0 of an empty list"),
            Function::Subtract => ("subtract_", "[a, b, ...]: a - b - ..."),
            Function::Multiply => ("multiply_", "[a, b, ...]: the product"),
            Function::Divide => ("divide_", "[a, b, ...]: a / b / ..."),
            Function::Power => ("power_", "[a, b, ...]: a to the power of b, that to the power of the next, and so on"),
            Function::Sqrt => ("sqrt_", "[a]: the square root"),
            Function::Log => ("log_", "[a] or [a, base]: the logarithm to base 10 or to the base"),
            Function::Ln => ("ln_", "[a]: the natural logarithm"),
            Function::Lcm => ("lcm_", "[a, b, ...]: the least common multiple of whole numbers"),
            Function::Gcd => ("gcd_", "[a, b, ...]: the greatest common divisor of whole numbers"),
            Function::Remainder => ("remainder_", "[a, b]: the remainder of a by b, with the sign of b"),
            Function::Choose => ("choose_", "[n, r]: the number of choices of r out of n, order left aside"),
            Function::Permutate => ("permutate_", "[n, r]: the number of arrangements of r out of n"),
        }
    }

    /// Its published name, such as `add_`.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What it takes and gives, in one line.
    pub fn summary(self) -> &'static str {
        self.row().1
    }

    /// The function of a name: with or without the underscore at its end, in any case.
    ///
    /// # Errors
    /// [`HubFault::UnknownFunction`], with the names there are.
    pub fn parse(name: &str) -> Result<Function, HubError> {
        let bare = name.trim().trim_end_matches('_');
        let found =
            Function::ALL.into_iter().find(|function| function.name().trim_end_matches('_').eq_ignore_ascii_case(bare));
        found.ok_or_else(|| {
            let names: Vec<&str> = Function::ALL.into_iter().map(Function::name).collect();
            let said: String = name.chars().take(60).collect();
            HubError::bare(
                HubFault::UnknownFunction,
                format!("there is no function `{said}`; there are {}", names.join(", ")),
            )
        })
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
