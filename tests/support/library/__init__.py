"""Problems, records and commands for the tests of comparisons and reports."""
