"""`python -m graveler_gateway`: the S3 gateway of a deployment."""

import sys

from graveler_gateway.server.program import main

sys.exit(main())
