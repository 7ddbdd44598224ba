/** Requests on many things: what is asked for while one is on its way shares the next one. */

interface Asking<Asked, Answer> {
  asked: Asked;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

export class Together<Asked, Answer> {
  private readonly waiting: Asking<Asked, Answer>[] = [];
  private isSending = false;

  /** `send` returns the answers in the order of what is asked. */
  constructor(private readonly send: (asked: Asked[]) => Promise<Answer[]>) {}

  ask(asked: Asked): Promise<Answer> {
    const asking = new Promise<Answer>((resolve, reject) => {
      this.waiting.push({ asked, resolve, reject });
    });
    if (!this.isSending) this.sendAll();
    return asking;
  }

  private async sendAll(): Promise<void> {
    this.isSending = true;
    await null; // what is asked for at the same moment shares the first request
    while (this.waiting.length) {
      const group = this.waiting.splice(0);
      try {
        const answers = await this.send(group.map(({ asked }) => asked));
        for (const [index, { resolve }] of group.entries()) resolve(answers[index] as Answer);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.isSending = false;
  }
}
