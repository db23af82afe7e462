"""At home in the frameworks that evaluate: ragas and deepeval, a module each.

Each needs its framework, which an extra of this package installs: ``pip install
'graph-service[ragas]'``. What they share needs none of them.
"""
