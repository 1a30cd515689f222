"""Write docs/result-format.schema.json again, from the declaration of the file format."""

import json
from pathlib import Path

from certselect.results.format import json_schema

if __name__ == "__main__":
    path = Path(__file__).parent / "result-format.schema.json"
    path.write_text(json.dumps(json_schema(), indent=2) + "\n")
