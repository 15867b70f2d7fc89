"""What a hosted ZoneClass has to say for itself.

Pure. Whose class it is and whether its Provider fits is judged for every provider alike, before.
"""

from __future__ import annotations

from controllers.api.verdict import Verdict
from controllers.api.zone_class import ZoneClass
from controllers.ledger.class_rule import invalid_parameters, object_to_identity
from controllers.providers.hosted.parameter_rule import parse_parameters
from controllers.providers.hosted.parameters import Parameters


def judge_parameters(zone_class: ZoneClass) -> Parameters | Verdict:
    """Return the parameters of a class in the storage version, or what is wrong with it."""
    if objection := object_to_identity(zone_class):
        return objection
    parameters = parse_parameters(zone_class.spec.parameters)
    return parameters if isinstance(parameters, Parameters) else invalid_parameters(parameters)
