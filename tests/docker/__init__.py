"""The image and the compose files with a real engine: `make test-docker`."""
