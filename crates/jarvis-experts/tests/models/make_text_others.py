"""Makes the fixtures of text architectures with traits of their own; the common ones are in make_text.py.

Usage: python make_text_others.py [name…]
"""

import sys

from transformers import (
    DebertaV2Config, DebertaV2ForSequenceClassification, MBartConfig, MBartForConditionalGeneration, MBartTokenizerFast,
    MobileBertConfig, MobileBertForSequenceClassification, MPNetConfig, MPNetModel, MPNetTokenizerFast,
)  # fmt: skip

from common import CORPUS, export, randomise, save_fixture, unigram, wordpiece
from make_text import (
    TEXTS, bert_tokenizer, case, classification_cases, codes_model, labels, language_cases, louder, small, vectors, zero_shot_cases,
)  # fmt: skip

ENTAILMENT = labels("contradiction", "neutral", "entailment")


def classifier(name, model, config, seed):
    model, tokenizer = louder(randomise(model(config), seed)), bert_tokenizer()
    target = export(model, [tokenizer], name, "text-classification")
    save_fixture(target, classification_cases(model, tokenizer) + zero_shot_cases(model, tokenizer))


def make_deberta():
    """Relative positions, as in DeBERTa v3."""
    config = DebertaV2Config(
        vocab_size=320, hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32, max_position_embeddings=64,
        relative_attention=True, position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"],
        pad_token_id=0, type_vocab_size=0, position_biased_input=False, **ENTAILMENT,
    )  # fmt: skip
    classifier("text-deberta-classification", DebertaV2ForSequenceClassification, config, 30)


def make_mobilebert():
    """Embeddings of three neighbouring tokens, which padding changes."""
    config = MobileBertConfig(
        vocab_size=320, embedding_size=16, hidden_size=24, num_hidden_layers=1, num_attention_heads=4, intermediate_size=32,
        intra_bottleneck_size=24, max_position_embeddings=64, **ENTAILMENT,
    )  # fmt: skip
    classifier("text-mobilebert-classification", MobileBertForSequenceClassification, config, 30)


def make_mpnet():
    model = randomise(MPNetModel(small(MPNetConfig), add_pooling_layer=False), 31)
    special = ("<s>", "<pad>", "</s>", "[UNK]", "<mask>", "[CLS]", "[SEP]")
    tokenizer = MPNetTokenizerFast(tokenizer_object=wordpiece(320, special=special), model_max_length=62, unk_token="[UNK]")
    target = export(model, [tokenizer], "text-mpnet", "feature-extraction")
    made = vectors(model, tokenizer, TEXTS, 62, lambda states: states.mean(0))
    save_fixture(target, [case("feature-extraction", {"Texts": TEXTS}, {"Vectors": made})])


def make_mbart():
    """The first mBART: the source language comes last, and the target language starts the decoder."""
    path = "/tmp/mbart25-tokenizer.json"
    unigram(300, ("<s>", "<pad>", "</s>", "<unk>"), None).save(path)
    tokenizer = MBartTokenizerFast(tokenizer_file=path, src_lang="en_XX", tgt_lang="ro_RO", model_max_length=64)
    model = codes_model(MBartConfig, MBartForConditionalGeneration, 44, vocab_size=len(tokenizer))
    start = tokenizer.convert_tokens_to_ids("ro_RO")
    model.generation_config.decoder_start_token_id = model.config.decoder_start_token_id = start
    target = export(model, [tokenizer], "text-mbart", "text2text-generation-with-past", keep=["encoder_model", "decoder_model_merged"])
    pairs = [(CORPUS[0], "en", "ro"), (CORPUS[3], "en", "ro")]
    save_fixture(target, language_cases(model, tokenizer, pairs, {"en": "en_XX", "ro": "ro_RO"}))


if __name__ == "__main__":
    makers = {name.removeprefix("make_"): maker for name, maker in list(globals().items()) if name.startswith("make_")}
    for name in sys.argv[1:] or makers:
        makers[name]()
