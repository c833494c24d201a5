"""Families of the fourth exam, written apart from the estimates; of development since their figures were read."""

from __future__ import annotations

from repbm.domains.worlds._fourth_exam._dosing import anesthetic_dose, anticoagulant
from repbm.domains.worlds._fourth_exam._money import charity_appeals, debt_collection, hedged_fund
from repbm.domains.worlds._fourth_exam._process import lake_algae, paper_mill
from repbm.domains.worlds._fourth_exam._records import fraud_holds, lab_panel
from repbm.domains.worlds._fourth_exam._rhythm import aquifer_pumping, bike_docks
from repbm.domains.worlds._fourth_exam._tables import relapse_stages, warehouse_cart
from repbm.domains.worlds._fourth_exam._unseen import contrast_scans, pest_resistance, physio_motivation
from repbm.domains.worlds._world import Families

FOURTH_EXAM: Families = {
    "paper-mill": paper_mill,
    "lake-algae": lake_algae,
    "anticoagulant": anticoagulant,
    "anesthetic-dose": anesthetic_dose,
    "charity-appeals": charity_appeals,
    "debt-collection": debt_collection,
    "hedged-fund": hedged_fund,
    "relapse-stages": relapse_stages,
    "warehouse-cart": warehouse_cart,
    "lab-panel": lab_panel,
    "fraud-holds": fraud_holds,
    "bike-docks": bike_docks,
    "aquifer-pumping": aquifer_pumping,
    "pest-resistance": pest_resistance,
    "physio-motivation": physio_motivation,
    "contrast-scans": contrast_scans,
}

__all__ = ["FOURTH_EXAM"]
