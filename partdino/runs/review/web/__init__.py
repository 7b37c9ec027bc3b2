"""The page of `partdino review`: a server for one person on this machine, and what it serves.

Needs Starlette and uvicorn: ``pip install 'partdino[review]'``.
"""
