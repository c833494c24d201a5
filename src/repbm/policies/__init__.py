"""Policies: what is evaluated. Anything that gives actions or probabilities for a batch of observations."""

from repbm.policies._base import Choices, Decisions, ObservationPolicy, Policy
from repbm.policies._behavior import LearnedBehavior, learn_behavior
from repbm.policies._callable import CallablePolicy
from repbm.policies._columns import ActionColumn, LoggedProbabilityColumn, ProbabilityColumns
from repbm.policies._imitation import Imitation, imitate
from repbm.policies._manners import check_repeats
from repbm.policies._named import Form, NamedPolicy, form_of, function_policy
from repbm.policies._neighbors import NeighborPolicy
from repbm.policies._network import NetworkPolicy, forward
from repbm.policies._reliability import Reliability, reliability
from repbm.policies._tabular import TabularPolicy
from repbm.policies._wrappers import FirstColumns, Greedy, Softened, Widened, epsilon_greedy

__all__ = [
    "ActionColumn",
    "CallablePolicy",
    "Choices",
    "Decisions",
    "FirstColumns",
    "Form",
    "Greedy",
    "Imitation",
    "LearnedBehavior",
    "LoggedProbabilityColumn",
    "NamedPolicy",
    "NeighborPolicy",
    "NetworkPolicy",
    "ObservationPolicy",
    "Policy",
    "ProbabilityColumns",
    "Reliability",
    "Softened",
    "TabularPolicy",
    "Widened",
    "check_repeats",
    "epsilon_greedy",
    "form_of",
    "forward",
    "function_policy",
    "imitate",
    "learn_behavior",
    "reliability",
]
