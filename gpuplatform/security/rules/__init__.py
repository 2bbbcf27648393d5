"""One module a rule's subject, each with a table from type to rule."""
