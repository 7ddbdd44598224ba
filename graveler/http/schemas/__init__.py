"""The JSON bodies of the API: a module for each resource, named as its routes are.

A module has the structs of the resource's requests and answers, and the functions that make them
from engine records, or the reverse. The name of a struct is its name in /openapi.json. An answer
always has a field that has no default: the official clients refuse an answer without it. A struct
with `omit_defaults` leaves a field out while it holds its default.
"""
