"""The part of docs/outcome.md that says how the default is judged. It was written before anything was judged."""

from __future__ import annotations

from judging_tables import CLASSES, NUMBERS
from outcome_contestants import FEW_COLUMNS, JUDGED
from outcome_judgement import LOWEST_R2, SIZES
from outcome_scoring import FOLDS, LIMIT, MODELS, MOST_TRAINING_ROWS, REPEATS, TREES
from outcome_tables import MOST_COLUMNS, MOST_LEVELS
from page_section import wrapped

# The tables that the default was chosen on. No judging table is among them in another form.
TUNING_CLASSES = (
    *("Arrhythmia", "CNAE-9", "DBWorld", "Dexter", "Internet Ads", "Lung Cancer", "Madelon", "NCI", "80 % zeros"),
    *("breast cancer + noise", "exclusive or", "few rows", "handwritten digits", "independent", "mixed kinds"),
    *("redundant", "skewed", "wine + noise", "breast-cancer", "ecoli", "penguins", "pima-indians-diabetes", "titanic"),
    *("wheat-seeds", "contraceptive", "crx", "german", "letter", "mushroom", "penbased", "ring", "satimage", "sonar"),
    *("splice", "vehicle", "wisconsin"),
)
TUNING_NUMBERS = (
    *("Friedman 1", "Friedman 2", "Friedman 3", "diabetes + noise", "products", "abalone", "bike", "breastcancer"),
    *("concreteslump", "diamonds", "elevators", "energy", "forest", "gas", "keggdirected", "mpg", "parkinsons", "pol"),
    *("protein", "pumadyn32nm", "skillcraft", "sml", "stock", "taxis", "winequality-red"),
)
LEVEL = 0.05


def protocol() -> list[str]:
    return [
        "## The protocol",
        wrapped(
            "This section was written, and recorded in the history of this repository, before any contestant was run "
            "on a judging table. The default is judged once; nothing is tuned afterwards."
        ),
        "\n".join(wrapped(f"* {sentence}", "  ") for sentence in _sentences()),
    ]


def _sentences() -> list[str]:
    sizes = f"{', '.join(map(str, SIZES[:-1]))} and {SIZES[-1]}"
    return [
        f"**Tuning tables**, which the default was chosen on: {len(TUNING_CLASSES)} with classes "
        f"({', '.join(TUNING_CLASSES)}) and {len(TUNING_NUMBERS)} with a number to predict "
        f"({', '.join(TUNING_NUMBERS)}).",
        f"**Judging tables**: {len(CLASSES)} with classes ({', '.join(one.name for one in CLASSES)}) and "
        f"{len(NUMBERS)} with a number to predict ({', '.join(one.name for one in NUMBERS)}). They come from packages "
        "that ship data and are built by `benchmarks/judging_tables.py`. Nothing was evaluated on them before.",
        f"**Sizes**: {sizes} features; a quarter, a half and three quarters of the columns of a table that has at most "
        f"{SIZES[-1]}.",
        f"**Splits**: {FOLDS} folds, {REPEATS} times with other seeds, stratified by class. Features are selected from "
        f"the training rows of each split alone, at most {MOST_TRAINING_ROWS} of them; all rows of the test fold are "
        "predicted.",
        f"**Models** ({', '.join(MODELS)}): logistic regression (ridge regression for numbers), 5 nearest neighbours, "
        f"an SVM with the RBF kernel and a forest of {TREES} trees. They get medians for missing values, scaled "
        f"numbers, and one column of zeros and ones for each of the {MOST_LEVELS} most frequent levels of a category.",
        f"**Contestants**: {', '.join(f'`{one.name}`' for one in JUDGED)}. `default` is `SubsetSelector(k)` with the "
        'criterion "distinct", chance correction, the measure "auto" and `max_shared=0.9`; `earlier default` is JMI '
        "by plain counts. Both get the data frame as pandas reads it from the file, and the task. The others get "
        "medians for missing values, standardised columns and categories as zeros and ones; a category is selected "
        "where its first level is. `SequentialFeatureSelector` adds one feature at a time by the score of a linear "
        f"model in 3 folds; it takes part on tables of at most {FEW_COLUMNS} columns without categories, since it "
        "takes too long on others. ReliefF and MultiSURF would take too long on most of the tables and are left out. "
        "RFECV selects what RFE selects when the number of features is given.",
        f"**Wide tables** of more than {MOST_COLUMNS} columns are reduced to the {MOST_COLUMNS} whose values have most "
        f"entropy. A contestant that takes more than {LIMIT} s of processor time for a split is left out there.",
        "**Primary figure for classes**: the accuracy of a table is the mean over sizes, models and splits. The "
        "default is *ahead of* a contestant, or *behind* it, if Wilcoxon's signed-rank test over the tables where both "
        f"ran gives p < {LEVEL} (two-sided, not adjusted for the number of contestants) and its mean is higher, or "
        "lower. Otherwise it is called *as good as* that contestant.",
        f"**Primary figure for numbers**: the R2 of a table is the mean over sizes, models and splits, where each R2 "
        f"below {LOWEST_R2:.0f} counts as {LOWEST_R2:.0f}. Contestants are ranked on each table, and compared by "
        "their mean rank over the tables; only those that ran on every table are ranked. The default is to be the "
        f"first, or not different from the first by Wilcoxon's test (p >= {LEVEL}).",
        "**Losses**: every table where the default is more than 3 points of accuracy or R2 below the best contestant "
        "is listed.",
    ]
