"""The numbers that decide results, all in one place: one frozen object a purpose.

They are passed down from `evaluate`, stored with every result, and may be changed there. Those that were set by an
experiment name it; the others are conventions, and say so. None was set with a look at the truth of a world that a
result is scored on, but for those that say so (`SupportRules.smallest_part`, `NoveltyRules.neighbor`,
`FittedQRules.time_evidence`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from repbm.core._errors import InputError, nearest


@dataclass(frozen=True)
class FitRules:
    """What counts as noise, as a jump, as a stop and as exact, when a model is fitted to transitions."""

    trust: float = 30.0
    """So many effective episodes must follow the policy for the re-weighted risk of a step to count by half: fewer
    would be learned as truth with their noise. Set on CartPole and MountainCar logs of 50 to 1,024 episodes."""
    weight_limit: float = 1.0
    """No step counts more in the re-weighted risk than so many times the root of the number of episodes, as in the
    answer: the noise of one episode in it then vanishes as the log grows."""
    most_steps: int = 100_000
    """Of a longer log evenly spread episodes of so many steps are fitted: errors of coefficients are then far below
    those of the kind of model."""
    held_out_share: float = 0.1
    """The share of episodes that chooses degrees and kinds. Convention: as in the paper's split."""
    horizon_end_share: float = 0.05
    """Ends at the horizon are those of time, not of a state, if at least this share of episodes has them and none that
    comes so far goes on. Convention."""
    nearly_exact: float = 0.01
    """With a held-out error below this share of the change of state no further kind in closed form is tried: the
    paper's worlds reach it with polynomials, and kernels take ten times as long."""
    kernel_noise: float = 0.025
    """Kernels leave less than this share to noise in worlds without any (HIV): what they then miss is their own
    mistake, and is not drawn as noise."""
    kernel_gain: float = 0.03
    """Kernels must miss held-out steps by so much less than polynomials, as a share: in noisy worlds the two are often
    equal, and following the policy among kernels takes a hundred times as long. Convention."""
    noise_share: float = 0.05
    """Residuals below this share of the change of state are not drawn in rollouts. Convention."""
    local_noise: float = 2.0
    """Noise depends on the state if that betters held-out scores by so many standard errors. Convention."""
    simpler: float = 1.0
    """Of polynomials whose held-out errors differ by at most so many standard errors of the difference the one with the
    fewest terms is taken. Convention."""
    fuller_gain: float = 0.9
    """Polynomials of all terms up to a high degree are kept where they have less than this share of the squared error
    of those of selected terms: less is not worth their many coefficients. Convention."""
    jump_factor: float = 20.0
    """A step that misses by so many times the median miss is a jump, which no smooth model follows. Convention."""
    largest_jump_share: float = 0.02
    """More jumps than this are no jumps but the nature of the noise. Convention."""
    saturation_hits: int = 20
    """So many arrivals at one extreme value, to the last digit, make it a stop (MountainCar's wall)."""
    largest_saturation_share: float = 0.5
    """A value that most next states have is no stop but a constant. Convention."""
    saturation_values: int = 50
    """Only a component with so many different values can be stopped. Convention."""
    nearly_exact_reward: float = 1e-4
    """With a held-out error below this share of the largest reward no other coordinates are tried for it."""
    shown_ends: float = 0.95
    """Ends are looked for in the state after a step only if the log shows it for so large a share of them: the others
    would be missed. Convention."""
    clear_ends: float = 0.05
    """With less than this share of the log loss of one rate for all states, ends in the state after a step are clear,
    and the state before it is not tried (CartPole, MountainCar)."""
    unlike_rewards: float = 3.0
    """Steps whose next state is not logged pay like the others unless they are off by so many standard errors on
    average; if not, rewards are told by state and action alone. Convention."""
    most_reward_values: int = 12
    """Rewards with at most so many different values are drawn among these where single returns are wanted. Convention:
    counts, grades and costs of a kind; more are as good as continuous."""
    power_gain: float = 0.5
    """Powers of observations must at least halve the squared error of rewards to be preferred (HIV logs logarithms)."""


