"""Whether an identity can be accepted as it is written, before anything is asked of AWS.

Pure. One set of faults serves admission, which names all of them, and the controller, whose condition names them by the reason of the
first. Messages tell shapes, never the values of ARNs and IDs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from controllers.api.condition import MESSAGE_LIMIT
from controllers.providers.route53.identity.resource import IdentityReason, IdentitySpec, Role

ACCOUNT_ID: Final = re.compile(r"[0-9]{12}")
REGION: Final = re.compile(r"[a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}")
ROLE_ARN: Final = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[\x21-\x7e]{1,512}")
EXTERNAL_ID: Final = re.compile(r"[\w+=,.@:/-]{2,1224}", re.ASCII)
SESSION_NAME: Final = re.compile(r"[\w+=,.@-]{2,64}", re.ASCII)
CHAIN_LIMIT: Final = 10

ACCOUNT: Final = "an AWS account ID of 12 digits"


@dataclass(frozen=True, slots=True)
class IdentityFault:
    """One thing that is wrong: the field, what is there, what is allowed, and the reason it is told with."""

    field: str
    found: str
    allowed: str
    reason: IdentityReason

    def __str__(self) -> str:
        return f"{self.field}: found {self.found}, allowed: {self.allowed}"


def shape_faults(spec: IdentitySpec) -> Iterator[IdentityFault]:
    """Yield what is wrong whatever AWS and the platform say."""
    source, chain = IdentityReason.INVALID_CREDENTIAL_SOURCE, IdentityReason.INVALID_ASSUME_ROLE_CHAIN
    if not REGION.fullmatch(spec.region):
        allowed = "the name of an AWS region, such as eu-central-1"
        yield IdentityFault("spec.region", _text(spec.region), allowed, IdentityReason.INVALID_REGION)
    if not ACCOUNT_ID.fullmatch(spec.account_id):
        yield IdentityFault("spec.accountID", _sized(spec.account_id), ACCOUNT, source)
    if spec.credentials.runtime is None:
        yield IdentityFault("spec.credentials", "no source that is known", "runtime: {}", source)
    if len(spec.assume_role_chain) > CHAIN_LIMIT:
        found, allowed = f"{len(spec.assume_role_chain)} roles", f"at most {CHAIN_LIMIT}"
        yield IdentityFault("spec.assumeRoleChain", found, allowed, chain)
    for index, role in enumerate(spec.assume_role_chain):
        yield from _role_faults(f"spec.assumeRoleChain[{index}]", role)


def static_faults(
    spec: IdentitySpec, allowed_accounts: frozenset[str], is_region: Callable[[str], bool]
) -> Iterator[IdentityFault]:
    """Yield what is wrong without asking AWS.

    `allowed_accounts` are the platform's, empty for all; `is_region` says whether the SDK knows the partition of a region.
    """
    faults = list(shape_faults(spec))
    yield from faults
    if not any(fault.reason is IdentityReason.INVALID_REGION for fault in faults) and not is_region(spec.region):
        allowed = "a region that the AWS SDK knows"
        yield IdentityFault("spec.region", _text(spec.region), allowed, IdentityReason.INVALID_REGION)
    if allowed_accounts and ACCOUNT_ID.fullmatch(spec.account_id) and spec.account_id not in allowed_accounts:
        allowed = "one of those that the platform allows to the controller"
        yield IdentityFault("spec.accountID", "an AWS account", allowed, IdentityReason.DENIED_BY_POLICY)
    if allowed_accounts:
        for index, role in enumerate(spec.assume_role_chain):
            account = role.role_arn.split(":")[4:5]
            if account and ACCOUNT_ID.fullmatch(account[0]) and account[0] not in allowed_accounts:
                field = f"spec.assumeRoleChain[{index}].roleARN"
                allowed = "roles of accounts that the platform allows to the controller"
                yield IdentityFault(field, "another account's role", allowed, IdentityReason.DENIED_BY_POLICY)


def tell(faults: list[IdentityFault]) -> str:
    """Return faults as the message of a condition."""
    return "; ".join(map(str, faults))[:MESSAGE_LIMIT]


def _role_faults(path: str, role: Role) -> Iterator[IdentityFault]:
    reason = IdentityReason.INVALID_ASSUME_ROLE_CHAIN
    if not ROLE_ARN.fullmatch(role.role_arn):
        allowed = "the ARN of an IAM role, arn:<partition>:iam::<account>:role/<name>"
        yield IdentityFault(f"{path}.roleARN", _sized(role.role_arn), allowed, reason)
    if role.external_id is not None and not EXTERNAL_ID.fullmatch(role.external_id):
        allowed = "2 to 1224 letters, digits and characters of _+=,.@:/-"
        yield IdentityFault(f"{path}.externalID", _sized(role.external_id), allowed, reason)
    if role.session_name is not None and not SESSION_NAME.fullmatch(role.session_name):
        allowed = "2 to 64 letters, digits and characters of _+=,.@-"
        yield IdentityFault(f"{path}.sessionName", _sized(role.session_name), allowed, reason)


def _text(value: str) -> str:
    return f'"{value[:40]}"' if value else "nothing"


def _sized(value: str) -> str:
    return f"a text of {len(value)} characters" if value else "nothing"
