"""`python -m saltus` is `saltus`."""

from saltus.cli import main

main()
