//! What the stages share: whom to ask, in which words, by which settings.

use std::sync::Arc;

use jarvis_ask::Ask;

use crate::prompts::Prompts;
use crate::settings::Settings;

#[derive(Clone)]
pub(crate) struct Stages {
    pub(crate) ask: Ask,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) settings: Settings,
}
