"""Families of the second exam, written apart from the estimates; of development since their figures were read."""

from __future__ import annotations

from repbm.domains.worlds._second_exam._airways import half_seen_airways
from repbm.domains.worlds._second_exam._coupons import coupon_mailing
from repbm.domains.worlds._second_exam._credit import credit_lines
from repbm.domains.worlds._second_exam._fishery import fish_stock
from repbm.domains.worlds._second_exam._forbidden import forbidden_dose
from repbm.domains.worlds._second_exam._frailty import unseen_frailty
from repbm.domains.worlds._second_exam._glucose import glucose_swings
from repbm.domains.worlds._second_exam._grades import wear_grades
from repbm.domains.worlds._second_exam._heating import heating_loop
from repbm.domains.worlds._second_exam._irrigation import season_irrigation
from repbm.domains.worlds._second_exam._overhaul import rare_overhaul
from repbm.domains.worlds._second_exam._prices import regime_prices
from repbm.domains.worlds._second_exam._queue import counter_queue
from repbm.domains.worlds._second_exam._robot import slipping_robot
from repbm.domains.worlds._second_exam._sepsis import sepsis_ward
from repbm.domains.worlds._second_exam._stock import lead_time_stock
from repbm.domains.worlds._second_exam._storms import storm_claims
from repbm.domains.worlds._second_exam._tariff import stepped_tariff
from repbm.domains.worlds._second_exam._triage import triage_desk
from repbm.domains.worlds._second_exam._tutoring import surveyed_pupils
from repbm.domains.worlds._world import Families

SECOND_EXAM: Families = {
    "heating-loop": heating_loop,
    "fish-stock": fish_stock,
    "sepsis-ward": sepsis_ward,
    "coupon-mailing": coupon_mailing,
    "wear-grades": wear_grades,
    "glucose-swings": glucose_swings,
    "slipping-robot": slipping_robot,
    "surveyed-pupils": surveyed_pupils,
    "rare-overhaul": rare_overhaul,
    "credit-lines": credit_lines,
    "unseen-frailty": unseen_frailty,
    "season-irrigation": season_irrigation,
    "storm-claims": storm_claims,
    "lead-time-stock": lead_time_stock,
    "half-seen-airways": half_seen_airways,
    "forbidden-dose": forbidden_dose,
    "stepped-tariff": stepped_tariff,
    "triage-desk": triage_desk,
    "regime-prices": regime_prices,
    "counter-queue": counter_queue,
}

__all__ = ["SECOND_EXAM"]
