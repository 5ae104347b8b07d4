"""How the embedded reader is made. Not shipped in the wheel; see README.md beside this file."""
