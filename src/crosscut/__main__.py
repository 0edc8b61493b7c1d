"""`python -m crosscut` is the command `crosscut`."""

from crosscut.cli import main

if __name__ == "__main__":
    main()
