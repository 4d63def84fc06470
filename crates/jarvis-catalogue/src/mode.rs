//! Where models may run: the inference mode, what the model server has loaded, and what follows from the two.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A word that is not one of the few allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not one of {allowed}")]
pub struct UnknownWord {
    pub word: String,
    /// What is allowed, in words.
    pub allowed: &'static str,
}

/// Where the models of the catalogue may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InferenceMode {
    /// On the model server only.
    Local,
    Huggingface,
    /// Wherever one is available, the model server first.
    #[default]
    Hybrid,
}

impl InferenceMode {
    pub fn as_str(self) -> &'static str {
        match self {
            InferenceMode::Local => "local",
            InferenceMode::Huggingface => "huggingface",
            InferenceMode::Hybrid => "hybrid",
        }
    }
}

impl fmt::Display for InferenceMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for InferenceMode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<InferenceMode, UnknownWord> {
        [InferenceMode::Local, InferenceMode::Huggingface, InferenceMode::Hybrid]
            .into_iter()
            .find(|mode| mode.as_str().eq_ignore_ascii_case(word.trim()))
            .ok_or_else(|| UnknownWord { word: word.to_owned(), allowed: "local, huggingface, hybrid" })
    }
}

/// What the model server has loaded; each includes the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deployment {
    /// Control detectors and ControlNet.
    Minimal,
    /// And the common models for pictures and speech.
    Standard,
    /// And everything else.
    #[default]
    Full,
}

impl Deployment {
    pub fn as_str(self) -> &'static str {
        match self {
            Deployment::Minimal => "minimal",
            Deployment::Standard => "standard",
            Deployment::Full => "full",
        }
    }
}

impl fmt::Display for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Deployment {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Deployment, UnknownWord> {
        [Deployment::Minimal, Deployment::Standard, Deployment::Full]
            .into_iter()
            .find(|deployment| deployment.as_str().eq_ignore_ascii_case(word.trim()))
            .ok_or_else(|| UnknownWord { word: word.to_owned(), allowed: "minimal, standard, full" })
    }
}

/// Where a model's availability is asked, and where control tasks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Probed {
    pub huggingface: bool,
    pub local: bool,
    /// Control detectors and ControlNet run on the model server, unasked; otherwise they have no host.
    pub control: bool,
}

/// Where models are probed in this mode with this deployment.
pub fn where_probed(mode: InferenceMode, deployment: Deployment) -> Probed {
    let served = deployment >= Deployment::Standard;
    match mode {
        InferenceMode::Huggingface => Probed { huggingface: true, local: false, control: false },
        InferenceMode::Hybrid => Probed { huggingface: true, local: served, control: true },
        InferenceMode::Local => Probed { huggingface: false, local: served, control: true },
    }
}

/// The models that the model server of the original loads, as `(id, task)`, in the order it lists them.
pub fn local_models(deployment: Deployment) -> impl Iterator<Item = (&'static str, &'static str)> {
    LOCAL.iter().filter(move |(since, _, _)| *since <= deployment).map(|(_, id, task)| (*id, *task))
}

use Deployment::{Full, Minimal, Standard};

static LOCAL: &[(Deployment, &str, &str)] = &[
    (Minimal, "canny-control", "canny-control"),
    (Minimal, "hed-control", "hed-control"),
    (Minimal, "scribble-control", "scribble-control"),
    (Minimal, "mlsd-control", "mlsd-control"),
    (Minimal, "openpose-control", "openpose-control"),
    (Minimal, "midas-control", "midas-control"),
    (Minimal, "lllyasviel/sd-controlnet-canny", "canny-text-to-image"),
    (Minimal, "lllyasviel/sd-controlnet-depth", "depth-text-to-image"),
    (Minimal, "lllyasviel/sd-controlnet-hed", "hed-text-to-image"),
    (Minimal, "lllyasviel/sd-controlnet-mlsd", "mlsd-text-to-image"),
    (Minimal, "lllyasviel/sd-controlnet-openpose", "openpose-text-to-image"),
    (Minimal, "lllyasviel/sd-controlnet-scribble", "scribble-text-to-image"),
    (Minimal, "lllyasviel/sd-controlnet-seg", "seg-text-to-image"),
    (Standard, "openai/whisper-base", "automatic-speech-recognition"),
    (Standard, "microsoft/speecht5_asr", "automatic-speech-recognition"),
    (Standard, "Intel/dpt-large", "depth-estimation"),
    (Standard, "facebook/detr-resnet-50-panoptic", "image-segmentation"),
    (Standard, "facebook/detr-resnet-101", "object-detection"),
    (Standard, "google/owlvit-base-patch32", "object-detection"),
    (Standard, "impira/layoutlm-document-qa", "document-question-answering"),
    (Standard, "ydshieh/vit-gpt2-coco-en", "image-to-text"),
    (Standard, "dandelin/vilt-b32-finetuned-vqa", "visual-question-answering"),
    (Full, "nlpconnect/vit-gpt2-image-captioning", "image-to-text"),
    (Full, "damo-vilab/text-to-video-ms-1.7b", "text-to-video"),
    (Full, "JorisCos/DCCRNet_Libri1Mix_enhsingle_16k", "audio-to-audio"),
    (Full, "espnet/kan-bayashi_ljspeech_vits", "text-to-speech"),
    (Full, "lambdalabs/sd-image-variations-diffusers", "image-to-image"),
    (Full, "runwayml/stable-diffusion-v1-5", "text-to-image"),
    (Full, "microsoft/speecht5_vc", "audio-to-audio"),
    (Full, "facebook/maskformer-swin-base-coco", "image-segmentation"),
    (Full, "Intel/dpt-hybrid-midas", "depth-estimation"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_modes() {
        let check = |mode: &str, deployment: &str, huggingface, local, control| {
            let found = where_probed(mode.parse().unwrap(), deployment.parse().unwrap());
            assert_eq!(found, Probed { huggingface, local, control }, "{mode} + {deployment}");
        };
        for deployment in ["minimal", "standard", "full"] {
            check("huggingface", deployment, true, false, false);
        }
        check("hybrid", "minimal", true, false, true);
        check("hybrid", "standard", true, true, true);
        check("hybrid", "full", true, true, true);
        check("local", "minimal", false, false, true);
        check("local", "standard", false, true, true);
        check("local", "full", false, true, true);
    }

    #[test]
    fn words_are_read_and_refused() {
        assert_eq!("Hybrid".parse(), Ok(InferenceMode::Hybrid));
        assert_eq!(" FULL ".parse(), Ok(Deployment::Full));
        let error = "cloud".parse::<InferenceMode>().unwrap_err();
        assert_eq!(error.to_string(), "`cloud` is not one of local, huggingface, hybrid");
        assert!("huge".parse::<Deployment>().is_err());
    }

    #[test]
    fn deployments_grow() {
        let count = |deployment| local_models(deployment).count();
        assert_eq!((count(Minimal), count(Standard), count(Full)), (13, 22, 31));
        for (id, task) in local_models(Full) {
            let task = crate::find(task).unwrap();
            assert!(task.control_model().is_none_or(|model| model == id), "{id}");
        }
    }
}
