//! What a domain's folder holds, and what is odd about it.

use super::Domain;
use crate::DataError;

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Inspection {}

/// Looks at everything in the folder.
///
/// # Errors
/// When nothing of it can be read.
pub fn inspect(_domain: &Domain) -> Result<Inspection, DataError> {
    Ok(Inspection {})
}
