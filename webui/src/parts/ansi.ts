/** What a terminal shows of a program's output: colours, and lines that were written over, as progress bars are. */

/** Text with the names of its looks: `bold red`. */
export interface Span {
  text: string;
  look: string;
}

const ESCAPE = '\u001b';
/** A control sequence; a title or a link; another escape; or one character. */
const PART = new RegExp(
  `${ESCAPE}\\[([0-?]*)[ -/]*([@-~])|${ESCAPE}\\][^\u0007${ESCAPE}]*(?:\u0007|${ESCAPE}\\\\)?|${ESCAPE}[ -/]*[0-~]?|[^]`,
  'gu',
);

/** By the bits of red, green and blue. Black and white have the colour of the page's text. */
const COLOURS = ['', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', ''];
const GREY = 'grey';
const CUBE = [0, 95, 135, 175, 215, 255];

/** Return the name of the nearest colour. */
function nearest(red: number, green: number, blue: number): string {
  const [least, most] = [Math.min(red, green, blue), Math.max(red, green, blue)];
  if (most - least < 40) return most > 80 && most < 200 ? GREY : '';
  const middle = (least + most) / 2;
  return COLOURS[+(red > middle) + 2 * +(green > middle) + 4 * +(blue > middle)] ?? '';
}

/** Return the name of the colour with this number in the palette of 256, which begins with the 16. */
function numbered(number: number): string {
  if (number < 16) return number === 8 ? GREY : (COLOURS[number % 8] ?? '');
  const at = number - 16;
  if (at < 216) {
    const level = (place: number) => CUBE[Math.floor(at / place) % 6] ?? 0;
    return nearest(level(36), level(6), level(1));
  }
  const grey = 8 + 10 * (at - 216);
  return nearest(grey, grey, grey);
}

interface Look {
  weight?: string;
  slant?: string;
  line?: string;
  colour?: string;
  ground?: string;
}

const LOOKS: Record<number, Look> = {
  1: { weight: 'bold' },
  2: { weight: 'faint' },
  3: { slant: 'italic' },
  4: { line: 'underline' },
  22: { weight: '' },
  23: { slant: '' },
  24: { line: '' },
};
/** What the tens of a code colour. */
const COLOURED: Record<number, 'colour' | 'ground'> = {
  3: 'colour',
  4: 'ground',
  9: 'colour',
  10: 'ground',
};

/** Return the look that a sequence of these parameters leaves. */
function lookAfter(look: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).map(Number);
  let next = look;
  for (let code = codes.shift(); code !== undefined; code = codes.shift()) {
    const [tens, digit] = [Math.floor(code / 10), code % 10];
    const side = COLOURED[tens];
    if (code === 0) next = {};
    else if (!side) next = { ...next, ...LOOKS[code] };
    else if (digit < 8) next = { ...next, [side]: numbered(tens < 9 ? digit : digit + 8) };
    else if (digit === 9) next = { ...next, [side]: '' };
    else {
      const isNumber = codes.shift() === 5;
      const [red = 0, green = 0, blue = 0] = codes.splice(0, isNumber ? 1 : 3);
      next = { ...next, [side]: isNumber ? numbered(red) : nearest(red, green, blue) };
    }
  }
  return next;
}

function nameOf({ weight, slant, line, colour, ground }: Look): string {
  return [weight, slant, line, colour, ground && `on-${ground}`].filter(Boolean).join(' ');
}

// No terminal is wider; a program may ask for any column.
const COLUMNS = 10_000;

interface Row {
  characters: string[];
  looks: string[];
}

class Screen {
  readonly rows: Row[] = [{ characters: [], looks: [] }];
  private row = 0;
  private column = 0;
  private look: Look = {};
  private name = '';

  write(character: string): void {
    if (character === '\r') this.column = 0;
    else if (character === '\b') this.column = Math.max(0, this.column - 1);
    else if (character === '\n') {
      this.row += 1;
      this.column = 0;
      if (this.row === this.rows.length) this.rows.push({ characters: [], looks: [] });
    } else if (character >= ' ' || character === '\t') this.put(character);
  }

  control(letter: string, parameters: string): void {
    const count = Number.parseInt(parameters, 10) || 0;
    const steps = Math.min(COLUMNS, count || 1);
    if (letter === 'm') {
      this.look = lookAfter(this.look, parameters);
      this.name = nameOf(this.look);
    } else if (letter === 'A') this.row = Math.max(0, this.row - steps);
    else if (letter === 'B') this.row = Math.min(this.rows.length - 1, this.row + steps);
    else if (letter === 'C') this.column = Math.min(COLUMNS, this.column + steps);
    else if (letter === 'D') this.column = Math.max(0, this.column - steps);
    else if (letter === 'K') this.erase(count);
  }

  private put(character: string): void {
    const { characters, looks } = this.rows[this.row] as Row;
    while (characters.length < this.column) {
      characters.push(' ');
      looks.push('');
    }
    characters[this.column] = character;
    looks[this.column] = this.name;
    this.column += 1;
  }

  /** Erase the line from the cursor, up to it, or whole. */
  private erase(part: number): void {
    const { characters, looks } = this.rows[this.row] as Row;
    if (part === 1) characters.fill(' ', 0, this.column);
    else {
      characters.splice(part ? 0 : this.column);
      looks.splice(part ? 0 : this.column);
    }
  }
}

/** Return the text as a terminal shows it in the end, in pieces of one look. */
export function terminalSpans(text: string): Span[] {
  const screen = new Screen();
  for (const [part, parameters, letter] of text.matchAll(PART)) {
    if (letter) screen.control(letter, parameters ?? '');
    else if (!part.startsWith(ESCAPE)) screen.write(part);
  }
  const spans: Span[] = [];
  const add = (piece: string, look: string) => {
    const last = spans.at(-1);
    if (last?.look === look) last.text += piece;
    else spans.push({ text: piece, look });
  };
  screen.rows.forEach(({ characters, looks }, row) => {
    if (row) add('\n', spans.at(-1)?.look ?? '');
    characters.forEach((character, at) => {
      add(character, looks[at] ?? '');
    });
  });
  return spans.filter(span => span.text);
}
