"""Families of the third exam, written apart from the estimates; of development since their figures were read."""

from __future__ import annotations

from repbm.domains.worlds._third_exam._ends import job_search, kidney_graft
from repbm.domains.worlds._third_exam._fields import locust_fields, seed_trial
from repbm.domains.worlds._third_exam._late import athlete_season
from repbm.domains.worlds._third_exam._limits import air_alerts, avalanche_road
from repbm.domains.worlds._third_exam._never import drone_routes
from repbm.domains.worlds._third_exam._noise import drill_sites, sleep_diary, yacht_legs
from repbm.domains.worlds._third_exam._systems import bee_colony, canal_levels, server_rooms
from repbm.domains.worlds._third_exam._talks import support_chat
from repbm.domains.worlds._third_exam._unseen import driver_coaching, home_visits, leak_search
from repbm.domains.worlds._world import Families

THIRD_EXAM: Families = {
    "canal-levels": canal_levels,
    "bee-colony": bee_colony,
    "air-alerts": air_alerts,
    "job-search": job_search,
    "seed-trial": seed_trial,
    "support-chat": support_chat,
    "yacht-legs": yacht_legs,
    "locust-fields": locust_fields,
    "sleep-diary": sleep_diary,
    "avalanche-road": avalanche_road,
    "server-rooms": server_rooms,
    "drill-sites": drill_sites,
    "athlete-season": athlete_season,
    "driver-coaching": driver_coaching,
    "leak-search": leak_search,
    "home-visits": home_visits,
    "drone-routes": drone_routes,
    "kidney-graft": kidney_graft,
}

__all__ = ["THIRD_EXAM"]
