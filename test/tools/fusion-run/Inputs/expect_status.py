"""expect_status.py N command...: succeeds if the command's exit status is N."""

import subprocess
import sys

status = subprocess.call(sys.argv[2:])
if status != int(sys.argv[1]):
    sys.exit("exit status %d, %s is expected" % (status, sys.argv[1]))
