"""Carries out runs of exports that take too long for the export function."""
