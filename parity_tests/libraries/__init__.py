"""What the attention functions of other libraries do."""
