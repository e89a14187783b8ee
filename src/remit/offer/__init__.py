"""What a model is offered: names, words, each provider's schemas, and their cost. Pure."""
