"""Fixtures for the vision models: tiny random models, exported as users have them, with what the reference pipelines of
transformers make of two drawn pictures.

Made with torch 2.15.0, transformers 4.57.6, optimum-onnx 0.1.0, onnx 1.23.2, onnxruntime 1.32.0, pillow 13.0.0, timm 1.0.31:

    python make_vision.py [NAME...]

writes `vision-<name>/` beside this script for each name (all of them without one). Every weight is random with a fixed seed, so the
answers mean nothing; they are only compared. `expected.json` holds for each picture what the pipeline answered and the
arrays it answered from; large arrays are little-endian files beside it.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
import transformers
from PIL import Image, ImageDraw
from optimum.exporters.onnx import onnx_export_from_model
from transformers import (
    CLIPConfig, CLIPImageProcessor, CLIPModel, DepthAnythingConfig, DepthAnythingForDepthEstimation, DetrConfig,
    DetrForObjectDetection, DetrForSegmentation, DetrImageProcessor, Dinov2Config, DPTConfig, DPTForDepthEstimation,
    DPTImageProcessor, OwlViTConfig, OwlViTForObjectDetection, OwlViTImageProcessor, PreTrainedTokenizerFast,
    ResNetConfig, RTDetrConfig, RTDetrForObjectDetection, RTDetrImageProcessor, RTDetrResNetConfig, SegformerConfig,
    SegformerForSemanticSegmentation, SegformerImageProcessor, SiglipConfig, SiglipImageProcessor, SiglipModel,
    Swin2SRConfig, Swin2SRForImageSuperResolution, Swin2SRImageProcessor, ViTConfig, ViTForImageClassification,
    ViTImageProcessor, YolosConfig, YolosForObjectDetection, YolosImageProcessor, pipeline,
)

from common import byte_bpe, export as shared_export

HERE = Path(__file__).parent


def place(name):
    return HERE / f"vision-{name}"


LABELS = ["a red disc", "a box", "grass", "the sky over the sea"]


def draw(width, height):
    """A picture with edges, a gradient, a disc and a box."""
    y, x = np.mgrid[0:height, 0:width]
    ground = np.stack([x * 255 // width, y * 255 // height, (x * 7 + y * 13) % 256], axis=-1).astype(np.uint8)
    picture = Image.fromarray(ground)
    pen = ImageDraw.Draw(picture)
    pen.ellipse([width * 0.1, height * 0.2, width * 0.5, height * 0.8], fill=(220, 30, 40))
    pen.rectangle([width * 0.6, height * 0.1, width * 0.9, height * 0.6], fill=(20, 200, 90))
    pen.line([0, height - 1, width - 1, 0], fill=(255, 255, 255), width=2)
    return picture


PICTURES = {"small": draw(64, 48), "large": draw(300, 200), "tall": draw(37, 61)}


def randomise(model, seed, skip=()):
    """Gives every weight a random value of the size that a trained one has. Tables that are computed stay."""
    random = torch.Generator().manual_seed(seed)
    norms = {id(module.weight) for module in model.modules() if "Norm" in type(module).__name__ and getattr(module, "weight", None) is not None}
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if any(part in name for part in skip):
                continue
            noise = torch.randn(weight.shape, generator=random)
            if id(weight) in norms:
                weight.copy_(1 + 0.1 * noise)
            elif weight.dim() < 2:
                weight.copy_(0.1 * noise)
            else:
                weight.copy_(noise / math.sqrt(weight[0].numel()))
        for name, buffer in model.named_buffers():
            noise = torch.rand(buffer.shape, generator=random)
            if name.endswith("running_mean"):
                buffer.copy_(0.2 * noise - 0.1)
            elif name.endswith("running_var"):
                buffer.copy_(0.5 + noise)
            elif "BatchNorm" in name:
                raise ValueError(name)
        for name, module in model.named_modules():
            if type(module).__name__.endswith("FrozenBatchNorm2d"):
                module.weight.copy_(1 + 0.1 * torch.randn(module.weight.shape, generator=random))
                module.bias.copy_(0.1 * torch.randn(module.bias.shape, generator=random))
    return model.eval()


def clip_tokenizer(folder):
    """A tokenizer of CLIP's kind: lower-cased words, byte pairs with an end-of-word mark."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    start, end = "<|startoftext|>", "<|endoftext|>"
    tokenizer = Tokenizer(models.BPE(unk_token=end, end_of_word_suffix="</w>", continuing_subword_prefix=""))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    words = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(words), "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=400, end_of_word_suffix="</w>", show_progress=False, special_tokens=[],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator([f"this is a photo of {label}. " * 3 for label in LABELS], trainer)
    tokenizer.add_special_tokens([start, end])
    tokenizer.post_processor = processors.RobertaProcessing(
        sep=(end, tokenizer.token_to_id(end)), cls=(start, tokenizer.token_to_id(start)), trim_offsets=False,
        add_prefix_space=False,
    )
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=start, eos_token=end, pad_token=end, unk_token=end, model_max_length=77,
        model_input_names=["input_ids", "attention_mask"],
    )
    fast.save_pretrained(folder)
    for extra in ["special_tokens_map.json"]:
        (folder / extra).unlink(missing_ok=True)
    return fast


