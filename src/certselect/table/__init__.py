"""Arrays, frames and files -> Table: the only room that touches a data frame."""

from certselect.table.files import read_file
from certselect.table.model import Block, SparseBlock, Table
from certselect.table.reading import read_table
from certselect.table.sources import open_source, read_source
from certselect.table.streams.streamed_table import StreamedTable

__all__ = ["Block", "SparseBlock", "StreamedTable", "Table", "open_source", "read_file", "read_source", "read_table"]
