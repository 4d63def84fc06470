"""Makes the parity fixtures of models of sound. Run it with the names of fixtures, or without for all of them.

Versions: those of `common.py`, and accelerate (for deduplicated weights in merged decoders).
"""

import json
import sys

import numpy as np
import onnx
import torch
from tokenizers import AddedToken
from transformers import (
    ASTConfig, ASTFeatureExtractor, ASTForAudioClassification, HubertConfig,
    GenerationConfig, HubertForSequenceClassification, VitsConfig, VitsModel, VitsTokenizer, Wav2Vec2Config, Wav2Vec2CTCTokenizer,
    Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC, WhisperConfig, WhisperFeatureExtractor,
    WhisperForConditionalGeneration, WhisperTokenizerFast, pipeline,
)

import common

RATE = 16_000


def sound(count, seed):
    """Noise and triangle waves in steps of a quarter of a second, from whole numbers: `tests/it/audio.rs` makes the same."""
    state, samples = seed, np.empty(count, np.float32)
    for nth in range(count):
        state = (state * 1664525 + 1013904223) % (1 << 32)
        block = nth // 4000
        noise = (state >> 20) - 2048
        triangle = abs(nth * (400 + 150 * (block * 7 % 11)) % 65536 - 32768) - 16384
        samples[nth] = ((noise + triangle) * (block * 5 % 4) // 4) / 32768
    return samples


def save(target, cases):
    (target / "expected.json").write_text(json.dumps(common.plain(cases), ensure_ascii=False) + "\n", encoding="utf-8")


def rounded(tensor):
    return [round(float(value), 6) for value in tensor.reshape(-1)]


def waveform_model(kind, **options):
    sizes = dict(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48, conv_dim=(16,) * 7,
        num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2,
    )
    return kind(**(sizes | options))


def ctc():
    letters = ["<pad>", "<s>", "</s>", "<unk>", "|"] + list("ETAONIHSRDLU'")
    with open("/tmp/vocab.json", "w", encoding="utf-8") as file:
        json.dump({letter: nth for nth, letter in enumerate(letters)}, file)
    tokenizer = Wav2Vec2CTCTokenizer("/tmp/vocab.json")
    extractor = Wav2Vec2FeatureExtractor()
    config = waveform_model(Wav2Vec2Config, vocab_size=len(letters), pad_token_id=0)
    torch.manual_seed(0)
    model = common.randomise(Wav2Vec2ForCTC(config), 1)
    # Sharper decisions, and enough blanks and spaces to have words.
    with torch.no_grad():
        model.lm_head.bias[0] += 1.2
        model.lm_head.bias[4] += 1.6
    target = common.export(model, [extractor, tokenizer], "audio-wav2vec2-ctc", "automatic-speech-recognition")
    with open(target / "vocab.json", "w", encoding="utf-8") as file:
        json.dump({letter: nth for nth, letter in enumerate(letters)}, file)
    recognise = pipeline("automatic-speech-recognition", model=model, tokenizer=tokenizer, feature_extractor=extractor)
    cases = []
    for count, seed in ((RATE * 2, 7), (RATE * 5 + 123, 8), (RATE * 52 + 77, 9)):
        options = {"chunk_length_s": 30, "stride_length_s": 5} if count > 30 * RATE else {}
        result = recognise(sound(count, seed), return_timestamps="word", **options)
        with torch.no_grad():
            logits = model(extractor(sound(count, seed)[: 2 * RATE], sampling_rate=RATE, return_tensors="pt").input_values).logits[0]
        cases.append({"count": count, "seed": seed, "text": result["text"], "logits": rounded(logits[::10]), "words": [
            {"text": chunk["text"], "start": chunk["timestamp"][0], "end": chunk["timestamp"][1]} for chunk in result["chunks"]
        ]})
    save(target, cases)


def classify_hubert():
    labels = ["yes", "no", "up", "down", "_silence_", "_unknown_"]
    config = waveform_model(
        HubertConfig, feat_extract_norm="layer", do_stable_layer_norm=True, conv_bias=True, classifier_proj_size=24,
        id2label=dict(enumerate(labels)), label2id={label: nth for nth, label in enumerate(labels)}, use_weighted_layer_sum=True,
    )
    model = common.randomise(HubertForSequenceClassification(config), 2)
    extractor = Wav2Vec2FeatureExtractor(return_attention_mask=True)
    target = common.export(model, [extractor], "audio-hubert-classify", "audio-classification")
    classify(target, model, extractor, ((RATE, 3), (RATE * 3 + 5, 4)))


def classify_ast():
    config = ASTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48, num_mel_bins=32, max_length=100,
        id2label={0: "Speech", 1: "Music", 2: "Rain"}, label2id={"Speech": 0, "Music": 1, "Rain": 2},
    )
    model = common.randomise(ASTForAudioClassification(config), 3)
    extractor = ASTFeatureExtractor(num_mel_bins=32, max_length=100)
    target = common.export(model, [extractor], "audio-ast", "audio-classification")
    common.quantise(target)
    classify(target, model, extractor, ((RATE, 5), (RATE // 2, 6)))


def classify(target, model, extractor, sounds):
    judge = pipeline("audio-classification", model=model, feature_extractor=extractor)
    cases = []
    for count, seed in sounds:
        cases.append({"count": count, "seed": seed, "labels": judge(sound(count, seed), top_k=None)})
    save(target, cases)


def mel():
    """Whisper's features of two window lengths and numbers of bands, thinned out."""
    cases = []
    for bands, seconds, count, seed in ((80, 30, RATE * 30, 1), (128, 6, RATE * 4 + 321, 2)):
        extractor = WhisperFeatureExtractor(feature_size=bands, chunk_length=seconds)
        features = extractor(sound(count, seed), sampling_rate=RATE, return_tensors="np").input_features[0]
        picked = features[:, ::97] if seconds == 30 else features[:, ::53]
        cases.append({
            "bands": bands, "seconds": seconds, "count": count, "seed": seed, "every": 97 if seconds == 30 else 53,
            "features": [[round(float(value), 6) for value in row] for row in picked],
        })
    target = common.HERE / "audio-mel"
    target.mkdir(exist_ok=True)
    save(target, cases)


def vits():
    vocabulary = {letter: nth for nth, letter in enumerate("_ abcdefghijklmnopqrstuvwxyz'-")}
    with open("/tmp/vocab.json", "w", encoding="utf-8") as file:
        json.dump(vocabulary, file)
    tokenizer = VitsTokenizer("/tmp/vocab.json", pad_token="_", unk_token="_", phonemize=False, is_uroman=False)
    config = VitsConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, ffn_dim=16, flow_size=16,
        spectrogram_bins=17, upsample_initial_channel=32, upsample_rates=[4, 4], upsample_kernel_sizes=[8, 8],
        resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 3]], prior_encoder_num_flows=2,
        prior_encoder_num_wavenet_layers=1, posterior_encoder_num_wavenet_layers=1, duration_predictor_num_flows=2,
        duration_predictor_filter_channels=16, depth_separable_num_layers=2, wavenet_kernel_size=3,
        noise_scale=0.0, noise_scale_duration=0.0, sampling_rate=RATE,
    )
    torch.manual_seed(0)
    model = common.randomise(VitsModel(config), 4)
    # Durations are exponentials: random ones would last for hours.
    with torch.no_grad():
        affine = model.duration_predictor.flows[0]
        affine.log_scale.fill_(2.0)
        affine.translate.fill_(-5.0)
    target = common.export(model, [tokenizer], "audio-vits", "text-to-audio")
    shrink(target)
    with open(target / "vocab.json", "w", encoding="utf-8") as file:
        json.dump(vocabulary, file)
    cases = []
    for text in ("The choir sang twice.", "It's well-known, isn't it?"):
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            waveform = model(**inputs).waveform[0]
        cases.append({"text": text, "ids": inputs.input_ids[0], "samples": [round(float(value), 6) for value in waveform]})
    save(target, cases)


