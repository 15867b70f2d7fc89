"""The Service source: Services of type LoadBalancer that name hostnames → EndpointRecordSets."""
