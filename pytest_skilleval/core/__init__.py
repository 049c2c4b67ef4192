"""The pure core: values and functions over values. No subprocess, no sockets, no pytest."""
