"""`python -m bench.scale`; the code is in a module that other processes can import."""

from bench.scale.run import main

if __name__ == "__main__":
    main()
