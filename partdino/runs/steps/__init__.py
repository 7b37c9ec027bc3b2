"""The steps of a run over a whole collection, each with its own command; `segment` is all three.

::

    photos --> features --> store --> fit --> model
                              \\                 \\
                               \\----------------> label --> output folder
"""
