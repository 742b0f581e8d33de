"""Mechanisms, references and random states that the tests share."""
