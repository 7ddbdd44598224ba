"""Export of a branch: what takes one invocation of the export function too long."""
