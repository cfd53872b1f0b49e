"""Interface for other packages: checks, files, kernels, parallel chunks, the solver and commands of ``dsna``.

Other packages should use nothing else of ``dsna`` that is not in the reference. A package adds commands by the entry
points ``dsna.commands`` (a ``typer.Typer``), kernels to compile ahead of time by ``dsna.warmup`` (a function without
arguments), and classes that model files may hold by ``dsna.containers``: subclasses of
:class:`~dsna.extend.containers.Checked`, and estimators whose ``FITTED`` is an
:class:`~dsna.extend.containers.Attributes`.
"""
