"""The endpoint app: EndpointRecordSet → conversion by the provider's API → RecordSets.

`choice` finds the zone of a hostname, `ask` has endpoints converted, `plan` decides what is wanted and `leftover` what is not (pure), `act`
writes, `controller` runs it all, `aggregation` is the conversion API of this process.
"""