@dataclass(frozen=True)
class ChoiceRules:
    """When a table is the natural model, and how kinds of dynamics are compared on held-out episodes."""

    most_states: int = 2000
    """A log with more different states than this is no table. Convention: what dynamic programming does in a moment."""
    fewest_visits: float = 5.0
    """So many logged steps a state make a table. Convention."""
    fewest_episodes: int = 10
    """With fewer episodes nothing is compared: the first kind is taken."""
    fitted_share: float = 0.9
    """The share of episodes that the kinds are fitted to; the rest compares them. Convention."""
    steps_ahead: int = 10
    """Errors are compared so many steps ahead: kinds that are equal one step ahead differ there (HIV)."""
    most_windows: int = 4096
    """So many starting points tell the error."""
    nearly_exact: float = 0.05
    """With an error below this share of the movement no further kind is tried: a network costs half a minute."""
    little_noise: float = 0.1
    """With an error one step ahead below this share of the movement the answer is also looked for in the model: worlds
    without noise have 0.00 to 0.07 (HIV, CartPole, MountainCar), the development worlds 0.13 and more."""
    much_noise: float = 0.5
    """Where polynomials miss by more, this is not looked for: in worlds without noise they miss by up to 0.4 (HIV)."""


@dataclass(frozen=True)
class BalanceRules:
    """How much the error where the policy goes counts when `repbm` is fitted: chosen by values on held-out episodes.

    Set on 116 logs of the development worlds (50, 200 and 1,000 episodes).
    """

    strengths: tuple[float, ...] = (1.0, 3.0, 10.0)
    """Those that are compared with 0, which is `am`. Where `am` was off by less than 1.5 oracle standard errors each of
    them made it worse (0.84 to 1.44 with 1,000 episodes and 10), where it was off by more all made it better (6.5 to
    4.1)."""
    evidence: float = 1.0
    """Another strength than 0 is taken where what the log can check lies nearer to it: beyond half the way between the
    two values by so many standard errors, the usual rule for the simpler of two models. With half as many, logs on
    which `am` was right got worse (0.84 to 1.26 with 1,000 episodes), with 1 they did not (0.85)."""
    folds: int = 5
    """Every fold of the episodes is judged by what the others teach. Convention."""
    rollouts: int = 4
    """So many for each candidate from every step that is judged,"""
    most_steps: int = 1 << 18
    """but no more than so many steps of all of them, half a second: of a longer log fewer rollouts, and then steps are
    drawn in proportion to their weights."""
    alpha: float = 0.1
    """What the distance between representations counts where it is tried, with networks. Convention."""


@dataclass(frozen=True)
class NoveltyRules:
    """What counts as something that the log shows nothing like."""

    individuals: int = 256
    """So many follow the policy in the model."""
    neighbor: int = 3
    """The distance to this neighbor counts: one odd step in the log makes nothing familiar. In a table, a pair of state
    and action that the log shows less often is novel. Set after seeing verdicts and errors on three logs of the sepsis
    world."""
    usual_quantile: float = 0.99
    """The distance that all but this share of the log's own steps keep from the others is usual. Convention."""
    far: float = 2.0
    """Novel is what lies so many times as far away as is usual. Set on made-up logs, where it separated them."""
    most_states: int = 5000
    """So many states of an action are the map."""


