"""What other packages may build on: checks, files, kernels, parallel chunks, the solver and commands of ``dsna``.

Nothing else of ``dsna`` that is not in the reference is meant for other packages. A package adds commands by the entry
points ``dsna.commands`` (a ``typer.Typer``), kernels to compile ahead of time by ``dsna.warmup`` (a function without
arguments), and classes that model files may hold by ``dsna.containers``: subclasses of
:class:`~dsna.extend.containers.Checked`, and estimators whose ``FITTED`` is an
:class:`~dsna.extend.containers.Attributes`.
"""
