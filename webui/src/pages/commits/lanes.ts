/** Gives each commit of a log its lane of the graph, row by row, so that more pages only add rows. */

/** A line of a row, from a lane at its top (0) to a lane at its bottom; half lines begin or end at the commit. */
export interface Line {
  from: number;
  to: number;
  part: 'through' | 'into' | 'out';
  colour: number;
}

export interface GraphRow {
  lane: number;
  colour: number;
  lines: Line[];
  width: number;
}

interface Lane {
  /** The commit that this lane leads to. */
  id: string;
  colour: number;
}

interface Commit {
  id: string;
  parents: readonly string[];
}

const COLOURS = 6;

/** Grows with the log: `rows` has one row for each commit that was added, in order. */
export class Lanes {
  readonly rows: GraphRow[] = [];
  private lanes: (Lane | undefined)[] = [];
  private readonly seen = new Set<string>();
  private colours = 0;

  /** Add the commits after those that were added before. */
  add(commits: readonly Commit[]): void {
    for (const commit of commits.slice(this.rows.length)) this.addOne(commit);
  }

  private freeLane(): number {
    const free = this.lanes.indexOf(undefined);
    return free < 0 ? this.lanes.length : free;
  }

  private addOne({ id, parents }: Commit): void {
    const before = [...this.lanes];
    const found = before.findIndex(lane => lane?.id === id);
    const lane = found < 0 ? this.freeLane() : found;
    const colour = before[lane]?.colour ?? this.colours++ % COLOURS;
    this.seen.add(id);
    const lines: Line[] = [];
    before.forEach((open, from) => {
      if (open?.id === id) {
        lines.push({ from, to: lane, part: 'into', colour: open.colour });
        this.lanes[from] = undefined;
      } else if (open) lines.push({ from, to: from, part: 'through', colour: open.colour });
    });
    parents.forEach((parent, at) => {
      // A log that a wrong clock put out of order shows a parent above: no line leads down to it.
      if (this.seen.has(parent)) return;
      // The first parent stays in its lane, so that a branch is straight; lanes to one commit meet there.
      const isStraight = at === 0;
      const known = this.lanes.findIndex(open => open?.id === parent);
      const to = isStraight ? lane : known >= 0 ? known : this.freeLane();
      const open = this.lanes[to] ?? {
        id: parent,
        colour: isStraight ? colour : this.colours++ % COLOURS,
      };
      this.lanes[to] = open;
      lines.push({ from: lane, to, part: 'out', colour: at === 0 ? colour : open.colour });
    });
    while (this.lanes.length && !this.lanes.at(-1)) this.lanes.pop();
    const width = Math.max(before.length, this.lanes.length, lane + 1);
    this.rows.push({ lane, colour, lines, width });
  }
}
