//! The pipeline form: plans of vision pipelines from `source` to `pipeline-end`.
