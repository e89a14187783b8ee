"""Small values that every room shares: secrets, URLs and origins. Pure."""
