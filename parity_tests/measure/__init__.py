"""Measurements: accuracy, time, memory."""
