"""Makes the fixtures of the text experts: tiny random models, and what transformers' pipelines say of them.

Usage: python make_text.py [name…]
"""

import base64
import json
import shutil
import sys
import tempfile
from pathlib import Path

import onnxruntime
import torch
from optimum.onnxruntime import ORTModelForSeq2SeqLM
from safetensors.torch import save_file
from transformers import (
    BartConfig, BartForConditionalGeneration, BartTokenizerFast, BertConfig, BertForMaskedLM, BertForSequenceClassification,
    BertForTokenClassification, BertModel, BertTokenizerFast, DistilBertConfig, DistilBertForQuestionAnswering,
    DistilBertForSequenceClassification, DistilBertTokenizerFast, GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast, M2M100Config,
    M2M100ForConditionalGeneration, MarianConfig, MarianMTModel, MarianTokenizer, MBart50TokenizerFast, MBartConfig, MBartForConditionalGeneration,
    NllbTokenizerFast, PreTrainedTokenizerFast, RobertaConfig, RobertaForMaskedLM, RobertaForQuestionAnswering, RobertaTokenizerFast,
    T5Config, T5ForConditionalGeneration, T5TokenizerFast, XLMRobertaConfig, XLMRobertaForSequenceClassification,
    XLMRobertaForTokenClassification, XLMRobertaModel, XLMRobertaTokenizerFast, pipeline,
)  # fmt: skip

from common import CORPUS, byte_bpe, export, plain, quantise, randomise, save_fixture, unigram, wordpiece

torch.set_grad_enabled(False)


def sharpen(model, head, end=None, by=4):
    """Makes a random model say something: layers that outweigh the residual path, scores that do not tie within rounding, and an
    end token that comes up."""
    for name, weight in model.named_parameters():
        if weight.ndim == 2 and any(part in name for part in ("out_proj", "fc2", "c_proj", "DenseReluDense.wo", ".o.weight")):
            weight.mul_(by)
        if weight.requires_grad and any(part in name for part in ("embed_positions", "wpe")):
            weight.mul_(by)
    head.mul_(by)
    if end is not None:
        head[end] *= 1.5


def bart_tokenizer():
    return BartTokenizerFast(
        tokenizer_object=byte_bpe(), bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
        mask_token="<mask>", cls_token="<s>", sep_token="</s>", model_max_length=64,
    )  # fmt: skip


def bart(seed=1):
    config = BartConfig(
        vocab_size=360, d_model=24, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        decoder_start_token_id=2, forced_eos_token_id=2,
    )  # fmt: skip
    model = randomise(BartForConditionalGeneration(config), seed)
    sharpen(model, model.lm_head.weight, end=2)
    model.config.task_specific_params = {"summarization": {"max_length": 32, "min_length": 8, "num_beams": 4, "no_repeat_ngram_size": 3}}
    return model


# Searches that the decoder is held to.
SEARCHES = [
    {"num_beams": 1, "max_length": 40},
    {"num_beams": 1, "max_length": 30, "min_length": 12, "repetition_penalty": 1.5},
    {"num_beams": 1, "max_new_tokens": 30, "no_repeat_ngram_size": 2, "suppress_tokens": [5, 6, 7], "begin_suppress_tokens": [8, 2]},
    {"num_beams": 4, "max_length": 40, "early_stopping": True},
    {"num_beams": 4, "max_length": 30, "early_stopping": False, "length_penalty": 2.0, "min_length": 8, "no_repeat_ngram_size": 3},
    {"num_beams": 3, "max_length": 30, "early_stopping": "never", "length_penalty": 0.6, "eos_token_id": [2, 300, 301, 302]},
    {"num_beams": 4, "max_length": 24, "forced_bos_token_id": 0, "bad_words_ids": [[11], [300, 301]], "renormalize_logits": True},
    {"num_beams": 5, "max_length": 26, "eos_token_id": [2, 17, 40, 99, 120, 250, 333], "length_penalty": -1.0},
]


