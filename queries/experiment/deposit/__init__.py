"""An experiment as a deposit: an RO-Crate with Croissant metadata, and its run checked again (B18)."""
