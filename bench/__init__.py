"""Benchmarks: figures that anybody can reproduce, each with its bar and its verdict.

Every figure comes from real processes over real sockets on this machine. Nothing here is a test.
"""