def searches(model, inputs, prompt):
    cases = []
    for search in SEARCHES:
        settings = {"forced_eos_token_id": None, "do_sample": False, **search}
        out = model.generate(**inputs, **settings, return_dict_in_generate=True, output_scores=True)
        eos = search.get("eos_token_id", model.generation_config.eos_token_id)
        eos = eos if isinstance(eos, list) else [eos]
        rows = []
        for row, sequence in enumerate(out.sequences.tolist()):
            made, complete = [], False
            for token in sequence[prompt:]:
                if token in eos:
                    complete = True
                    break
                made.append(token)
            scores = getattr(out, "sequences_scores", None)
            rows.append({"tokens": made, "is_complete": complete, "score": None if scores is None else scores[row]})
        cases.append({"config": search, "rows": rows})
    return cases


def make_bart():
    model, tokenizer = bart(), bart_tokenizer()
    target = export(model, [tokenizer], "text-bart", "text2text-generation-with-past", keep=["encoder_model", "decoder_model_merged"])
    inputs = tokenizer([CORPUS[0], CORPUS[1], CORPUS[7]], return_tensors="pt", padding=True)
    save_fixture(target, {
        "input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"],
        "searches": searches(model, inputs, 1),
    }, "generation.json")  # fmt: skip


def gpt2(seed=2):
    config = GPT2Config(vocab_size=360, n_positions=64, n_embd=24, n_layer=2, n_head=4, bos_token_id=2, eos_token_id=2, pad_token_id=2)
    model = randomise(GPT2LMHeadModel(config), seed)
    sharpen(model, model.lm_head.weight, end=2)
    return model


def make_gpt2():
    tokenizer = GPT2TokenizerFast(
        tokenizer_object=byte_bpe(roberta=False), bos_token="</s>", eos_token="</s>", pad_token="</s>", unk_token="</s>", model_max_length=64
    )
    model = gpt2()
    target = export(model, [tokenizer], "text-gpt2", "text-generation-with-past")
    ids = tokenizer([CORPUS[0]], return_tensors="pt")["input_ids"][:, :9]
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    save_fixture(target, {"input_ids": ids, "searches": searches(model, inputs, ids.shape[1])}, "generation.json")


# Short and longer texts for the encoders, with accents, punctuation and words outside the vocabulary.
TEXTS = [CORPUS[7], "Emma Schmidt — née Dubois — works for Acme in Berlin.", "Soup?", CORPUS[2]]
LONG = " ".join(CORPUS[:6])


def case(task, given, expected):
    """A call of a model in the form of jarvis' types, with what the reference gives."""
    return {"task": task, "input": given, "expected": plain(expected)}


def small(config, **options):
    """The sizes of all encoders here."""
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    return config(vocab_size=320, max_position_embeddings=options.pop("positions", 64), **sizes, **options)


def labels(*names):
    return {"id2label": dict(enumerate(names)), "label2id": {name: number for number, name in enumerate(names)}}


def bert_tokenizer(kind=BertTokenizerFast, **options):
    return kind(tokenizer_object=wordpiece(320), model_max_length=64, **options)


def roberta_tokenizer(window=62):
    return RobertaTokenizerFast(tokenizer_object=byte_bpe(320), model_max_length=window)


def xlmr_tokenizer(**options):
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    made = unigram(320, special, "<s> $A </s>", "<s> $A </s> </s> $B </s>")
    path = "/tmp/xlmr-tokenizer.json"
    made.save(path)
    return XLMRobertaTokenizerFast(tokenizer_file=path, model_max_length=62, **options)


def louder(model, by=6):
    """Classifiers whose scores differ clearly."""
    for name, weight in model.named_parameters():
        if any(part in name for part in ("classifier", "qa_outputs")) and weight.ndim == 2:
            weight.mul_(by)
    return model


