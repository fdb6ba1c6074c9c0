"""python -m fathom_fleet"""

from .command import main

if __name__ == "__main__":
    main()
