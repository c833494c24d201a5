"""Families of worlds to examine estimates with, written apart from the estimates that they examine."""

from __future__ import annotations

from repbm.domains.worlds._exam._gaps_of_place import ferry_crossings, quarry_blasts
from repbm.domains.worlds._exam._gaps_of_time import campaign_weeks, heath_burning
from repbm.domains.worlds._exam._growth import city_trees, compost_windrows, mushroom_house
from repbm.domains.worlds._exam._people import hearing_aids, order_pickers, shelter_dogs
from repbm.domains.worlds._exam._trade import cinema_screens, house_listings, parcel_lockers
from repbm.domains.worlds._exam._works import coffee_roaster, ice_rink, saw_blades
from repbm.domains.worlds._world import Families

EXAM: Families = {
    "ice-rink": ice_rink,
    "mushroom-house": mushroom_house,
    "house-listings": house_listings,
    "hearing-aids": hearing_aids,
    "parcel-lockers": parcel_lockers,
    "coffee-roaster": coffee_roaster,
    "city-trees": city_trees,
    "cinema-screens": cinema_screens,
    "compost-windrows": compost_windrows,
    "saw-blades": saw_blades,
    "order-pickers": order_pickers,
    "quarry-blasts": quarry_blasts,
    "ferry-crossings": ferry_crossings,
    "campaign-weeks": campaign_weeks,
    "heath-burning": heath_burning,
    "shelter-dogs": shelter_dogs,
}

__all__ = ["EXAM"]