def classified(model, tokenizer, text, function="softmax"):
    """What a classifier says of a text, read in windows and averaged by length; one window is the reference's pipeline."""
    windows = tokenizer(text, truncation=True, max_length=tokenizer.model_max_length, return_overflowing_tokens=True, stride=0)
    total, weight = 0, 0
    for ids in windows["input_ids"]:
        logits = model(torch.tensor([ids])).logits[0]
        total = total + len(ids) * (logits.softmax(-1) if function == "softmax" else logits.sigmoid())
        weight += len(ids)
    scores = (total / weight).tolist()
    ranked = sorted(zip(model.config.id2label.values(), scores), key=lambda pair: -pair[1])
    return {"Labels": [{"label": label, "score": score} for label, score in ranked]}


def classification_cases(model, tokenizer, function="softmax"):
    pipe = pipeline("text-classification", model=model, tokenizer=tokenizer, top_k=None)
    cases = []
    for text in TEXTS:
        ranked = [{"label": one["label"], "score": one["score"]} for one in pipe([text])[0]]
        cases.append(case("text-classification", {"Text": text}, {"Labels": ranked}))
    cases.append(case("text-classification", {"Text": LONG}, classified(model, tokenizer, LONG, function)))
    return cases


def zero_shot_cases(model, tokenizer, text=TEXTS[1]):
    pipe = pipeline("zero-shot-classification", model=model, tokenizer=tokenizer)
    cases = []
    for names, several in [(["travel", "cooking", "politics", "public health"], False), (["travel", "cooking", "sports"], True), (["science"], False)]:
        out = pipe(text, names, multi_label=several)
        ranked = [{"label": label, "score": score} for label, score in zip(out["labels"], out["scores"])]
        cases.append(case("zero-shot-classification", {"Choices": {"text": text, "labels": names, "several": several}}, {"Labels": ranked}))
    return cases


def entity_cases(model, tokenizer):
    cases = []
    for text in [*TEXTS, LONG]:
        stride = tokenizer.model_max_length // 4 if text == LONG else None
        pipe = pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple", stride=stride)
        found = []
        for entity in pipe(text):
            start, end = entity["start"], entity["end"]
            # Offsets without the spaces that some tokenizers count to a word.
            start += len(text[start:end]) - len(text[start:end].lstrip())
            end = start + len(text[start:end].rstrip())
            if start == end:
                continue
            found.append({"label": entity["entity_group"], "text": text[start:end], "score": float(entity["score"]), "start": start, "end": end})
        cases.append(case("token-classification", {"Text": text}, {"Entities": found}))
    return cases


def answer_cases(model, tokenizer, abstains):
    pipe = pipeline("question-answering", model=model, tokenizer=tokenizer)
    cases = []
    for question, context in [
        ("Who moved to Paris?", CORPUS[1]), ("When does the boat leave?", " ".join(CORPUS[3:6])), ("How many guests?", LONG),
        ("Où est le port?", LONG), ("Is it far?", CORPUS[4]), ("What did the waiter bring, and who came back?", CORPUS[3]),
    ]:  # fmt: skip
        out = pipe(question=question, context=context, handle_impossible_answer=abstains)
        start, end = out["start"], out["end"]
        start += len(context[start:end]) - len(context[start:end].lstrip())
        answer = {"text": context[start:end].rstrip(), "score": out["score"], "start": start, "end": end}
        cases.append(case("question-answering", {"Question": {"question": question, "context": context}}, {"Answer": answer}))
    return cases


def mask_cases(model, tokenizer):
    pipe = pipeline("fill-mask", model=model, tokenizer=tokenizer)
    cases = []
    for text in ["The choir sang [MASK] in the old barn.", "[MASK] is far from the station."]:
        found = [{"label": one["token_str"].strip(), "score": one["score"]} for one in pipe(text.replace("[MASK]", tokenizer.mask_token))]
        cases.append(case("fill-mask", {"Text": text}, {"Labels": found}))
    return cases


