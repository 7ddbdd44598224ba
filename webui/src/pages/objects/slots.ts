/** A few of many at a time: whoever takes a slot works, and the others wait in order. */

export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  /** Run `act` in a slot, unless the signal is aborted before one is free. */
  async run<Result>(signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>(resolve => this.waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await act();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }
}
