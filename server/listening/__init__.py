"""What takes queries from clients: sockets of every transport, and the connections on them."""
