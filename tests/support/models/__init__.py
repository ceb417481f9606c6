"""Samples and statements that tests of one model share."""
