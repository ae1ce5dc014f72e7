"""A real small model behind a real server. It answers badly, which is the point: the laws must hold with it."""
