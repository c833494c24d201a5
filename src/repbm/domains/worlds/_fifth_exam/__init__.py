"""Families of the fifth exam, written apart from the estimates; of development since their figures were read."""

from __future__ import annotations

from repbm.domains.worlds._fifth_exam._clinic import fever_clinic, tooth_record, ventilator_weaning
from repbm.domains.worlds._fifth_exam._farm import calf_barn, pasture_rotation, slow_nitrogen
from repbm.domains.worlds._fifth_exam._school import course_placement, reading_referral
from repbm.domains.worlds._fifth_exam._traffic import ramp_metering, tram_headways
from repbm.domains.worlds._fifth_exam._vessels import beer_fermentation, brine_tanks, cell_passages
from repbm.domains.worlds._fifth_exam._works import book_promotion, concrete_pour, turbine_sensors
from repbm.domains.worlds._world import Families

FIFTH_EXAM: Families = {
    "tram-headways": tram_headways,
    "ramp-metering": ramp_metering,
    "beer-fermentation": beer_fermentation,
    "brine-tanks": brine_tanks,
    "cell-passages": cell_passages,
    "ventilator-weaning": ventilator_weaning,
    "tooth-record": tooth_record,
    "fever-clinic": fever_clinic,
    "pasture-rotation": pasture_rotation,
    "slow-nitrogen": slow_nitrogen,
    "calf-barn": calf_barn,
    "reading-referral": reading_referral,
    "course-placement": course_placement,
    "concrete-pour": concrete_pour,
    "turbine-sensors": turbine_sensors,
    "book-promotion": book_promotion,
}

__all__ = ["FIFTH_EXAM"]