@dataclass(frozen=True)
class SupportRules:
    """Until when a model, or importance sampling, may answer."""

    largest_precision: float = 2.6
    """The standard error of an answer may be so many times the one that as many episodes under the policy itself would
    leave; beyond, the log cannot tell. On the development worlds (201 supported answers with up to 3.2) this gives up 3
    of 121 good answers and 3 of 8 wrong ones."""
    fewest_behind_answer: float = 10.0
    """So many effective episodes must stand behind the answer at every step: of fewer nobody knows how much they vary,
    nor what they would say against what was fitted. Of 132 supported answers to development logs of 50 episodes two
    have fewer; on MountainCar answers with 1 or 2 were off by 40 to 160 oracle standard errors, and on CartPole, for a
    policy far from the log, with 2 to 7 by up to 5."""
    largest_weight_gap: float = 0.1
    """Importance weights of a step may be so far from 1 on average, where the policy leads,"""
    beyond_chance: float = 3.0
    """unless that is within so many standard errors. Convention."""
    largest_backtest_gap: float = 0.1
    """Asked about what is done now, what is fitted may be off by so many standard deviations of returns on average, and
    by five times as many in a third of the individuals, unless that is within chance (`beyond_chance`)."""
    fewest_from_start: float = 25.0
    """Episodes that follow the policy from the start are asked where there are so many effective ones. Convention, that
    of `headline.fewest_effective_episodes`."""
    largest_product_gap: float = 0.1
    """What they say may differ by so many standard deviations of returns, unless that is within chance
    (`beyond_chance`). None of 112 development logs in which they can be asked is beyond both, two are beyond chance."""
    least_alike: float = 0.01
    """It is said where fewer episodes than this share of all had as much of an action as the policy gives,"""
    fewest_alike: int = 3
    most_alike: int = 20
    """or than so many of few, and of many. Conventions: nothing is refused for it."""
    largest_hidden_correlation: float = 0.05
    """What was decided may correlate so much with what was unexpected before, given the state,"""
    beyond_chance_hidden: float = 3.5
    """unless that is within so many standard errors, of all actions together. On the development worlds hidden causes
    had 4 and more, with correlations of 0.2 to 0.3, all others at most 2.4 and 0.06."""
    beyond_chance_hidden_state: float = 1.645
    """The same where states do not hold all that matters (see `history`): something hidden is there for certain, and it
    takes little to believe that decisions went with it: one in ten of such logs is refused by chance. On confounded
    development worlds of 200 episodes 43 of 44 logs had more, of partly seen ones without a hidden cause 3 of 29."""
    beyond_chance_lasting: float = 2.0
    """Or decisions correlate more than `largest_hidden_correlation` with earlier decisions, by so many standard
    errors,"""
    beyond_chance_outcomes: float = 1.0
    """while surprises go with earlier surprises by so many. Development logs of 200 episodes, propensities taken away:
    both in 51 of 66 with a hidden cause (with what is said above 62, without it 50) and in 1 of 353 others."""
    largest_pareto_k: float = 0.7
    """From here on the mean of weights is not to be trusted (Vehtari et al. 2015-2024)."""
    fewest_effective_episodes: float = 50.0
    """Importance sampling answers from so many effective episodes on: intervals then cover nearly as they say. Below,
    they may be far too narrow, and a note says so."""
    smallest_part: float = 0.5
    """What is supported for a smaller part of a usual episode is not supported. Set after seeing verdicts and errors on
    three logs of the sepsis world."""


@dataclass(frozen=True)
class HeadlineRules:
    """Who is heard beside the answer."""

    fewest_effective_episodes: float = 25.0
    """A doubly robust estimate with so many effective episodes is heard against a model, even where weights do not hold
    to the end: it corrects the very model that answers. Convention: half of what an answer needs."""
    beyond_chance: float = 3.0
    """Two values without intervals disagree if they are so many standard errors of the mean return of the log apart.
    Convention."""


@dataclass(frozen=True)
class BacktestRules:
    """How a model is asked about episodes that it was not fitted to."""

    fitted_share: float = 0.8
    """The share of episodes that the model is fitted to. Convention."""
    fewest_episodes: int = 10
    """With fewer episodes there is no back-test."""
    most_individuals: int = 256
    """So many held-out individuals are followed, on `paths` paths each."""
    paths: int = 4
    ahead: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200)
    """The error of predicted states is told so many steps ahead."""
    beyond_chance: float = 3.0
    """A gap of so many standard errors between predicted and observed returns is more than chance. Convention."""
    beyond_chance_spread: float = 1.63
    """So many times sqrt(1 / m + 1 / k) apart are the distributions of m observed and k predicted returns by more than
    chance (Kolmogorov-Smirnov, 1 %; both begin in the same states, which makes it rarer)."""
    alike: float = 0.01
    """Returns that differ by so many standard deviations are equal there. Convention: what is fitted misses by more."""


@dataclass(frozen=True)
class SubgroupRules:
    """When groups of individuals are said to gain differently."""

    most_groups: int = 4
    fewest_individuals: int = 100
    """With fewer individuals no groups are looked for."""
    smallest_share: float = 0.1
    """No group is smaller than this share of those it is grown on. Convention."""
    significance: float = 0.05
    """Of the F test, on individuals that the groups were not grown on, that they differ at all. Convention."""


