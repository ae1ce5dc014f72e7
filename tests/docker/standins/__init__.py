"""What takes the place of images that can't be pulled."""
