"""``python -m partdino``: the command line."""

from partdino.cli.main import main

if __name__ == "__main__":
    main()
