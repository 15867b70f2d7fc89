"""The resource types of `dns.appthrust.io`, their conditions and the CustomResourceDefinitions made from them."""
