"""Families of the seventh exam, written apart from the estimates; of development since their figures were read."""

from __future__ import annotations

from repbm.domains.worlds._seventh_exam._gaps import herbicide_mixes, jump_training, preterm_feeding, reservoir_gates
from repbm.domains.worlds._seventh_exam._harvests import cheese_cellar, oyster_beds, vineyard_canes
from repbm.domains.worlds._seventh_exam._hidden import bridge_inspections
from repbm.domains.worlds._seventh_exam._machines import kite_generator, loom_faults, satellite_passes
from repbm.domains.worlds._seventh_exam._once import freight_claims, ski_waxes
from repbm.domains.worlds._seventh_exam._people import aquarium_care, manuscript_rounds, tennis_serves
from repbm.domains.worlds._world import Families

SEVENTH_EXAM: Families = {
    "cheese-cellar": cheese_cellar,
    "oyster-beds": oyster_beds,
    "vineyard-canes": vineyard_canes,
    "ski-waxes": ski_waxes,
    "freight-claims": freight_claims,
    "loom-faults": loom_faults,
    "kite-generator": kite_generator,
    "satellite-passes": satellite_passes,
    "manuscript-rounds": manuscript_rounds,
    "tennis-serves": tennis_serves,
    "aquarium-care": aquarium_care,
    "reservoir-gates": reservoir_gates,
    "preterm-feeding": preterm_feeding,
    "jump-training": jump_training,
    "herbicide-mixes": herbicide_mixes,
    "bridge-inspections": bridge_inspections,
}

__all__ = ["SEVENTH_EXAM"]