def vectors(model, tokenizer, texts, limit, pool):
    made = []
    for text in texts:
        inputs = tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
        states = model(**inputs).last_hidden_state[0]
        vector = pool(states)
        made.append((vector / vector.norm()).tolist())
    return made


def make_bert_classification():
    model = BertForSequenceClassification(small(BertConfig, **labels("NEGATIVE", "NEUTRAL", "POSITIVE")))
    model, tokenizer = louder(randomise(model, 3)), bert_tokenizer()
    target = export(model, [tokenizer], "text-bert-classification", "text-classification")
    quantise(target)
    save_fixture(target, classification_cases(model, tokenizer))
    session = onnxruntime.InferenceSession(target / "onnx" / "model_quantized.onnx")
    cases = []
    for text in TEXTS:
        inputs = tokenizer([text], return_tensors="np")
        logits = session.run(None, {name: inputs[name] for name in ("input_ids", "attention_mask", "token_type_ids")})[0][0]
        scores = torch.tensor(logits).softmax(-1).tolist()
        ranked = sorted(zip(model.config.id2label.values(), scores), key=lambda pair: -pair[1])
        expected = {"Labels": [{"label": label, "score": score} for label, score in ranked]}
        cases.append(case("text-classification", {"Text": text}, expected))
    save_fixture(target, cases, "expected-quantised.json")


def make_distilbert_classification():
    config = DistilBertConfig(
        vocab_size=320, dim=24, n_layers=1, n_heads=4, hidden_dim=32, max_position_embeddings=64,
        problem_type="multi_label_classification", **labels("toxic", "insult", "threat", "praise"),
    )  # fmt: skip
    model = louder(randomise(DistilBertForSequenceClassification(config), 4))
    tokenizer = bert_tokenizer(DistilBertTokenizerFast)
    target = export(model, [tokenizer], "text-distilbert-classification", "text-classification")
    save_fixture(target, classification_cases(model, tokenizer, "sigmoid"))