def whisper_tokenizer():
    """Byte-level BPE, then Whisper's special tokens in their order, then the timestamps of six seconds."""
    languages = ["en", "zh", "de", "fr"]
    tokenizer = common.byte_bpe(size=330, special=(), roberta=False)
    names = ["endoftext", "startoftranscript", *languages, "translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
    tokenizer.add_special_tokens([f"<|{name}|>" for name in names])
    tokenizer.add_tokens([AddedToken(f"<|{step * 0.02:.2f}|>", special=False, normalized=False) for step in range(301)])
    return tokenizer, languages


def whisper_model(seed, positions, text, times):
    inner, languages = whisper_tokenizer()
    token = lambda name: inner.token_to_id(f"<|{name}|>")
    end = token("endoftext")
    config = WhisperConfig(
        vocab_size=inner.get_vocab_size(), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, num_mel_bins=80, max_source_positions=300,
        max_target_positions=48, pad_token_id=end, bos_token_id=end, eos_token_id=end,
        decoder_start_token_id=token("startoftranscript"),
    )
    torch.manual_seed(0)
    model = common.randomise(WhisperForConditionalGeneration(config), seed, skip=("encoder.embed_positions",))
    with torch.no_grad():
        # Sharper attention to the sound and to the position, so that texts differ and do not loop; fewer timestamps.
        attention = model.model.decoder.layers[0].encoder_attn
        for weight, factor in ((attention.q_proj, 8.0), (attention.k_proj, 4.0), (attention.v_proj, 6.0)):
            weight.weight.mul_(factor)
        model.model.decoder.embed_positions.weight.mul_(positions)
        model.model.decoder.embed_tokens.weight[token("notimestamps") + 1 :].mul_(times)
        model.model.decoder.embed_tokens.weight[: end + 1].mul_(text)
    letters = {id for word, id in inner.get_vocab().items() if all(letter.isalpha() and letter.isascii() or letter in "Ġ,.'" for letter in word)}
    model.generation_config = GenerationConfig(
        max_length=48, pad_token_id=end, bos_token_id=end, eos_token_id=end, decoder_start_token_id=token("startoftranscript"),
        lang_to_id={f"<|{code}|>": token(code) for code in languages}, is_multilingual=True,
        task_to_id={name: token(name) for name in ("transcribe", "translate")},
        no_timestamps_token_id=token("notimestamps"), max_initial_timestamp_index=50, begin_suppress_tokens=[inner.token_to_id("Ġ"), end],
        suppress_tokens=[*sorted(set(range(end)) - letters), *(token(name) for name in (
            "startoftranscript", "translate", "transcribe", "startoflm", "startofprev", "nospeech"))],
    )
    return model, inner, languages


def whisper():
    model, inner, languages = whisper_model(12, 7.0, 2.3, 0.5)
    token = lambda name: inner.token_to_id(f"<|{name}|>")
    tokenizer = WhisperTokenizerFast(tokenizer_object=inner, unk_token="<|endoftext|>", bos_token="<|endoftext|>", eos_token="<|endoftext|>")
    extractor = WhisperFeatureExtractor(chunk_length=6)
    target = common.export(
        model, [extractor, tokenizer], "audio-whisper", "automatic-speech-recognition-with-past",
        keep=("encoder_model", "decoder_model_merged"), nb_max_frames=600,
    )
    shrink(target)
    (target / "tokenizer_config.json").unlink()
    cases = []
    # Shorter than a window, the reference transcribes the silence too; so whole windows and longer sounds are compared.
    for count, seed, language, task in (
        (6 * RATE, 11, None, "transcribe"), (6 * RATE, 12, "de", "transcribe"), (6 * RATE, 12, "fr", "translate"),
        (15 * RATE + 4_000, 13, None, "transcribe"), (33 * RATE + 99, 14, "en", "transcribe"),
    ):
        long = count > 6 * RATE
        options = dict(truncation=False, padding="longest", return_attention_mask=True) if long else {}
        inputs = extractor(sound(count, seed), sampling_rate=RATE, return_tensors="pt", **options)
        if language is None:
            found = model.detect_language(inputs.input_features, num_segment_frames=600)[0].item()
        with torch.no_grad():
            start = torch.tensor([[token("startoftranscript")]])
            first = model(input_features=inputs.input_features[:, :, :600], decoder_input_ids=start).logits[0, 0]
            result = model.generate(**inputs, language=language, task=task, return_timestamps=True, return_segments=True)
        segments = [
            {"start": float(part["start"]), "end": float(part["end"]), "tokens": part["tokens"].tolist(),
             "text": tokenizer.decode([int(id) for id in part["tokens"] if id <= token("notimestamps")], skip_special_tokens=True)}
            for part in result["segments"][0]
        ]
        cases.append({
            "count": count, "seed": seed, "asked": language, "translate": task == "translate",
            "language": language or tokenizer.convert_ids_to_tokens(found)[2:-2], "segments": segments,
            "first_logits": rounded(first),
        })
    save(target, cases)


def shrink(target):
    """Shortens the names inside ONNX files: they take more room than the weights."""
    for path in (target / "onnx").glob("*.onnx"):
        model = onnx.load(path)
        names = {value.name: value.name for value in [*model.graph.input, *model.graph.output]}
        names[""] = ""

        def rename(graph):
            short = lambda name: names.setdefault(name, f"t{len(names)}")
            for value in [*graph.initializer, *graph.input, *graph.output]:
                value.name = short(value.name)
            del graph.value_info[:]
            for node in graph.node:
                node.name, node.doc_string = "", ""
                node.input[:] = [short(name) for name in node.input]
                node.output[:] = [short(name) for name in node.output]
                for attribute in node.attribute:
                    if attribute.HasField("g"):
                        rename(attribute.g)

        rename(model.graph)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def kokoro():
    """A graph with Kokoro's inputs that says what it was given: number × speed + the sum of the style."""
    target = common.HERE / "audio-kokoro"
    (target / "voices").mkdir(parents=True, exist_ok=True)
    (target / "onnx").mkdir(exist_ok=True)
    tensor = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Cast", ["input_ids"], ["numbers"], to=onnx.TensorProto.FLOAT),
            onnx.helper.make_node("Mul", ["numbers", "speed"], ["faster"]),
            onnx.helper.make_node("ReduceSum", ["style"], ["total"], keepdims=1),
            onnx.helper.make_node("Add", ["faster", "total"], ["waveform"]),
        ],
        "kokoro",
        [
            tensor("input_ids", onnx.TensorProto.INT64, [1, "length"]), tensor("style", onnx.TensorProto.FLOAT, [1, 3]),
            tensor("speed", onnx.TensorProto.FLOAT, [1]),
        ],
        [tensor("waveform", onnx.TensorProto.FLOAT, [1, "length"])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, target / "onnx" / "model.onnx")
    vocabulary = {"$": 0, ".": 4, "a": 43, "k": 53, "ɹ": 123}
    (target / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}}, ensure_ascii=False) + "\n", encoding="utf-8")
    (target / "config.json").write_text(json.dumps({"model_type": "style_text_to_speech_2"}) + "\n")
    for name, first in (("af_one", 0.0), ("bf_two", 0.5)):
        rows = np.arange(4, dtype="<f4")[:, None] + np.array([first, 0, 0], "<f4")
        (target / "voices" / f"{name}.bin").write_bytes(rows.tobytes())


MAKERS = [mel, ctc, classify_hubert, classify_ast, vits, whisper, kokoro]

if __name__ == "__main__":
    for maker in MAKERS:
        if len(sys.argv) == 1 or maker.__name__ in sys.argv[1:]:
            maker()
