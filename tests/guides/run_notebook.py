"""Run a notebook, and write it with the text of its outputs: `run_notebook.py FROM TO`.

It runs in an environment with nbclient, ipykernel and what the notebook imports. With the same
file twice, it renews the outputs of a notebook that changed.
"""

import sys

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode


def main() -> None:
    """Run the notebook at the first path, and write it to the second."""
    source, target = sys.argv[1:]
    notebook = nbformat.read(source, as_version=4)
    NotebookClient(notebook, kernel_name="python3").execute()
    notebook.metadata.pop("language_info")
    for cell in notebook.cells:
        cell.metadata.clear()
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [_as_text(output) for output in cell.outputs]
    nbformat.write(notebook, target)


def _as_text(output: NotebookNode) -> NotebookNode:
    if output.output_type == "stream":
        return output
    text = {"text/plain": output.data["text/plain"]}
    return nbformat.v4.new_output(output.output_type, text)


if __name__ == "__main__":
    main()
