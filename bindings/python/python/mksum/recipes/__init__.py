"""Other tools' files, verified by the digests that these tools keep. The tools themselves need not be installed."""