def make_distilbert_mnli():
    config = DistilBertConfig(
        vocab_size=320, dim=24, n_layers=1, n_heads=4, hidden_dim=32, max_position_embeddings=64,
        **labels("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
    )  # fmt: skip
    model = louder(randomise(DistilBertForSequenceClassification(config), 5))
    tokenizer = bert_tokenizer(DistilBertTokenizerFast)
    target = export(model, [tokenizer], "text-distilbert-mnli", "text-classification")
    save_fixture(target, zero_shot_cases(model, tokenizer))


def make_xlmr_classification():
    model = XLMRobertaForSequenceClassification(small(XLMRobertaConfig, type_vocab_size=1, **labels("contradiction", "neutral", "entailment")))
    model, tokenizer = louder(randomise(model, 6)), xlmr_tokenizer()
    target = export(model, [tokenizer], "text-xlmr-classification", "text-classification")
    save_fixture(target, classification_cases(model, tokenizer) + zero_shot_cases(model, tokenizer, "Soup and bread?"))


def make_bert_entities():
    tags = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC")
    model = louder(randomise(BertForTokenClassification(small(BertConfig, **labels(*tags))), 7))
    tokenizer = bert_tokenizer()
    target = export(model, [tokenizer], "text-bert-entities", "token-classification")
    save_fixture(target, entity_cases(model, tokenizer))


def make_xlmr_entities():
    tags = ("B-LOC", "B-ORG", "B-PER", "I-LOC", "I-ORG", "I-PER", "MISC", "O")
    model = louder(randomise(XLMRobertaForTokenClassification(small(XLMRobertaConfig, type_vocab_size=1, **labels(*tags))), 8))
    tokenizer = xlmr_tokenizer()
    target = export(model, [tokenizer], "text-xlmr-entities", "token-classification")
    save_fixture(target, entity_cases(model, tokenizer))


def make_distilbert_answers():
    config = DistilBertConfig(vocab_size=320, dim=24, n_layers=2, n_heads=4, hidden_dim=32, max_position_embeddings=64)
    model = louder(randomise(DistilBertForQuestionAnswering(config), 9))
    tokenizer = bert_tokenizer(DistilBertTokenizerFast)
    target = export(model, [tokenizer], "text-distilbert-answers", "question-answering")
    save_fixture(target, answer_cases(model, tokenizer, False))


def make_roberta_answers():
    model = louder(randomise(RobertaForQuestionAnswering(small(RobertaConfig, positions=122, type_vocab_size=1)), 10), 2)
    tokenizer = roberta_tokenizer(120)
    target = export(model, [tokenizer], "text-roberta-squad2", "question-answering")
    save_fixture(target, answer_cases(model, tokenizer, True))


def make_bert_mask():
    model, tokenizer = randomise(BertForMaskedLM(small(BertConfig)), 11), bert_tokenizer()
    target = export(model, [tokenizer], "text-bert-mask", "fill-mask")
    save_fixture(target, mask_cases(model, tokenizer))


def make_roberta_mask():
    model, tokenizer = randomise(RobertaForMaskedLM(small(RobertaConfig, type_vocab_size=1)), 12), roberta_tokenizer()
    target = export(model, [tokenizer], "text-roberta-mask", "fill-mask")
    save_fixture(target, mask_cases(model, tokenizer))


def make_minilm():
    """A sentence encoder with the files of sentence-transformers, and padding and truncation baked into its tokenizer."""
    model, tokenizer = randomise(BertModel(small(BertConfig), add_pooling_layer=False), 13), bert_tokenizer()
    target = export(model, [tokenizer], "text-minilm", "feature-extraction")
    # The same weights in the other form that sentence encoders come in.
    save_file(model.state_dict(), target / "model.safetensors", metadata={"format": "pt"})
    texts = [*TEXTS, LONG]
    made = vectors(model, tokenizer, texts, 40, lambda states: states.mean(0))
    baked = json.loads((target / "tokenizer.json").read_text())
    baked["truncation"] = {"direction": "Right", "max_length": 12, "strategy": "LongestFirst", "stride": 0}
    baked["padding"] = {
        "strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
    }  # fmt: skip
    (target / "tokenizer.json").write_text(json.dumps(baked, ensure_ascii=False))
    (target / "1_Pooling").mkdir()
    (target / "1_Pooling" / "config.json").write_text(json.dumps({
        "word_embedding_dimension": 24, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False,
    }))  # fmt: skip
    kinds = ["Transformer", "Pooling", "Normalize"]
    modules = [{"idx": n, "name": str(n), "path": f"{n}_{kind}" if n else "", "type": f"sentence_transformers.models.{kind}"} for n, kind in enumerate(kinds)]
    (target / "modules.json").write_text(json.dumps(modules))
    (target / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 40, "do_lower_case": False}))
    dots = torch.tensor(made[1:]) @ torch.tensor(made[0])
    ranked = sorted(zip(texts[1:], dots.tolist()), key=lambda pair: -pair[1])
    save_fixture(target, [
        case("feature-extraction", {"Texts": texts}, {"Vectors": made}),
        case("feature-extraction", {"Text": texts[0]}, {"Vectors": made[:1]}),
        case("sentence-similarity", {"Texts": texts}, {"Labels": [{"label": text, "score": score} for text, score in ranked]}),
    ])  # fmt: skip


def make_e5():
    """Multilingual E5 as transformers.js' repositories have it: no files of sentence-transformers, and a prefix by convention."""
    model = randomise(XLMRobertaModel(small(XLMRobertaConfig, type_vocab_size=1), add_pooling_layer=False), 14)
    tokenizer = xlmr_tokenizer()
    target = export(model, [tokenizer], "text-multilingual-e5-small", "feature-extraction")
    texts = [CORPUS[0], "query: how far is the harbour", "passage: " + CORPUS[4]]
    prefixed = [text if text.startswith(("query: ", "passage: ")) else "query: " + text for text in texts]
    made = vectors(model, tokenizer, prefixed, 62, lambda states: states.mean(0))
    save_fixture(target, [case("feature-extraction", {"Texts": texts}, {"Vectors": made})])


