"""`python -m bench.engine`; what is run lives in a module that fresh processes can import."""

from bench.engine.run import main

if __name__ == "__main__":
    main()
