//! Whether arguments are what an operation takes.

use std::fmt;

use serde_json::{Map, Value};

use super::{Location, Operation};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentFault {
    Missing { name: String },
    Unknown { name: String, known: Vec<String> },
    Wrong { name: String, reason: String },
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentFault::Missing { name } => write!(f, "the required parameter `{name}` is missing"),
            ArgumentFault::Unknown { name, known } if known.is_empty() => {
                write!(f, "there is no parameter `{name}`; there are none")
            }
            ArgumentFault::Unknown { name, known } => {
                write!(f, "there is no parameter `{name}`; there are {}", known.join(", "))
            }
            ArgumentFault::Wrong { name, reason } => write!(f, "the parameter `{name}` {reason}"),
        }
    }
}

impl Operation {
    pub fn faults(&self, arguments: &Map<String, Value>) -> Vec<ArgumentFault> {
        let mut faults = Vec::new();
        let in_body = |name: &str| self.parameter(name).is_some_and(|one| one.location == Location::Body);
        let has_body =
            self.body.as_ref().is_some_and(|body| body.required) || arguments.keys().any(|name| in_body(name));
        for parameter in self.parameters.iter().filter(|parameter| parameter.required) {
            let wanted = parameter.location != Location::Body || has_body;
            if wanted && !arguments.contains_key(&parameter.name) {
                faults.push(ArgumentFault::Missing { name: parameter.name.clone() });
            }
        }
        for (name, value) in arguments {
            match self.parameter(name) {
                Some(parameter) => {
                    if let Err(reason) = parameter.schema.accept(value) {
                        faults.push(ArgumentFault::Wrong { name: name.clone(), reason });
                    }
                }
                None => faults.push(ArgumentFault::Unknown {
                    name: name.clone(),
                    known: self.parameters.iter().map(|one| one.name.clone()).take(40).collect(),
                }),
            }
        }
        faults
    }
}
