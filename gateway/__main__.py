"""`python -m gateway`: the S3 gateway of a deployment."""

import sys

from gateway.server.program import main

sys.exit(main())
