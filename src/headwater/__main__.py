"""`python -m headwater`."""

from headwater.cli import main

main()
