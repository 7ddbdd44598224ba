"""`python -m bench.engine`; the code is in a module that new processes can import."""

from bench.engine.run import main

if __name__ == "__main__":
    main()
