//! Templates and typed contexts to messages; model replies to values, or a typed error that keeps the reply.
