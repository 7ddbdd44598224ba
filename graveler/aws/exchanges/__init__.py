"""HTTP exchanges with stores: they end in time, and cost little processor time.

Theory of operation. A socket's time-out bounds the wait for the next byte only. A server that sends
a byte now and then extends it for ever. So an exchange has a `TimeBudget`. Time uses it up, and
bytes that pass fill it again. It ends at the deadline of the work in hand. Each wait of the socket
gets the rest of the budget. Only the resolution of a host's name is not bounded.

DynamoDB's requests and the bytes of objects go over `HttpConnection`. boto3's requests go over
urllib3, whose connections get budgets as well (`graveler.aws.boto3_timeouts`).
"""