@dataclass(frozen=True)
class LogRules:
    """What the doctor finds odd about a log. All conventions, tried on made-up logs with and without each fault."""

    outlier: float = 50.0
    """So many times the distance between the quartiles away from the median is an outlier."""
    apart: float = 5.0
    """Two groups of values are apart if the gap is so many times as wide as either of them: two units?"""
    smallest_group: float = 0.01
    """The share of values that makes a group."""
    rare_action: int = 10
    """An action that fewer steps show is rare."""
    many_actions: int = 50
    """So many different actions may be doses, if they are also more than `action_share` of the steps."""
    action_share: float = 0.02
    shifted_reward: float = 0.2
    """Rewards are taken to be shifted if so much more of their variance is told by the step before."""
    few_episodes: int = 30
    """With fewer episodes intervals rest on very little."""
    heap: float = 5.0
    """Ends at the longest length are suspect if they are so many times as many as at any length near it."""
    sampled_steps: int = 50_000
    """So many evenly spread steps stand for a longer log."""


@dataclass(frozen=True)
class EncodingRules:
    """How columns of text become numbers. All conventions."""

    rare_rows: int = 10
    """A category in fewer rows is put into `other`, if it is also in less than `rare_share` of them: what it means
    cannot be learned. As for actions (`LogRules.rare_action`)."""
    rare_share: float = 0.01
    most_categories: int = 30
    """Of more categories the most frequent ones are kept, and the rest is `other`: each is a column to be fitted."""
    mostly_distinct: float = 0.5
    """A column of text with more than `most_categories` different values, and more than this share of its rows, holds
    no categories but names or remarks."""
    mostly_numbers: float = 0.5
    """A column of text of which more than this share are numbers is one of numbers, with faults."""


@dataclass(frozen=True)
class MemoryRules:
    """What an evaluation takes in memory: from more steps than fit a sample of episodes is drawn. Measured on logs of
    10^5 and 10^6 steps with 4 observations (0.65 and 1.12 GB) and of 3 * 10^5 steps with 20 (1.38 GB); rounded up."""

    program: int = 600_000_000
    """Bytes, whatever the log,"""
    step: int = 300
    """for every step,"""
    value: int = 150
    """and for every observation of a step."""
    asked_steps: int = 10_000_000
    """Of a larger log, what the sample teaches is asked about evenly spread episodes of so many steps: half a minute.
    They leave a tenth of the standard error of 10^5 steps, and more steps tell little more than what is fitted."""


@dataclass(frozen=True)
class IntervalRules:
    """How logs are resampled for intervals."""

    draws: int = 1000
    """So many resampled logs. Convention: the ends of a 95 % interval are then known to about a tenth of its width."""
    most_groups: int = 1000
    """Of a log of more episodes random groups are drawn in place of episodes, which has the same limit."""
    fewest_groups: int = 50
    """So many groups at least, however long the episodes are."""


@dataclass(frozen=True)
class BehaviorRules:
    """How the behavior is learned where the log does not say it."""

    folds: int = 5
    """Every fold of the episodes is judged by what the others teach. Convention."""
    compared_steps: int = 8_000
    """So many steps at most decide between the kinds, fewer where there are many features and actions."""
    fewest_compared_steps: int = 3_000
    given_up: float = 3.0
    """A kind that is behind the best so far by so many standard errors after two folds is given up. Convention."""
    learned_steps: int = 200_000
    """The kinds that count learn from so many steps at most."""
    least_count: float = 0.05
    """A kind that would count less in the mixture is left out. Convention."""
    evidence: float = 1.0
    """A mixture must be better than the best kind alone by so many standard errors: kinds take time. Convention."""
    bins: int = 10
    """Predicted probabilities are compared with what happened in so many bins, of `fewest_in_bin` pairs at least."""
    fewest_in_bin: int = 50


