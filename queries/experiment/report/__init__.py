"""Reports of experiments: Markdown, CSV and LaTeX tables, and figures."""
