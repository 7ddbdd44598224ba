/** The height of a row of a list; the style sheets have it as `--row`. */
export const ROW_PX = 41;