@dataclass(frozen=True)
class FittedQRules:
    """How fitted Q evaluation chooses what its regressions are."""

    folds: int = 5
    """Every fold of the episodes judges regressions on the others. Convention."""
    penalties: tuple[float, ...] = (0.0, 1e-3, 1e-2, 1e-1)
    """Those that are compared, as shares of the variance of a feature: from none, as exact worlds need, to what halves
    coefficients that the log hardly tells."""
    column_evidence: float = 3.0
    """A column counts if its features tell so many standard deviations more than chance does. Convention."""
    most_steps: int = 100_000
    """Behind the answer evenly spread episodes of so many steps teach it: what it gets wrong is corrected by all
    episodes, and how far it may be off is in the interval."""
    time_evidence: float = 2.0
    """Every number of steps left is fitted to its own steps, unless that raises held-out errors by so many standard
    errors. Set after seeing errors against the truth on CartPole and MountainCar, two logs each, and on made-up noisy
    worlds: own steps are better on cartpole-long and MountainCar, somewhat worse on cartpole-short."""
    runaway: float = 10.0
    """Values that go so many times the range of returns beyond what rewards allow feed on themselves: targets are then
    cut at every step of the log, not at a sample of them. Convention: a polynomial that only misses is nearer."""
    most_cells: int = 1 << 24
    """Of a long log at so many numbers of features, 128 MB, at the most."""
    trees: int = 40
    """Behind the answer, what polynomials miss is told by so many trees, each of half of the episodes,"""
    forest_steps: int = 20_000
    """of so many steps,"""
    smallest_leaf: int = 5
    """with so many of these a leaf at the least,"""
    most_leaves: int = 400
    """and about so many leaves at the most,"""
    most_means: int = 1 << 22
    """fewer where all of them, for all actions and numbers of steps left, would be more than this: 16 MB a critic."""
    few_trees: int = 10
    """So few trees"""
    few_steps: int = 4_000
    """of so few steps show first, in a longer log, whether there is anything to tell."""
    forest_evidence: float = 2.0
    """Trees are heard if what they say of episodes that they do not know is right by more than so many standard
    errors. On development worlds 1, 2 and 3 gave the same values but for a few. Leaves of 5 steps were a little better
    than of 10 and 20 (mean squared errors of individual values 0.76, 0.78 and more, of those without trees), 40 trees
    than 20 (0.76 and 0.79), more leaves no better."""


@dataclass(frozen=True)
class RolloutRules:
    """How often a model is followed from logged steps, for doubly robust forms, where it or the policy draws."""

    steps: int = 16
    """So many rollouts a logged step: their noise is then a small part of that of the log. In a noisy world of 1,000
    episodes DR varied with the seed by 0.21 with 1 rollout, by 0.17 with 4 and 0.04 with 16."""
    most: int = 1 << 24
    """Fewer where all of them together would take more steps than this, a dozen seconds. At least one."""
    individuals: int = 32
    """So many rollouts an individual,"""
    most_of_individuals: int = 1 << 23
    """fewer where all of them together would take more steps than this, at least one: of so many individuals each is
    known less well, and their mean, which is what the row says, better than by all rollouts of a small log."""
    most_of_answer: int = 1 << 26
    """The answer is not looked for in a nearly exact model where following the policy once from every logged step would
    take more steps than this, as polynomials count them: half a minute."""


@dataclass(frozen=True)
class PositivityRules:
    """When the policy does, in a region of states, what was hardly ever logged there. Set on the development worlds."""

    least_share: float = 0.03
    """Regions with a smaller share of the policy's own decisions are not looked at,"""
    least_meetings: float = 0.1
    """unless an episode meets them so often: what happens once in a long episode is a small share. Conventions."""
    least_probability: float = 0.02
    """An action that the policy takes with a smaller probability in a state is not its own there. Convention."""
    least_rate: float = 0.1
    """An action is logged too seldom where not even this share of the policy's own rate is plausible,"""
    significance: float = 0.01
    """at this level: 44 steps without a single use, where the policy always takes it,"""
    fewest_uses: int = 20
    """and where it was logged fewer times than this: more may be few of many, and still tell. On the development worlds
    answers that rest on 24 and 86 uses of a rare action were right."""
    most_regions: int = 16
    """A tree divides the steps at which the policy takes an action into so many regions at most,"""
    smallest_region: int = 20
    """of so many steps at least,"""
    least_gain: float = 1e-3
    """no further than squared errors of rates fall by so much: 3 % of the steps with a rate that is 0.2 lower do it."""
    sharpness: float = 0.25
    """What was done counts so much beside its rate, which is smooth: edges are where they are. Convention."""
    folds: int = 5
    """It is grown on how probable the action is: what trees of the other folds tell. Of more than `few_steps` half of
    the episodes is enough to judge the other half."""
    few_steps: int = 5_000
    trees: int = 40
    """So many trees, boosted,"""
    leaves: int = 15
    """with so many leaves each,"""
    most_steps: int = 8_000
    """taught by so many steps at most."""
    doubtful_rate: float = 0.15
    """Where these give an action less than this share of the policy's own rate, and no leaf of the tree is uncovered,
    the steps are looked at together: regions need not have straight edges. How often it was logged there decides."""
    words: int = 4
    """Where most of them are is said by a tree of so many leaves."""
    most_actions: int = 8
    """Whether, and how often, an action was done before is looked at for so many, the most frequent ones."""