def make_bge():
    """A sentence encoder that takes the first token, known by its name alone."""
    model, tokenizer = randomise(BertModel(small(BertConfig, positions=48), add_pooling_layer=False), 15), bert_tokenizer()
    target = export(model, [tokenizer], "text-bge-tiny", "feature-extraction")
    made = vectors(model, tokenizer, TEXTS[:2], 48, lambda states: states[0])
    save_fixture(target, [case("feature-extraction", {"Texts": TEXTS[:2]}, {"Vectors": made})])


# The pipelines' default of 256 new tokens takes precedence over the `max_length` of `task_specific_params`, by accident.
NO_DEFAULT_LENGTH = {"max_new_tokens": None}


def written(pipe, task, texts, **options):
    cases = []
    for text in texts:
        out = pipe(text, **options)[0]
        cases.append(case(task, {"Text": text}, {"Text": next(iter(out.values())).strip()}))
    return cases


def marian_tokenizer(folder):
    """Marian's tokenizer of two SentencePiece models and one vocabulary, and the one file that transformers.js' repositories make
    of them: a unigram model of all pieces. Real ones also normalise (nmt_nfkc, `Precompiled` in the one file); its table would be
    larger than the rest of the fixture, and made no difference when tried."""
    from sentencepiece import SentencePieceTrainer
    from sentencepiece.sentencepiece_model_pb2 import ModelProto

    pieces = {}
    protos = []
    for side, texts in [("source", CORPUS), ("target", CORPUS[5:7] + CORPUS[9:10])]:
        Path(folder, "corpus.txt").write_text("\n".join(texts * 20), encoding="utf-8")
        SentencePieceTrainer.train(
            input=f"{folder}/corpus.txt", model_prefix=f"{folder}/{side}", vocab_size=150 if side == "source" else 70, hard_vocab_limit=False,
            normalization_rule_name="identity", minloglevel=2,
        )  # fmt: skip
        proto = ModelProto()
        proto.ParseFromString(Path(folder, f"{side}.model").read_bytes())
        protos.append(proto)
        for piece in proto.pieces:
            if piece.type == 1:
                pieces.setdefault(piece.piece, piece.score)
    vocabulary = ["</s>", "<unk>", *pieces, "<pad>"]
    ids = {piece: number for number, piece in enumerate(vocabulary)}
    Path(folder, "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    slow = MarianTokenizer(
        source_spm=f"{folder}/source.model", target_spm=f"{folder}/target.model", vocab=f"{folder}/vocab.json", model_max_length=64
    )
    special = [
        {"id": ids[token], "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for token in ("</s>", "<unk>", "<pad>")
    ]
    metaspace = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True, "prepend_scheme": "always"}
    charsmap = base64.b64encode(protos[0].normalizer_spec.precompiled_charsmap).decode()
    fast = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap} if charsmap else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "special_tokens": {"</s>": {"id": "</s>", "ids": [ids["</s>"]], "tokens": ["</s>"]}},
        },
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": ids["<unk>"], "vocab": [[piece, pieces.get(piece, 0.0)] for piece in vocabulary]},
    }  # fmt: skip
    return slow, fast


