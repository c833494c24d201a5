"""Shapes and types of the arithmetic are checked at run time in every test."""

from __future__ import annotations

from jaxtyping import install_import_hook

ROOMS = ("data", "policies", "estimators", "inference", "domains", "models")
install_import_hook([f"repbm.{room}" for room in ROOMS], "beartype.beartype")
