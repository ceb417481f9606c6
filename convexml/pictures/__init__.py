"""The one look of all pictures, and the pictures of losses and penalties."""
