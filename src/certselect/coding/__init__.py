"""Table -> CodedTable: every column as small integer codes."""

from certselect.coding.fitting import code_table
from certselect.coding.model import CodedTable, Coding

__all__ = ["CodedTable", "Coding", "code_table"]
