import assert from 'node:assert/strict';
import { test } from 'node:test';
import { terminalSpans } from '../src/parts/ansi';

const ESC = '\u001b[';
const textOf = (text: string) =>
  terminalSpans(text)
    .map(span => span.text)
    .join('');
/** The looks of a text in one: `red:a|:b`. */
const looks = (text: string) =>
  terminalSpans(text)
    .map(span => `${span.look}:${span.text}`)
    .join('|');

test('colours and weights are looks by name', () => {
  assert.equal(looks(`a${ESC}31mb${ESC}0mc`), ':a|red:b|:c');
  assert.equal(looks(`${ESC}1;32ma${ESC}22mb${ESC}39mc`), 'bold green:a|green:b|:c');
  assert.equal(looks(`${ESC}3;4;43ma${ESC}23;24;49mb`), 'italic underline on-yellow:a|:b');
  assert.equal(looks(`${ESC}94ma${ESC}90mb${ESC}97mc${ESC}30md`), 'blue:a|grey:b|:cd');
  assert.equal(looks(`${ESC}ma${ESC}31m${ESC}mb`), ':ab');
});

test('colours of larger palettes are the nearest ones', () => {
  assert.equal(looks(`${ESC}38;5;196ma${ESC}38;5;28;1mb`), 'red:a|bold green:b');
  assert.equal(looks(`${ESC}38;5;241ma${ESC}38;5;255mb`), 'grey:a|:b');
  assert.equal(
    looks(`${ESC}38;2;250;20;240ma${ESC}48;2;0;200;210mb`),
    'magenta:a|magenta on-cyan:b',
  );
  assert.equal(looks(`${ESC}38:5:4ma`), 'blue:a');
  // What is cut off or unknown changes nothing else.
  for (const odd of ['38', '38;5', '38;9;1', '999', '5', ';;'])
    assert.match(looks(`${ESC}${odd}ma`), /a$/);
});

test('lines that were written over show as they were in the end', () => {
  assert.equal(textOf(' 10%|#\r 50%|###\r100%|####\n'), '100%|####\n');
  assert.equal(textOf('abc\rX'), 'Xbc');
  assert.equal(textOf('ab\b\bX\b\b\b\bY'), 'Yb');
  assert.equal(textOf('a\r\nb'), 'a\nb');
  assert.equal(textOf(`long line\r${ESC}Kx`), 'x');
  assert.equal(textOf(`abc${ESC}2Kd`), '   d');
  assert.equal(textOf(`abc${ESC}1Kd`), '   d');
  assert.equal(textOf(`one\ntwo${ESC}A\rONE\nTWO`), 'ONE\nTWO');
  assert.equal(textOf(`a${ESC}3Cb${ESC}2Dc`), 'a  cb');
});

test('other escapes and control characters are left out', () => {
  assert.equal(
    textOf('\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\u001b(Bc\u0000\u0007\u001b'),
    'abc',
  );
  assert.equal(textOf(`${ESC}?25la${ESC}2J${ESC}Hb`), 'ab');
  assert.equal(textOf('täg 😀\tx'), 'täg 😀\tx');
});

test('a program that asks for any place gets a near one', { timeout: 5000 }, () => {
  assert.ok(textOf(`${ESC}999999999Cx${ESC}999999999Ay${ESC}999999999Bz`).length < 20_000);
  assert.equal(textOf('\u001b]'.repeat(100_000)), '');
});
