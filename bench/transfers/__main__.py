import sys

from bench.transfers.run import main

sys.exit(main())
