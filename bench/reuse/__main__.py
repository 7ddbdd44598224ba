"""`python -m bench.reuse`; the code is in a module that other processes can import."""

from bench.reuse.run import main

if __name__ == "__main__":
    main()
