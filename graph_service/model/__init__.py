"""The data of the project: frozen, columnar where it is large, and free of I/O."""
