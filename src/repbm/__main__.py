"""`python -m repbm`, where the program is not on the path."""

from repbm.cli import main

if __name__ == "__main__":
    main()