def export(name, model, task, processor, sub="", **more):
    """Saves the files that a user has: graph, configuration, processor."""
    folder = place(name)
    (folder / sub).mkdir(parents=True, exist_ok=True)
    onnx_export_from_model(model, folder / sub, task=task, do_validation=False, no_dynamic_axes=False, device="cpu", **more)
    for extra in ["config.json", "generation_config.json", "ort_config.json"]:
        (folder / sub / extra).unlink(missing_ok=True)
    for graph in (folder / sub).glob("*.onnx"):
        slim(graph)
    model.config.save_pretrained(folder)
    if getattr(model, "generation_config", None) is not None:
        model.generation_config.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


class Named(torch.nn.Module):
    """A model whose inputs and outputs have names, in an order."""

    def __init__(self, model, inputs, outputs):
        super().__init__()
        self.model, self.inputs, self.outputs = model, inputs, outputs

    def forward(self, *values):
        outputs = self.model(**dict(zip(self.inputs, values)))
        return tuple(getattr(outputs, name) for name in self.outputs)


def trace(model, inputs, outputs, path, axes):
    """Exports what optimum has no exporter for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        Named(model, list(inputs), outputs).eval(), tuple(inputs.values()), path, input_names=list(inputs),
        output_names=outputs, dynamo=False, opset_version=14, dynamic_axes=axes,
    )
    slim(path)


def slim(path):
    """Drops what only people read of a graph, half of the bytes of a tiny one."""
    model = onnx.load(path)
    graph = model.graph
    kept = {port.name for port in [*graph.input, *graph.output]}
    names = {}

    def short(name):
        return name if not name or name in kept else names.setdefault(name, f"t{len(names)}")

    nested = any(attribute.HasField("g") for node in graph.node for attribute in node.attribute)
    for node in graph.node:
        node.doc_string = ""
        node.name = ""
        del node.metadata_props[:]
        if not nested:
            node.input[:] = [short(name) for name in node.input]
            node.output[:] = [short(name) for name in node.output]
    if not nested:
        for weight in graph.initializer:
            weight.name = short(weight.name)
    del graph.value_info[:]
    onnx.save(model, path)


def array(values):
    return [round(float(value), 7) for value in np.asarray(values, dtype=np.float64).reshape(-1)]


def save(folder, expected):
    (folder / "expected.json").write_text(json.dumps(expected, indent=None, separators=(",", ":")) + "\n")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder.name}: {size / 1000:.0f} kB")


def labels(count):
    names = [f"thing {number}" for number in range(count)]
    return {"id2label": dict(enumerate(names)), "label2id": {name: number for number, name in enumerate(names)}}


def scale(module, factor):
    """Makes the answers of a head more decided."""
    with torch.no_grad():
        module.weight.mul_(factor)


def vit():
    config = ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8,
        **labels(7),
    )
    model = randomise(ViTForImageClassification(config), 1)
    scale(model.classifier, 3)
    processor = ViTImageProcessor(size={"height": 32, "width": 32})
    folder = export("vit", model, "image-classification", processor, sub="onnx")
    run = pipeline("image-classification", model=model, image_processor=processor)
    expected = {}
    for name, picture in PICTURES.items():
        pixels = processor(picture, return_tensors="pt")
        expected[name] = {
            "answer": run(picture, top_k=7),
            "logits": array(model(**pixels).logits.detach()),
            "pixels": array(pixels["pixel_values"][0, :, 3, :]),
        }
    from onnxruntime import InferenceSession
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantised = folder / "onnx" / "model_quantized.onnx"
    quantize_dynamic(folder / "onnx" / "model.onnx", quantised, weight_type=QuantType.QUInt8)
    session = InferenceSession(quantised)
    for name, picture in PICTURES.items():
        pixels = processor(picture, return_tensors="np")["pixel_values"]
        expected[name]["quantised"] = array(session.run(["logits"], {"pixel_values": pixels})[0])
    save(folder, expected)


def detections(model, processor, task, folder, raw=True):
    run = pipeline(task, model=model, image_processor=processor)
    expected = {}
    for name, picture in PICTURES.items():
        inputs = processor(picture, return_tensors="pt")
        outputs = model(**inputs)
        found = processor.post_process_object_detection(
            outputs, threshold=0.5, target_sizes=torch.tensor([picture.size[::-1]])
        )[0]
        expected[name] = {
            "size": list(inputs["pixel_values"].shape[2:]),
            "answer": run(picture),
            "boxes": [array(box) for box in found["boxes"].detach()],
            "logits": array(outputs.logits.detach()),
            "pred_boxes": array(outputs.pred_boxes.detach()),
        }
        print(folder.name, name, expected[name]["size"], len(expected[name]["answer"]), "found")
    save(folder, expected)


def backbone():
    return ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 12, 16, 16], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage4"],
    )


def detr_config(width=32, heads=4, **more):
    return DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone(), d_model=width,
        encoder_layers=1, decoder_layers=2, encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=48,
        decoder_ffn_dim=48, num_queries=12, **labels(6), **more,
    )


def detr():
    model = randomise(DetrForObjectDetection(detr_config()), 2)
    scale(model.class_labels_classifier, 2)
    processor = DetrImageProcessor(size={"shortest_edge": 96, "longest_edge": 160})
    folder = place("detr")
    folder.mkdir(exist_ok=True)
    # Graphs exported before optimum 1.15, such as those of transformers.js, have an input for the mask of padding.
    names = {0: "batch_size"}
    trace(
        model,
        {"pixel_values": torch.zeros(1, 3, 96, 128), "pixel_mask": torch.ones(1, 64, 64, dtype=torch.int64)},
        ["logits", "pred_boxes"], folder / "onnx" / "model.onnx",
        {"pixel_values": {**names, 2: "height", 3: "width"}, "pixel_mask": names},
    )
    model.config.save_pretrained(folder)
    processor.save_pretrained(folder)
    detections(model, processor, "object-detection", folder)


def yolos():
    config = YolosConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=[64, 96],
        patch_size=16, num_detection_tokens=10, use_mid_position_embeddings=True, **labels(6),
    )
    model = randomise(YolosForObjectDetection(config), 3)
    scale(model.class_labels_classifier.layers[-1], 8)
    processor = YolosImageProcessor(size={"shortest_edge": 72, "longest_edge": 110})
    folder = export("yolos", model, "object-detection", processor)
    detections(model, processor, "object-detection", folder)


def rt_detr():
    shape = RTDetrResNetConfig(
        embedding_size=8, hidden_sizes=[8, 12, 16, 16], depths=[1, 1, 1, 1], layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    config = RTDetrConfig(
        backbone_config=shape, encoder_hidden_dim=16, encoder_in_channels=[12, 16, 16], feat_strides=[8, 16, 32],
        encoder_ffn_dim=24, encoder_attention_heads=2, d_model=16, num_queries=12, decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=24, decoder_attention_heads=2, decoder_layers=2, decoder_n_points=2, num_denoising=0,
        disable_custom_kernels=True, hidden_expansion=0.5, **labels(6),
    )
    model = randomise(RTDetrForObjectDetection(config), 4)
    with torch.no_grad():
        for head in model.model.decoder.class_embed:
            head.weight.mul_(2)
            head.bias.sub_(3)
    processor = RTDetrImageProcessor(size={"height": 96, "width": 96})
    folder = export("rt-detr", model, "object-detection", processor)
    detections(model, processor, "object-detection", folder)


def zero_shot_expected(model, processor, tokenizer):
    run = pipeline("zero-shot-image-classification", model=model, image_processor=processor, tokenizer=tokenizer)
    return {
        name: {"labels": LABELS, "answer": run(picture, candidate_labels=LABELS)} for name, picture in PICTURES.items()
    }


def clip_parts():
    return dict(
        text_config=dict(
            vocab_size=420, hidden_size=24, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
            max_position_embeddings=77, projection_dim=16,
        ),
        vision_config=dict(
            hidden_size=24, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=32, patch_size=8,
            projection_dim=16,
        ),
    )


def clip():
    folder = place("clip")
    tokenizer = clip_tokenizer(folder)
    parts = clip_parts()
    parts["text_config"].update(
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        vocab_size=len(tokenizer),
    )
    model = randomise(CLIPModel(CLIPConfig(**parts, projection_dim=16)), 5)
    with torch.no_grad():
        model.logit_scale.fill_(math.log(100))
    processor = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    export("clip", model, "zero-shot-image-classification", processor)
    clip_split(model, tokenizer, folder / "split")
    save(folder, zero_shot_expected(model, processor, tokenizer))


def clip_split(model, tokenizer, folder):
    """The text and the picture part as graphs of their own, as transformers.js has them."""
    from transformers import CLIPTextModelWithProjection, CLIPVisionModelWithProjection

    folder.mkdir(exist_ok=True)
    text = CLIPTextModelWithProjection(model.config.text_config).eval()
    vision = CLIPVisionModelWithProjection(model.config.vision_config).eval()
    for part in [text, vision]:
        part.load_state_dict({key: value for key, value in model.state_dict().items() if key in part.state_dict()})
    for path in [folder / "text_model.onnx", folder / "vision_model.onnx"]:
        path.unlink(missing_ok=True)
    ids = tokenizer(LABELS[:2], padding=True, return_tensors="pt")["input_ids"]
    names = {0: "batch_size", 1: "sequence_length"}
    trace(
        text, {"input_ids": ids, "attention_mask": torch.ones_like(ids)}, ["text_embeds"], folder / "text_model.onnx",
        {"input_ids": names, "attention_mask": names},
    )
    trace(
        vision, {"pixel_values": torch.zeros(1, 3, 32, 32)}, ["image_embeds"], folder / "vision_model.onnx",
        {"pixel_values": {0: "batch_size"}},
    )


def siglip():
    folder = place("siglip")
    tokenizer = clip_tokenizer(folder)
    # The texts that SigLIP was trained with are not masked.
    tokenizer.model_input_names = ["input_ids"]
    tokenizer.save_pretrained(folder)
    parts = clip_parts()
    parts["text_config"].update(max_position_embeddings=64, vocab_size=len(tokenizer), projection_size=24)
    model = randomise(SiglipModel(SiglipConfig(**parts)), 6)
    with torch.no_grad():
        model.logit_scale.fill_(1.5)
        model.logit_bias.fill_(-0.4)
    processor = SiglipImageProcessor(size={"height": 32, "width": 32})
    export("siglip", model, "zero-shot-image-classification", processor)
    save(folder, zero_shot_expected(model, processor, tokenizer))


def segments(answer, folder, name):
    """The masks of an answer as one file: a byte a pixel, each as large as the picture."""
    data = b"".join(np.asarray(found["mask"]).tobytes() for found in answer)
    (folder / f"{name}.masks").write_bytes(np.packbits(np.frombuffer(data, dtype=np.uint8) > 0).tobytes())
    return [{"label": found["label"], "score": found["score"]} for found in answer]


def panoptic():
    model = randomise(DetrForSegmentation(detr_config_panoptic()), 119)
    # Random queries all find the same; these factors make their masks differ by more than rounding.
    scale(model.detr.class_labels_classifier, 8)
    scale(model.detr.model.query_position_embeddings, 8)
    for layer in model.detr.model.decoder.layers:
        for attention in [layer.self_attn, layer.encoder_attn]:
            for part in [attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj]:
                scale(part, 2.5)
    scale(model.bbox_attention.q_linear, 3)
    scale(model.bbox_attention.k_linear, 3)
    scale(model.mask_head.out_lay, 1.5)
    with torch.no_grad():
        model.mask_head.lay1.weight[:, 16:] *= 150
    processor = DetrImageProcessor(size={"shortest_edge": 64, "longest_edge": 110})
    folder = export("detr-panoptic", model, "image-segmentation", processor)
    run = pipeline("image-segmentation", model=model, image_processor=processor)
    expected = {}
    for name, picture in PICTURES.items():
        answer = run(picture)
        outputs = model(**processor(picture, return_tensors="pt"))
        expected[name] = {
            "answer": segments(answer, folder, name), "logits": array(outputs.logits.detach()),
        }
        print(folder.name, name, [found["label"] for found in answer])
    save(folder, expected)


def detr_config_panoptic():
    config = detr_config(width=16, heads=8)
    config.backbone_config.out_features = ["stage1", "stage2", "stage3", "stage4"]
    config.backbone_config.out_indices = [1, 2, 3, 4]
    return config


def segformer():
    config = SegformerConfig(
        num_encoder_blocks=4, depths=[1, 1, 1, 1], sr_ratios=[4, 2, 1, 1], hidden_sizes=[8, 16, 16, 24],
        num_attention_heads=[1, 2, 2, 2], decoder_hidden_size=16, mlp_ratios=[2, 2, 2, 2], **labels(6),
    )
    model = randomise(SegformerForSemanticSegmentation(config), 210)
    processor = SegformerImageProcessor(size={"height": 64, "width": 64})
    folder = export("segformer", model, "image-segmentation", processor)
    run = pipeline("image-segmentation", model=model, image_processor=processor)
    expected = {}
    for name, picture in PICTURES.items():
        answer = run(picture)
        outputs = model(**processor(picture, return_tensors="pt"))
        expected[name] = {"answer": segments(answer, folder, name), "logits": array(outputs.logits.detach())[:400]}
        print(folder.name, name, [found["label"] for found in answer])
    save(folder, expected)


def depths(model, processor, folder):
    run = pipeline("depth-estimation", model=model, image_processor=processor)
    expected = {}
    for name, picture in PICTURES.items():
        depth = run(picture)["predicted_depth"].detach().numpy()
        rows = slice(None) if name != "large" else slice(0, None, 8)
        expected[name] = {
            "size": list(processor(picture, return_tensors="pt")["pixel_values"].shape[2:]),
            "every": 1 if name != "large" else 8,
        }
        depth[rows].astype("<f4").tofile(folder / f"{name}.depth")
        print(folder.name, name, expected[name]["size"], depth.min(), depth.max())
    save(folder, expected)


def dpt():
    config = DPTConfig(
        hidden_size=24, num_hidden_layers=4, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8,
        backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 8, 8], fusion_hidden_size=8,
        reassemble_factors=[4, 2, 1, 0.5], use_pretrained_backbone=False, is_hybrid=False,
    )
    model = randomise(DPTForDepthEstimation(config), 9)
    processor = DPTImageProcessor(size={"height": 32, "width": 32})
    depths(model, processor, export("dpt", model, "depth-estimation", processor))


def depth_anything():
    shape = Dinov2Config(
        hidden_size=16, num_hidden_layers=4, num_attention_heads=2, mlp_ratio=2, image_size=42, patch_size=14,
        out_features=["stage1", "stage2", "stage3", "stage4"], reshape_hidden_states=False, apply_layernorm=True,
    )
    config = DepthAnythingConfig(
        backbone_config=shape, reassemble_hidden_size=16, neck_hidden_sizes=[8, 8, 8, 8], fusion_hidden_size=8,
        head_hidden_size=8, patch_size=14,
    )
    model = randomise(DepthAnythingForDepthEstimation(config), 10)
    processor = DPTImageProcessor(
        size={"height": 70, "width": 70}, keep_aspect_ratio=True, ensure_multiple_of=14,
        image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225],
    )
    # The model takes its output's size by `int`, which would fix it in the graph.
    transformers.models.depth_anything.modeling_depth_anything.int = lambda size: size
    folder = place("depth-anything")
    trace(
        model, {"pixel_values": torch.zeros(1, 3, 70, 98)}, ["predicted_depth"], folder / "onnx" / "model.onnx",
        {"pixel_values": {0: "batch_size", 2: "height", 3: "width"}},
    )
    model.config.save_pretrained(folder)
    processor.save_pretrained(folder)
    depths(model, processor, folder)


def owlvit():
    folder = place("owlvit")
    tokenizer = clip_tokenizer(folder)
    parts = clip_parts()
    parts["text_config"].update(max_position_embeddings=16, vocab_size=len(tokenizer), projection_dim=24)
    parts["vision_config"].update(image_size=40, projection_dim=24)
    model = randomise(OwlViTForObjectDetection(OwlViTConfig(**parts, projection_dim=24)), 11)
    with torch.no_grad():
        model.class_head.logit_shift.bias.sub_(2.2)
    processor = OwlViTImageProcessor(size={"height": 40, "width": 40}, crop_size={"height": 40, "width": 40})
    export("owlvit", model, "zero-shot-object-detection", processor)
    run = pipeline("zero-shot-object-detection", model=model, image_processor=processor, tokenizer=tokenizer)
    expected = {}
    for name, picture in PICTURES.items():
        boxes = []
        for label in LABELS:
            inputs = {**processor(picture, return_tensors="pt"), **tokenizer(label, return_tensors="pt")}
            found = processor.post_process_object_detection(
                model(**inputs), threshold=0.1, target_sizes=torch.tensor([picture.size[::-1]])
            )[0]
            boxes += [
                {"label": label, "score": float(score), "box": array(box)}
                for score, box in zip(found["scores"].detach(), found["boxes"].detach())
            ]
        boxes.sort(key=lambda box: -box["score"])
        expected[name] = {"labels": LABELS, "answer": run(picture, candidate_labels=LABELS), "boxes": boxes}
        assert [box["score"] for box in boxes] == [box["score"] for box in expected[name]["answer"]]
        print(folder.name, name, len(boxes), "found")
    save(folder, expected)


def caption():
    from transformers import GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast, VisionEncoderDecoderModel, ViTModel

    tokenizer = GPT2TokenizerFast(
        tokenizer_object=byte_bpe(special=("<|endoftext|>",), roberta=False), bos_token="<|endoftext|>",
        eos_token="<|endoftext|>", unk_token="<|endoftext|>", pad_token="<|endoftext|>",
    )
    encoder = ViTModel(
        ViTConfig(
            hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32, image_size=32, patch_size=8,
        ),
        add_pooling_layer=False,
    )
    decoder = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer), n_positions=48, n_embd=24, n_layer=2, n_head=4, add_cross_attention=True,
            is_decoder=True, bos_token_id=0, eos_token_id=0,
        )
    )
    model = VisionEncoderDecoderModel(encoder=encoder, decoder=decoder)
    randomise(model, 13)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 2 and any(part in name for part in ("c_proj", "crossattention", "wpe")):
                weight.mul_(4)
        model.decoder.lm_head.weight.mul_(4)
    model.config.decoder_start_token_id = model.config.pad_token_id = model.config.eos_token_id = 0
    for name, value in {
        "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 0, "bos_token_id": 0, "max_length": 24, "num_beams": 4,
    }.items():
        setattr(model.generation_config, name, value)
    processor = ViTImageProcessor(size={"height": 32, "width": 32})
    run = pipeline("image-to-text", model=model, image_processor=processor, tokenizer=tokenizer)
    expected = {name: {"text": run(picture)[0]["generated_text"]} for name, picture in PICTURES.items()}
    print(expected)
    target = shared_export(
        model, [tokenizer, processor], "vision-caption", "image-to-text-with-past",
        keep=["encoder_model", "decoder_model_merged"],
    )
    for graph in (target / "onnx").glob("*.onnx"):
        slim(graph)
    save(target, expected)


def swin2sr():
    config = Swin2SRConfig(
        image_size=16, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4, mlp_ratio=2.0, upscale=2,
        upsampler="pixelshuffledirect",
    )
    model = randomise(Swin2SRForImageSuperResolution(config), 12)
    processor = Swin2SRImageProcessor(size_divisor=8)
    folder = export("swin2sr", model, "image-to-image", processor)
    run = pipeline("image-to-image", model=model, image_processor=processor)
    expected = {}
    for name in ["small", "tall"]:
        answer = run(PICTURES[name])
        expected[name] = {"width": answer.width, "height": answer.height}
        answer.save(folder / f"{name}-expected.png")
    save(folder, expected)


def preprocessing():
    """What Pillow makes of pictures, PyTorch of planes, and the image processors of both. The processors' settings stand in full,
    and once more without what their class supplies."""
    folder = place("pictures")
    folder.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        picture.save(folder / f"{name}.png")
    for filter in range(6):
        for name, size in [("large", (41, 27)), ("small", (70, 50)), ("tall", (37, 20)), ("small", (30, 48)), ("tall", (33, 20))]:
            PICTURES[name].resize(size, resample=filter).save(folder / f"{name}-{filter}-{size[0]}x{size[1]}.png")
    planes = []
    for mode in ["bilinear", "bicubic"]:
        for width, height, to_width, to_height in [(7, 5, 16, 11), (9, 8, 4, 3), (1, 1, 3, 2), (6, 6, 6, 6), (5, 4, 5, 9)]:
            plane = torch.randn(1, 1, height, width)
            resized = torch.nn.functional.interpolate(plane, (to_height, to_width), mode=mode, align_corners=False)
            planes.append({
                "mode": mode, "from": [width, height], "to": [to_width, to_height], "plane": array(plane),
                "resized": array(resized),
            })
    (folder / "interpolated.json").write_text(json.dumps(planes, separators=(",", ":")) + "\n")

    cases = []
    for type_, kind, settings in [
        ("vit", "ViT", {}),
        ("vit", "ViT", {"size": {"height": 20, "width": 33}, "resample": 3, "do_normalize": False}),
        ("vit", "ViT", {"size": 40, "do_rescale": False}),
        ("deit", "DeiT", {"size": {"height": 40, "width": 40}, "crop_size": {"height": 31, "width": 32}}),
        ("beit", "Beit", {"size": 36, "crop_size": 30, "do_center_crop": True}),
        ("clip", "CLIP", {"size": {"shortest_edge": 33}, "crop_size": 30}),
        ("clip", "CLIP", {"size": 30, "crop_size": {"height": 45, "width": 47}}),
        ("convnext", "ConvNext", {"size": {"shortest_edge": 36}, "crop_pct": 0.8}),
        ("resnet", "ConvNext", {"size": 28}),
        ("convnextv2", "ConvNext", {"size": {"shortest_edge": 384}}),
        ("dinov2", "Bit", {"size": {"shortest_edge": 40}, "crop_size": {"height": 28, "width": 28}}),
        ("mobilenet_v2", "MobileNetV2", {"size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32}}),
        ("mobilevit", "MobileViT", {"size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32}}),
        ("segformer", "Segformer", {"size": {"height": 40, "width": 40}}),
        ("siglip", "Siglip", {"size": {"height": 24, "width": 24}}),
        ("owlvit", "OwlViT", {"size": {"height": 48, "width": 48}}),
        ("detr", "Detr", {"size": {"shortest_edge": 60, "longest_edge": 95}}),
        ("detr", "Detr", {"size": {"shortest_edge": 48, "longest_edge": 70}, "pad_size": {"height": 72, "width": 75}}),
        ("detr", "Detr", {"size": {"max_height": 50, "max_width": 66}}),
        ("yolos", "Yolos", {"size": {"shortest_edge": 70, "longest_edge": 100}}),
        ("rt_detr", "RTDetr", {"size": {"height": 64, "width": 64}}),
        ("dpt", "DPT", {"size": {"height": 50, "width": 60}, "keep_aspect_ratio": True, "ensure_multiple_of": 14}),
        ("dpt", "DPT", {"size": {"height": 45, "width": 45}, "do_pad": True, "size_divisor": 14}),
        ("glpn", "GLPN", {"size_divisor": 16}),
        ("swin2sr", "Swin2SR", {"size_divisor": 8}),
        ("donut-swin", "Donut", {"size": {"height": 60, "width": 40}}),
        ("donut-swin", "Donut", {"size": {"height": 40, "width": 60}, "do_align_long_axis": True}),
    ]:
        processor = getattr(transformers, f"{kind}ImageProcessor")(**settings)
        for name, picture in PICTURES.items():
            if kind == "GLPN" and name == "large":
                continue
            inputs = processor(picture, return_tensors="pt")
            pixels = inputs["pixel_values"][0]
            values = pixels.flatten()
            cases.append({
                "model_type": type_, "settings": json.loads(processor.to_json_string()), "brief": settings, "picture": name,
                "size": [pixels.shape[2], pixels.shape[1]], "sum": float(values.double().sum()),
                "values": array(values[:: max(1, len(values) // 97)]), "step": max(1, len(values) // 97),
                "mask": int(inputs["pixel_mask"].sum()) if "pixel_mask" in inputs else None,
            })
    (folder / "preprocessed.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")
    print(f"{folder.name}: {sum(file.stat().st_size for file in folder.iterdir()) // 1000} kB")


MODELS = {
    "pictures": preprocessing,
    "vit": vit, "detr": detr, "yolos": yolos, "rt-detr": rt_detr, "clip": clip, "siglip": siglip, "detr-panoptic": panoptic,
    "segformer": segformer, "dpt": dpt, "depth-anything": depth_anything, "owlvit": owlvit, "swin2sr": swin2sr, "caption": caption,
}


def main():
    for name in sys.argv[1:] or MODELS:
        torch.manual_seed(0)
        MODELS[name]()


if __name__ == "__main__":
    main()
