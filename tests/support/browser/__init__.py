"""The report page in a browser: what is measured there."""
