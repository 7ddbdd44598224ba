"""HTTP exchanges with stores: they end in time, and cost little processor time.

Theory of operation. A socket's time-out bounds the wait for the next byte only. A server that sends
a byte now and then extends it for ever. So an exchange has a `Patience`. Time uses it up, bytes
that pass fill it again, and it ends at the deadline of the work in hand. Each wait of the socket
gets what is left of it. Only the resolution of a host's name is not bounded.

DynamoDB's requests and the bytes of objects go over `Connection`, boto3's over urllib3, whose
connections derive from http.client's (`for_urllib3.py`).
"""
