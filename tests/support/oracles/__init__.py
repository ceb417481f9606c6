"""The same values by routes that share nothing with convexml."""
