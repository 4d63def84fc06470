"""Fixtures of the models that read pictures of writing: Donut, which answers questions about a page, and TrOCR, which reads a line.
Tiny random models with what the pipelines of transformers make of the drawn pictures of make_vision.py.

Made with torch 2.15.0, transformers 4.57.6, optimum-onnx 0.1.0, onnx 1.23.2:

    python make_reading.py [NAME...]
"""

import sys

import torch
from transformers import (
    DeiTConfig, DeiTImageProcessor, DeiTModel, DonutImageProcessor, DonutSwinConfig, DonutSwinModel, MBartConfig, MBartForCausalLM,
    RobertaTokenizerFast, TrOCRConfig, TrOCRForCausalLM, VisionEncoderDecoderModel, XLMRobertaTokenizerFast, pipeline,
)  # fmt: skip

from common import byte_bpe, export
from make_vision import PICTURES, randomise, save, slim

PARTS = ["encoder_model", "decoder_model_merged"]
MARKS = ["<s_docvqa>", "<s_question>", "</s_question>", "<s_answer>", "</s_answer>", "<yes/>", "<no/>"]
# How fast the end of Donut's answers becomes likelier.
RISE, END, FACTOR = 6.0, 0.5, 1.0
QUESTIONS = [
    "When does the last boat leave?",
    "Who sang in the old barn?",
    "What is the total?",
    "How far is the harbour from the station?",
    "Where does Emma Schmidt work?",
    "Who spoke about the bridge?",
    "How many guests came?",
]


def decided(model, seed, factor, parts=("attn", "embed_positions", "output.dense", "fc2")):
    """Random weights under which what is written depends on the picture and on the tokens before."""
    randomise(model, seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 2 and any(part in name for part in parts):
                weight.mul_(factor)
    return model


def settle(model, **settings):
    for name, value in settings.items():
        setattr(model.generation_config, name, value)
        if name.endswith("token_id"):
            setattr(model.config, name, value)


def sentencepiece(path, added=()):
    from common import unigram

    unigram(300, ("<s>", "<pad>", "</s>", "<unk>"), "<s> $A </s>", "<s> $A </s> </s> $B </s>").save(path)
    return XLMRobertaTokenizerFast(tokenizer_file=path, additional_special_tokens=list(added))


def donut():
    tokenizer = sentencepiece("/tmp/donut-tokenizer.json", MARKS)
    encoder = DonutSwinModel(
        DonutSwinConfig(image_size=[48, 64], patch_size=4, embed_dim=8, depths=[1, 2], num_heads=[2, 2], window_size=4, mlp_ratio=2)
    )
    decoder = MBartForCausalLM(
        MBartConfig(
            vocab_size=len(tokenizer), d_model=16, decoder_layers=2, decoder_attention_heads=2, decoder_ffn_dim=24,
            encoder_attention_heads=2, max_position_embeddings=64, add_cross_attention=True, is_decoder=True, is_encoder_decoder=False, scale_embedding=True,
            add_final_layer_norm=True, tie_word_embeddings=False,
        )
    )  # fmt: skip
    model = decided(VisionEncoderDecoderModel(encoder=encoder, decoder=decoder), 31, FACTOR)
    settle(
        model, decoder_start_token_id=tokenizer.convert_tokens_to_ids("<s_docvqa>"), pad_token_id=1, eos_token_id=2, bos_token_id=0,
        forced_eos_token_id=2, max_new_tokens=None, max_length=64,
    )
    # Random weights would hardly ever end an answer: the later a token stands, the likelier its end becomes, after which the
    # text ends.
    random = torch.Generator().manual_seed(5)
    later, after = torch.randn(16, generator=random), torch.randn(16, generator=random)
    end = tokenizer.convert_tokens_to_ids("</s_answer>")
    with torch.no_grad():
        inner, head = model.decoder.model.decoder, model.decoder.lm_head.weight
        positions = inner.embed_positions.weight
        positions.add_(RISE * torch.arange(len(positions))[:, None] / len(positions) * later)
        head[end] = END * later
        inner.embed_tokens.weight[end] = 24 * after
        head[2] = 0.5 * after
    processor = DonutImageProcessor(size={"height": 48, "width": 64}, do_align_long_axis=True)
    run = pipeline("document-question-answering", model=model, image_processor=processor, tokenizer=tokenizer)
    expected = {}
    for name, picture in PICTURES.items():
        expected[name] = {
            "answers": [{"question": text, "answer": run(picture, question=text)[0]["answer"]} for text in QUESTIONS]
        }
    target = export(model, [tokenizer, processor], "vision-donut", "image-to-text-with-past", keep=PARTS)
    finish(target, expected)
    return expected


def finish(target, expected):
    for graph in (target / "onnx").glob("*.onnx"):
        slim(graph)
    save(target, expected)


def read(model, tokenizer, processor):
    run = pipeline("image-to-text", model=model, image_processor=processor, tokenizer=tokenizer)
    return {name: {"text": run(picture)[0]["generated_text"]} for name, picture in PICTURES.items()}


def trocr_model(tokenizer, seed, **more):
    encoder = DeiTModel(
        DeiTConfig(
            hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32, image_size=32, patch_size=8,
        ),
        add_pooling_layer=False,
    )  # fmt: skip
    decoder = TrOCRForCausalLM(
        TrOCRConfig(
            vocab_size=len(tokenizer), d_model=16, decoder_layers=2, decoder_attention_heads=2, decoder_ffn_dim=24,
            max_position_embeddings=48, add_cross_attention=True, is_decoder=True, cross_attention_hidden_size=24, **more,
        )
    )  # fmt: skip
    model = decided(VisionEncoderDecoderModel(encoder=encoder, decoder=decoder), seed, 4)
    settle(model, decoder_start_token_id=2, pad_token_id=1, eos_token_id=2, bos_token_id=0)
    return model


def trocr():
    """As the small models: sentence pieces, greedy."""
    tokenizer = sentencepiece("/tmp/trocr-tokenizer.json")
    model = trocr_model(tokenizer, 22, use_learned_position_embeddings=True, scale_embedding=True, activation_function="relu")
    settle(model, max_length=21)
    processor = DeiTImageProcessor(size={"height": 32, "width": 32}, do_center_crop=False, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    expected = read(model, tokenizer, processor)
    target = export(model, [tokenizer, processor], "vision-trocr", "image-to-text-with-past", keep=PARTS)
    finish(target, expected)
    return expected


def trocr_beams():
    """As the base models: byte pairs, positions that are computed, beams."""
    from transformers import ViTImageProcessor

    byte_bpe().save("/tmp/trocr-bytes.json")
    tokenizer = RobertaTokenizerFast(tokenizer_file="/tmp/trocr-bytes.json")
    model = trocr_model(tokenizer, 23, use_learned_position_embeddings=False, layernorm_embedding=False)
    settle(model, max_length=24, num_beams=4, early_stopping=True, length_penalty=2.0, no_repeat_ngram_size=3)
    processor = ViTImageProcessor(size={"height": 32, "width": 32})
    expected = read(model, tokenizer, processor)
    target = export(model, [tokenizer, processor], "vision-trocr-beams", "image-to-text-with-past", keep=PARTS)
    finish(target, expected)
    return expected


MODELS = {"donut": donut, "trocr": trocr, "trocr-beams": trocr_beams}

if __name__ == "__main__":
    for name in [name for name in sys.argv[1:] if name != "search"] or MODELS:
        torch.manual_seed(0)
        print(MODELS[name]())
