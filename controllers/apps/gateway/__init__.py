"""The Gateway source: Gateways with the hostnames of their accepted HTTPRoutes → EndpointRecordSets (Gateway API, v1)."""
