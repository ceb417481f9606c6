"""Objectives with several predictions a sample: classes, targets."""
