"""Regression of picture labels: code shared by the studies of ages and head poses."""
