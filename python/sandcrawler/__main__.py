"""`python -m sandcrawler` is the command `sandcrawler`."""

from sandcrawler.cli import main

if __name__ == "__main__":
    main()
