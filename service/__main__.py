"""python -m service = loccit."""

from service.cli import main

if __name__ == "__main__":
    main()
