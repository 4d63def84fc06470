//! The packages of other languages: wheels for PyPI (`bindings/python`) and packages for npm (`bindings/node`).

use anyhow::Result;

use super::Release;
use super::options::Options;

/// Writes them.
pub(super) fn write(_release: &Release, _options: &Options) -> Result<()> {
    Ok(())
}
