"""Roles may do for hooks what the settings name, and nothing else."""

import pytest

SIDS = {"CallHooks", "PutHookEvents", "ReadHookSecrets"}