@dataclass(frozen=True)
class RatioRules:
    """How it is learned how much more often the policy comes to a state. Set on the development worlds."""

    folds: int = 5
    """Every fold of the episodes is judged by what the others teach. With 2 the critics of small logs are much worse
    (clinic, 200 episodes: 8 oracle standard errors in place of 4)."""
    sweeps: int = 1
    """Further regressions: one halves the error on long episodes (60 steps, 1,000 episodes: 3.1 oracle standard errors
    without, 1.2 with one) and changes little elsewhere."""
    trees: int = 40
    """In the forest; each splits by the best of a share of the `columns`, down to leaves of `smallest_leaf` steps.
    Leaves of 5, 10 and 20 do alike."""
    columns: float = 0.7
    smallest_leaf: int = 10
    most_steps: int = 20_000
    """So many steps at most teach it."""
    prior_visits: float = 5.0
    """In a table the mean of a state and a time counts as much as the mean of the state alone after so many visits."""


@dataclass(frozen=True)
class HistoryRules:
    """When the answer looks at what came before a state. Set on the development worlds."""

    evidence: float = 1.0
    """What came before must better the prediction of what follows, given time, state and action, by so many standard
    errors on held-out episodes. On 200 episodes of worlds whose states hold all that matters the figure was at most 1.5
    and below 0 in nine of ten (82 logs); on most of those whose states do not 1 to 8."""
    certain_evidence: float = 2.0
    """From so many on something is there that states do not hold (see `support.beyond_chance_hidden_state`)."""
    leaning_evidence: float = 1.5
    """Or those who earlier did what the policy does must fare otherwise than states tell, by so many standard errors.
    Of 1, 1.5 and 2 all brought partly seen worlds nearer to the truth (200 episodes, 62 logs), most so the lower ones.
    With 1.5 one in nine of the others is taken for one: root mean square errors of those were 1.19 and then 1.17 on the
    82 logs that this was chosen with, and 1.19 and 1.27 on 29 others."""
    least_leaning: float = 0.1
    """That must be more than so many standard errors of the mean return: a policy that does what is done now differs
    from it by rounding alone. Convention."""
    column_evidence: float = 2.5
    """Then the columns are added that go with what the state does not tell by so many standard errors. Convention."""
    most_actions: int = 8
    """And what was done before, of so many actions at most: it is what the policy would change. Without it errors of
    partly seen worlds were a little larger (200 episodes, 17 logs)."""
    fewest_episodes: int = 50
    """With fewer episodes it is not looked for. Convention."""
    folds: int = 5
    """Convention."""
    most_steps: int = 20_000
    """Evenly spread episodes of so many steps tell. Convention: as for state ratios."""
    most_products: int = 300
    """Products of observations are among what the state tells up to so many features. Convention."""
    penalties: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    trees: int = 100
    """Boosted, of `leaves` leaves: what they tell of the rest is no matter of what came before. Conventions."""
    leaves: int = 15


@dataclass(frozen=True)
class IndividualRules:
    """How values, outcomes and support of individuals are told. Set on the development worlds unless said otherwise."""

    evidence: float = 2.0
    """What surprises tell of individuals beyond the critic, and what their outcomes vary by, depends on the initial
    state if that is so by this many standard errors on episodes left out. Convention."""
    fold_factor: float = 1.25
    """The variance between critics that each leave out a fold counts so many times: five folds tell little of one
    individual."""
    prior_episodes: float = 30.0
    """Outcomes have the shape of those of logged episodes that follow the policy, and of so many normal ones."""
    trees: int = 50
    """That the variance of outcomes is told by, with leaves of a tenth of the episodes,"""
    smallest_leaf: int = 20
    """and so many at least. Conventions."""
    most_steps: int = 20_000
    """So many steps at most teach what individuals can expect with what is done now. Convention."""
    neighbors: int = 50
    """An individual is refused if what the policy does first was hardly ever logged in so many of the most similar
    logged states (see `positivity` for how rare that is), or if these are far away (see `novelty`). Convention."""


