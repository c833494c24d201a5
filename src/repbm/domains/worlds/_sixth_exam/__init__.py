"""Families of the sixth exam, written apart from the estimates; of development since their figures were read."""

from __future__ import annotations

from repbm.domains.worlds._sixth_exam._gaps import crane_lifts, interpreter_desk, joint_injection, season_markdown
from repbm.domains.worlds._sixth_exam._masked import wound_dressing
from repbm.domains.worlds._sixth_exam._patients import dialysis_sessions, eye_injections, migraine_diary
from repbm.domains.worlds._sixth_exam._service import ambulance_posts, language_app
from repbm.domains.worlds._sixth_exam._trade import banner_sites, salmon_pens, venture_rounds
from repbm.domains.worlds._sixth_exam._workshop import grain_silo, kiln_glaze, line_pruning
from repbm.domains.worlds._world import Families

SIXTH_EXAM: Families = {
    "kiln-glaze": kiln_glaze,
    "grain-silo": grain_silo,
    "line-pruning": line_pruning,
    "banner-sites": banner_sites,
    "venture-rounds": venture_rounds,
    "salmon-pens": salmon_pens,
    "ambulance-posts": ambulance_posts,
    "language-app": language_app,
    "dialysis-sessions": dialysis_sessions,
    "migraine-diary": migraine_diary,
    "eye-injections": eye_injections,
    "crane-lifts": crane_lifts,
    "joint-injection": joint_injection,
    "season-markdown": season_markdown,
    "interpreter-desk": interpreter_desk,
    "wound-dressing": wound_dressing,
}

__all__ = ["SIXTH_EXAM"]
