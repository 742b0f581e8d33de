"""Entry point of `python -m saltus`, which is `saltus`."""

from saltus.cli import main

if __name__ == "__main__":  # processes that a command starts import this module, too
    main()
