/** Numbers and times as people read them. */

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** `1.5 MB`: decimal units, as S3 bills. */
export function sizeText(size_bytes: number): string {
  let size = size_bytes;
  let unit = 0;
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits)} ${UNITS[unit]}`;
}

// The page is in English, whatever the browser prefers.
const LOCALE = 'en';
const integers = new Intl.NumberFormat(LOCALE);

/** `1,234`. */
export function integerText(count: number): string {
  return integers.format(count);
}

/** `1,234 objects`, `1 object`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${integerText(count)} ${count === 1 ? one : many}`;
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86400],
  ['month', 30 * 86400],
  ['week', 7 * 86400],
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });

/** `3 days ago`, `in 2 hours`. Times are Unix seconds. */
export function agoText(time_s: number, now_s = Date.now() / 1000): string {
  const apart_s = time_s - now_s;
  for (const [unit, unit_s] of STEPS) {
    if (Math.abs(apart_s) >= unit_s) return relative.format(Math.trunc(apart_s / unit_s), unit);
  }
  return Math.abs(apart_s) < 10 ? 'just now' : relative.format(Math.trunc(apart_s), 'second');
}

const dates = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
const moments = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });

export function dateText(time_s: number): string {
  return dates.format(time_s * 1000);
}

export function momentText(time_s: number): string {
  return moments.format(time_s * 1000);
}

/** Return the text with a mark for each character that turns the direction: it could make a name look like another one. */
export function visible(text: string): string {
  return text.replace(/\p{Bidi_Control}/gu, found => `⟨U+${codeOf(found)}⟩`);
}

/** The code of a character, as `202E`. */
export function codeOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
}

/** Return the first line of a commit's message, as a page shows it. */
export function titleOf({ message }: { message: string }): string {
  return visible(message.split('\n')[0] ?? '') || 'No message';
}

/** Return whether the ref is a whole commit ID, and so no branch. */
export function isCommitId(ref: string): boolean {
  return /^[0-9a-f]{64}$/.test(ref);
}

/** The first characters of an ID, enough to tell it from its neighbours. */
export function shortId(id: string): string {
  return /^[0-9a-f]{20,}$/.test(id) ? id.slice(0, 12) : id;
}
