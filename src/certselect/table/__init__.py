"""Arrays, frames and files -> Table: the only room that touches a data frame."""

from certselect.table.files import read_file
from certselect.table.given import given_table
from certselect.table.model import Block, SparseBlock, Table
from certselect.table.reading import read_table

__all__ = ["Block", "SparseBlock", "Table", "given_table", "read_file", "read_table"]
