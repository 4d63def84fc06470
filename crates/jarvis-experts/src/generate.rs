//! Text generation token by token with an ONNX decoder: key-value cache, greedy and beam search.
