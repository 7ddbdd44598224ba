"""The JSON bodies of the API: a module for each resource, named as its routes are.

A module has the structs of the resource's requests and answers. Its functions convert between them
and engine records. `fields` and `listings` have what several resources share.

The name of a struct is its name in /openapi.json, and its docstring is the description there. An
answer always has a field without a default, because the official clients refuse an answer that
lacks it. A struct with `omit_defaults` leaves a field out while it holds its default.
"""