def make_marian():
    folder = tempfile.mkdtemp()
    tokenizer, fast = marian_tokenizer(folder)
    size = len(json.loads(Path(folder, "vocab.json").read_text()))
    pad = size - 1
    config = MarianConfig(
        vocab_size=size, d_model=24, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64, pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad,
        forced_eos_token_id=0, scale_embedding=True, activation_function="swish",
    )  # fmt: skip
    model = randomise(MarianMTModel(config), 26, skip=("embed_positions",))
    sharpen(model, model.model.shared.weight, end=0, by=3)
    settings = {"num_beams": 4, "max_length": 48, "bad_words_ids": [[pad]], "renormalize_logits": True}
    model.generation_config.update(**settings)
    target = export(
        model, [tokenizer], "text-opus-mt-en-de", "text2text-generation-with-past",
        keep=["encoder_model", "decoder_model", "decoder_with_past_model"], monolith=False,
    )  # fmt: skip
    for name in ("source.spm", "target.spm"):
        (target / name).unlink(missing_ok=True)
    (target / "tokenizer.json").write_text(json.dumps(fast, ensure_ascii=False), encoding="utf-8")
    pipe = pipeline("translation", model=model, tokenizer=tokenizer)
    cases = []
    for text in [CORPUS[0], CORPUS[4], "Soup?", "ﬁnal  Ⅳ  naïve 北"]:
        out = pipe(text)[0]["translation_text"].strip()
        cases.append(case("translation", {"Translate": {"text": text, "from": "en", "to": None}}, {"Text": out}))
    save_fixture(target, cases)


def make_t5():
    tokenizer = T5TokenizerFast(tokenizer_object=unigram(320), extra_ids=0, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=64)
    config = T5Config(
        vocab_size=320, d_model=24, d_kv=6, d_ff=32, num_layers=1, num_decoder_layers=1, num_heads=4, decoder_start_token_id=0,
        pad_token_id=0, eos_token_id=1, feed_forward_proj="gated-gelu",
    )  # fmt: skip
    config.task_specific_params = {
        "summarization": {"prefix": "summarize: ", "max_length": 40, "min_length": 8, "num_beams": 3, "no_repeat_ngram_size": 3, "early_stopping": True, "length_penalty": 2.0},
        "translation_en_to_de": {"prefix": "translate English to German: ", "max_length": 40, "num_beams": 2, "early_stopping": True, "forced_eos_token_id": 1},
    }
    model = randomise(T5ForConditionalGeneration(config), 27)
    sharpen(model, model.shared.weight, end=1, by=3)
    model.generation_config.max_length = 50
    target = export(model, [tokenizer], "text-t5", "text2text-generation-with-past", keep=["encoder_model", "decoder_model_merged"])
    quantise(target, "decoder_model_merged")
    cases = written(pipeline("summarization", model=model, tokenizer=tokenizer), "summarization", [CORPUS[2], CORPUS[3]], **NO_DEFAULT_LENGTH)
    pipe = pipeline("translation_en_to_de", model=model, tokenizer=tokenizer)
    for text in CORPUS[:2]:
        out = pipe(text, **NO_DEFAULT_LENGTH)[0]["translation_text"].strip()
        cases.append(case("translation", {"Translate": {"text": text, "from": "en", "to": "de"}}, {"Text": out}))
    cases += written(pipeline("text2text-generation", model=model, tokenizer=tokenizer), "text2text-generation", [CORPUS[9], "Soup?"])
    save_fixture(target, cases)
    # What onnxruntime makes of the quantised decoder, under the name that its loader knows.
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(target, folder, dirs_exist_ok=True)
        for path in sorted(Path(folder, "onnx").glob("*")):
            path.replace(Path(folder, path.name.replace("_quantized", "")))
        quantised = ORTModelForSeq2SeqLM.from_pretrained(folder)
    cases = []
    for text in [CORPUS[9], "Soup?"]:
        out = quantised.generate(**tokenizer([text], return_tensors="pt"), num_beams=4)[0]
        cases.append(case("text2text-generation", {"Text": text}, {"Text": tokenizer.decode(out, skip_special_tokens=True).strip()}))
    save_fixture(target, cases, "expected-quantised.json")


def make_bart_summaries():
    """The whole pipeline over the BART of the searches, whose folder must be there."""
    from common import HERE

    model, tokenizer = bart(), bart_tokenizer()
    cases = written(pipeline("summarization", model=model, tokenizer=tokenizer), "summarization", [CORPUS[2], CORPUS[3]], **NO_DEFAULT_LENGTH)
    save_fixture(HERE / "text-bart", cases)


