"""DNS values: names, record bodies, canonical rdata, snapshots and master files.

Pure values in, pure values out: nothing here opens a socket, reads an API or keeps state. It imports nothing of ours.
"""
