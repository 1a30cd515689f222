"""Table -> CodedTable: every column as small integer codes."""

from certselect.coding.fitting import code_table
from certselect.coding.model import CodedTable, Coding, SparseCodedTable

__all__ = ["CodedTable", "Coding", "SparseCodedTable", "code_table"]
