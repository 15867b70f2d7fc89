"""The refusal of a patch, with what a Status object needs.

Owns the codes and reasons; the wording is each patch format's own.
"""

from __future__ import annotations


class PatchError(Exception):
    """A patch that cannot be applied; `status_code` and `reason` are those of the Status kube-apiserver answers."""

    def __init__(self, status_code: int, reason: str, message: str) -> None:
        self.status_code = status_code
        self.reason = reason
        self.message = message
        super().__init__(message)


def malformed(message: str) -> PatchError:
    """The patch is not of its format: 400."""
    return PatchError(400, "BadRequest", message)


def inapplicable(message: str) -> PatchError:
    """The patch is well formed but does not fit the document: 422."""
    return PatchError(422, "Invalid", f"the server rejected our request due to an error in our request: {message}")


def too_large(message: str) -> PatchError:
    """The patch holds or makes more than the server is willing to process: 413."""
    return PatchError(413, "RequestEntityTooLarge", message)


def unsupported(message: str) -> PatchError:
    """The kind does not take patches of this format: 415."""
    return PatchError(415, "UnsupportedMediaType", message)
