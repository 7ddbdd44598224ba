/** Files that a user drops or chooses, with their paths inside the folders that were dropped. */

export interface Dropped {
  file: File;
  /** The path of the file inside what was dropped: `data/2026/a.csv`. */
  path: string;
}

/** Return all files of a drop, also those deep in folders. */
export async function filesOfDrop(transfer: DataTransfer): Promise<Dropped[]> {
  // The list is emptied when the event ends, so all entries are taken before the first wait.
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry());
  const found = await Promise.all(entries.map(entry => (entry ? filesOf(entry, '') : [])));
  return found.flat();
}

async function filesOf(entry: FileSystemEntry, folder: string): Promise<Dropped[]> {
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [{ file, path }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: Dropped[] = [];
  for (;;) {
    // A reader gives a hundred entries at a time, and none at its end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (!some.length) return found;
    for (const each of some) found.push(...(await filesOf(each, `${path}/`)));
  }
}

/** Return the files of an input; those of a folder keep their paths. */
export function filesOfInput(files: FileList | null): Dropped[] {
  return [...(files ?? [])].map(file => ({ file, path: file.webkitRelativePath || file.name }));
}