@dataclass(frozen=True)
class ConfoundingRules:
    """How strong hidden causes are looked at: so many times larger or smaller odds of actions. Conventions."""

    gammas: tuple[float, ...] = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0)
    """Those that bounds are told for: what observational studies usually show."""
    largest: float = 20.0
    """Up to here it is looked for one that turns a difference around; smoking, among the strongest causes known, makes
    the odds of lung cancer some 10 to 20 times as large."""


@dataclass(frozen=True)
class DistributionRules:
    """What is told of the spread of returns under the policy, and when."""

    fewest_effective_episodes: float = 25.0
    """With fewer, the log does not tell. Convention: the worst tenth is then two or three episodes."""
    quantiles: tuple[float, ...] = (0.05, 0.25, 0.5, 0.75, 0.95)
    worst: float = 0.1
    """The mean of this share of the lowest returns is told, of the highest where less is better. Convention."""
    model_returns: int = 8192
    """So many returns are drawn in a model, spread over individuals: of 1,000 episodes that adds a twentieth to the
    error that chance leaves anyway,"""
    most_model_steps: int = 1 << 19
    """fewer where that would take more steps: half a second."""
    most_cells: int = 2000
    """For intervals, returns that differ in more ways are put into so many cells of equal weight: the bootstrap of
    quantiles is coarser than that."""


@dataclass(frozen=True)
class Thresholds:
    """Every number that decides a result, by purpose."""

    support: SupportRules = field(default_factory=SupportRules)
    novelty: NoveltyRules = field(default_factory=NoveltyRules)
    headline: HeadlineRules = field(default_factory=HeadlineRules)
    backtest: BacktestRules = field(default_factory=BacktestRules)
    subgroups: SubgroupRules = field(default_factory=SubgroupRules)
    log: LogRules = field(default_factory=LogRules)
    encoding: EncodingRules = field(default_factory=EncodingRules)
    choice: ChoiceRules = field(default_factory=ChoiceRules)
    fit: FitRules = field(default_factory=FitRules)
    balance: BalanceRules = field(default_factory=BalanceRules)
    memory: MemoryRules = field(default_factory=MemoryRules)
    intervals: IntervalRules = field(default_factory=IntervalRules)
    behavior: BehaviorRules = field(default_factory=BehaviorRules)
    ratio: RatioRules = field(default_factory=RatioRules)
    history: HistoryRules = field(default_factory=HistoryRules)
    positivity: PositivityRules = field(default_factory=PositivityRules)
    fitted_q: FittedQRules = field(default_factory=FittedQRules)
    rollouts: RolloutRules = field(default_factory=RolloutRules)
    individuals: IndividualRules = field(default_factory=IndividualRules)
    confounding: ConfoundingRules = field(default_factory=ConfoundingRules)
    distribution: DistributionRules = field(default_factory=DistributionRules)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; `of` makes the same thresholds of them."""
        return {
            purpose: {name: list(value) if isinstance(value, tuple) else value for name, value in rules.items()}
            for purpose, rules in asdict(self).items()
        }

    @classmethod
    def of(cls, given: Mapping[str, Mapping[str, Any]]) -> Thresholds:
        """The thresholds that differ from the usual ones as given: purpose, then field."""
        result = cls()
        for purpose, values in given.items():
            _known(purpose, result, "thresholds")
            rules = getattr(result, purpose)
            for name, value in values.items():
                _known(name, rules, f"threshold in {purpose}")
                usual = getattr(rules, name)
                rules = replace(rules, **{name: _like(value, usual, f"{purpose}.{name}")})
            result = replace(result, **{purpose: rules})
        return result


def _known(name: str, rules: Any, what: str) -> None:
    names = [each.name for each in fields(rules)]
    if name not in names:
        meant = nearest(name, names)
        fix = f"did you mean '{meant}'?" if meant else f"use one of {', '.join(names)}"
        raise InputError(f"there is no {what} '{name}'", fix=fix)


def _like(value: Any, usual: Any, where: str) -> Any:
    """The value as the kind of number that the usual one is."""
    if isinstance(usual, tuple) and isinstance(value, list | tuple):
        return tuple(value)
    try:
        if isinstance(usual, int) and float(value) != int(value):
            raise ValueError
        return type(usual)(value)
    except (TypeError, ValueError):
        kind = "a whole number" if isinstance(usual, int) else "a number"
        raise InputError(f"{where} = {value!r}", fix=f"give {kind}, such as {usual}") from None
