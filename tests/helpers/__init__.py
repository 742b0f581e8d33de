"""What the tests share: mechanisms, references, random states."""
