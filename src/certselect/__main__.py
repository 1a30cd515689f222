"""`python -m certselect` is the command line."""

from certselect.cli import main

if __name__ == "__main__":  # whoever imports every module runs nothing
    main()