def codes_model(config, model, seed, **options):
    made = config(
        d_model=24, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        decoder_start_token_id=2, scale_embedding=True, **options,
    )  # fmt: skip
    made = randomise(model(made), seed, skip=("embed_positions",) if config is M2M100Config else ())
    sharpen(made, made.model.shared.weight, end=2, by=3)
    made.generation_config.update(max_length=40, num_beams=3, forced_eos_token_id=2, no_repeat_ngram_size=2)
    return made


def language_cases(model, tokenizer, pairs, names):
    pipe = pipeline("translation", model=model, tokenizer=tokenizer)
    cases = []
    for text, source, target in pairs:
        # The pipeline's default of 4 beams takes precedence over the model's 3, against what its documentation says.
        out = pipe(text, src_lang=names[source], tgt_lang=names[target], num_beams=3)[0]["translation_text"].strip()
        assert len(out) > 5, "the fixture says nothing: take another seed"
        cases.append(case("translation", {"Translate": {"text": text, "from": source, "to": target}}, {"Text": out}))
    return cases


def make_nllb():
    codes = ["eng_Latn", "fra_Latn", "deu_Latn", "zho_Hant"]
    path = "/tmp/nllb-tokenizer.json"
    special = ("<s>", "<pad>", "</s>", "<unk>")
    from tokenizers import Tokenizer, models, trainers

    base = unigram(300, special, None)
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.normalizer, made.pre_tokenizer, made.decoder = base.normalizer, base.pre_tokenizer, base.decoder
    made.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=316, special_tokens=[*special, *codes, "<mask>"]))
    made.save(path)
    tokenizer = NllbTokenizerFast(tokenizer_file=path, src_lang="eng_Latn", additional_special_tokens=codes, model_max_length=64)
    model = codes_model(M2M100Config, M2M100ForConditionalGeneration, 18, vocab_size=len(tokenizer))
    target = export(model, [tokenizer], "text-nllb", "text2text-generation-with-past", keep=["encoder_model", "decoder_model_merged"])
    names = {"en": "eng_Latn", "fr": "fra_Latn", "de": "deu_Latn", "zh-TW": "zho_Hant"}
    pairs = [(CORPUS[0], "en", "fr"), (CORPUS[6], "fr", "de"), ("Soup?", "en", "zh-TW")]
    save_fixture(target, language_cases(model, tokenizer, pairs, names))


def make_mbart50():
    path = "/tmp/mbart-tokenizer.json"
    unigram(300, ("<s>", "<pad>", "</s>", "<unk>"), None).save(path)
    tokenizer = MBart50TokenizerFast(tokenizer_file=path, src_lang="en_XX", model_max_length=64)
    model = codes_model(MBartConfig, MBartForConditionalGeneration, 19, vocab_size=len(tokenizer))
    target = export(model, [tokenizer], "text-mbart50", "text2text-generation-with-past", keep=["encoder_model", "decoder_model_merged"])
    names = {"en": "en_XX", "fr": "fr_XX", "de": "de_DE"}
    save_fixture(target, language_cases(model, tokenizer, [(CORPUS[0], "en", "fr"), (CORPUS[5], "de", "en")], names))


def make_gpt2_text():
    """The whole pipeline over the GPT-2 of the searches, whose folder must be there."""
    from common import HERE

    model = gpt2()
    tokenizer = GPT2TokenizerFast.from_pretrained(HERE / "text-gpt2")
    pipe = pipeline("text-generation", model=model, tokenizer=tokenizer)
    cases = []
    for text in ["The choir", "When does"]:
        out = pipe(text, do_sample=False, max_length=64, max_new_tokens=None)[0]["generated_text"]
        cases.append(case("text-generation", {"Text": text}, {"Text": out}))
    save_fixture(HERE / "text-gpt2", cases)


if __name__ == "__main__":
    makers = {name.removeprefix("make_"): maker for name, maker in list(globals().items()) if name.startswith("make_")}
    for name in sys.argv[1:] or makers:
        makers[name]()
