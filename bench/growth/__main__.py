"""`python -m bench.growth`; the code is in a module that other processes can import."""

from bench.growth.run import main

if __name__ == "__main__":
    main()
