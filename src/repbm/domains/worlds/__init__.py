from repbm.domains.worlds._exam import EXAM
from repbm.domains.worlds._world import Families, Family, World

__all__ = ["EXAM", "Families", "Family", "World"]
