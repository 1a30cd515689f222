"""Everything a user can set, each thing once: its name, default, check, help text and command-line option.

Nothing heavy is imported here, so that the command line's `--help` answers at once.
"""

from certselect.settings.constraints import Constraints
from certselect.settings.container import GROUPS, Settings, all_settings
from certselect.settings.fields import About, Option
from certselect.settings.measuring import Measuring, Reading
from certselect.settings.searching import Searching

__all__ = [
    "GROUPS",
    "About",
    "Constraints",
    "Measuring",
    "Option",
    "Reading",
    "Searching",
    "Settings",
    "all_settings",
]
