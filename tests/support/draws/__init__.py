"""Problems drawn at random, and points of them to judge."""
