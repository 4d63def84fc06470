//! Weights on this machine: the cache in the Hub's layout, downloads that resume and are verified, and the pinned catalogue of
//! models that jarvis knows how to run. Loads and runs nothing: that is the work of `jarvis-experts`.
