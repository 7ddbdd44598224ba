import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MathNode, mathOf } from '../src/parts/tex';

/** The tree as text: `frac(1 2)`, without the `m` of the elements and the outer row. */
function shown(tex: string): string {
  const of = ({ tag, text, children = [] }: MathNode): string =>
    text ?? `${tag.slice(1)}(${children.map(of).join(' ')})`;
  return (mathOf(tex)?.children ?? []).map(of).join(' ');
}

test('scripts, fractions and roots are those of TeX', () => {
  const cases: [string, string][] = [
    ['x_i^2 + 3.14', 'subsup(x i 2) + 3.14'],
    ['x^2_i', 'subsup(x i 2)'],
    ["f'(x)", 'sup(f ′) ( x )'],
    ['e^{-x^2}', 'sup(e row(− sup(x 2)))'],
    ['\\frac{a+b}{2}', 'frac(row(a + b) 2)'],
    ['\\frac12', 'frac(1 2)'],
    ['x^23', 'sup(x 2) 3'],
    ['\\sqrt{x}\\sqrt[3]{y}', 'sqrt(x) root(y 3)'],
    ['\\sum_{i=1}^n x_i', 'underover(∑ row(i = 1) n) sub(x i)'],
    ['\\lim_{x\\to 0}', 'under(lim row(x → 0))'],
    ['\\hat{\\beta}', 'over(β ^)'],
    ['\\left(\\frac{1}{n}\\right.', '( frac(1 n)'],
  ];
  for (const [tex, expected] of cases) assert.equal(shown(tex), expected, tex);
});

test('symbols, words and alphabets are Unicode', () => {
  assert.equal(shown('\\alpha \\leq \\infty'), 'α ≤ ∞');
  assert.equal(shown('\\text{if } x \\in \\mathbb{R}^n'), 'if  x ∈ sup(ℝ n)');
  assert.equal(shown('\\operatorname*{argmax}_\\theta \\mathcal{L}'), 'sub(argmax θ) ℒ');
  assert.equal(shown('\\mathbf{Xy} \\log x \\%'), 'row(𝐗 𝐲) log x %');
  assert.equal(shown('a\\,b\\quad c'), 'a b \u2003 c');
});

test('matrices and cases are tables in their fences', () => {
  const row = (...cells: string[]) => `tr(${cells.map(cell => `td(${cell})`).join(' ')})`;
  assert.equal(
    shown('\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}'),
    `row(( table(${row('1', '0')} ${row('0', '1')}) ))`,
  );
  assert.equal(shown('\\begin{aligned} a &= b \\end{aligned}'), `table(${row('a', '= b')})`);
});

test('what is not known, or broken, still shows', () => {
  for (const tex of [
    '\\unknown{x}',
    '{',
    '}',
    'x^',
    '_',
    '\\frac',
    '\\sqrt[',
    '\\begin{',
    '\\end',
    '\\',
    '&',
    '\\begin{x}a&b',
    '\\text{a',
    '\\left',
  ])
    assert.doesNotThrow(() => shown(tex), tex);
  assert.equal(shown('\\unknown x'), '\\unknown x');
  assert.equal(mathOf('{'.repeat(100_000)), undefined);
  assert.equal(mathOf('\\begin{a}'.repeat(1_000)), undefined);
});
