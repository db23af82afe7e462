"""Tables: TSV, CSV and KGTK, with the files beside them."""
