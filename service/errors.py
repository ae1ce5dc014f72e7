"""What can go wrong in the service.

    ServiceError
    ├── ConfigError          a setting is unknown, malformed or unsafe
    ├── ModelError           the language model gave no usable draft
    │   ├── ModelUnreachable     refused, timed out, cut off
    │   ├── ModelRefused         the endpoint answered with an error (key, name, limits)
    │   └── EvidenceTooLong      the model's window is smaller than configured
    ├── QuestionTooLong      beside the question no evidence fits in the model's window
    └── EmbeddingUnavailable the configured embedding endpoint gave no usable vectors

Each message is one sentence for a person: the thing, the reason, the way out. No key, no path, no traceback.
"""


class ServiceError(Exception):
    """Base of every error that `service` raises on purpose."""


class ConfigError(ServiceError):
    """A setting is unknown, malformed or unsafe."""


class ModelError(ServiceError):
    """The language model gave no usable draft."""


class ModelUnreachable(ModelError):
    """The endpoint refused the connection, timed out, or cut it."""


class ModelRefused(ModelError):
    """The endpoint answered with an error: key, model name, rate or content limits."""


class EvidenceTooLong(ModelError):
    """The endpoint says that the prompt does not fit its window."""


class QuestionTooLong(ServiceError):
    """Beside the question no evidence fits in the model's window."""


class EmbeddingUnavailable(ServiceError):
    """The configured embedding endpoint gave no usable vectors."""
