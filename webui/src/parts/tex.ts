/** TeX's maths as a tree of MathML, which browsers draw: fractions, roots, scripts, matrices and the usual symbols. */

export interface MathNode {
  /** An element of MathML. */
  tag: string;
  text?: string;
  children?: MathNode[];
}

const IDENTIFIERS =
  'alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ ' +
  'lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω ' +
  'Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω ' +
  'ell ℓ hbar ℏ infty ∞ partial ∂ nabla ∇ emptyset ∅ aleph ℵ Re ℜ Im ℑ % % $ $ # # _ _ & &';
const OPERATORS =
  'cdot ⋅ times × div ÷ pm ± mp ∓ ast ∗ circ ∘ oplus ⊕ otimes ⊗ cap ∩ cup ∪ setminus ∖ wedge ∧ vee ∨ neg ¬ ' +
  'leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ approx ≈ sim ∼ simeq ≃ equiv ≡ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ ni ∋ ' +
  'subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ forall ∀ exists ∃ to → rightarrow → leftarrow ← Rightarrow ⇒ ' +
  'Leftarrow ⇐ leftrightarrow ↔ Leftrightarrow ⇔ implies ⟹ iff ⟺ mapsto ↦ mid ∣ parallel ∥ perp ⊥ ' +
  'ldots … cdots ⋯ dots … vdots ⋮ ddots ⋱ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lVert ‖ ' +
  'rVert ‖ Vert ‖ vert | lvert | rvert | { { } } | ‖ int ∫ oint ∮ iint ∬ prime ′ top ⊤ star ⋆ dagger †';
/** Their limits are above and below them. */
const LIMITED =
  'sum ∑ prod ∏ bigcup ⋃ bigcap ⋂ coprod ∐ lim lim max max min min sup sup inf inf arg arg argmax argmax argmin argmin';
const ACCENTS =
  'hat ^ widehat ^ bar ¯ overline ¯ vec → tilde ~ widetilde ~ dot ˙ ddot ¨ overrightarrow →';
const FUNCTIONS =
  /^(sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|sinh|cosh|tanh|log|ln|exp|det|dim|ker|gcd|Pr|deg|hom)$/;
const WORDS = /^(text|textbf|textit|textrm|mathrm|operatorname|mathit|mathsf|mathtt)$/;
/** Where Unicode's alphabets begin, the small letters after the capital ones. */
const ALPHABETS: Record<string, number> = {
  mathbb: 0x1d538,
  mathcal: 0x1d49c,
  mathbf: 0x1d400,
  boldsymbol: 0x1d400,
  bm: 0x1d400,
};
/** Letters that Unicode had before it had their alphabet. */
const OLD_LETTERS: Record<string, string> = {
  mathbbC: 'ℂ',
  mathbbH: 'ℍ',
  mathbbN: 'ℕ',
  mathbbP: 'ℙ',
  mathbbQ: 'ℚ',
  mathbbR: 'ℝ',
  mathbbZ: 'ℤ',
  mathcalB: 'ℬ',
  mathcalE: 'ℰ',
  mathcalF: 'ℱ',
  mathcalH: 'ℋ',
  mathcalI: 'ℐ',
  mathcalL: 'ℒ',
  mathcalM: 'ℳ',
  mathcalR: 'ℛ',
};
const SPACES =
  /^([,;:! \\]|quad|qquad|left|right|big|Big|bigg|Bigg|bigl|bigr|Bigl|Bigr|limits|nolimits|displaystyle|textstyle|nonumber|notag|middle)$/;
const FENCES: Record<string, string> = {
  pmatrix: '()',
  bmatrix: '[]',
  vmatrix: '||',
  cases: '{',
  Bmatrix: '{}',
};

function pairs(list: string): Map<string, string> {
  const words = list.split(' ');
  return new Map(words.flatMap((word, at) => (at % 2 ? [] : [[word, words[at + 1] ?? '']])));
}

const [identifiers, operators, limited, accents] = [IDENTIFIERS, OPERATORS, LIMITED, ACCENTS].map(
  pairs,
) as [Map<string, string>, Map<string, string>, Map<string, string>, Map<string, string>];

const TOKEN = /\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|\s+|./gsu;
const DEPTH_MAX = 50;

const leaf = (tag: string, text: string): MathNode => ({ tag, text });
const row = (children: MathNode[]): MathNode =>
  children.length === 1 && children[0] ? children[0] : { tag: 'mrow', children };

class Parser {
  private at = 0;
  private depth = 0;
  private readonly tokens: string[];

  constructor(tex: string) {
    this.tokens = tex.match(TOKEN) ?? [];
  }

  /** Return what is before the end, which one of these tokens is; without one, all. */
  until(...ends: string[]): MathNode[] {
    const nodes: MathNode[] = [];
    this.depth += 1;
    if (this.depth > DEPTH_MAX) throw new RangeError('TeX is nested too deep');
    for (let token = this.peek(); token !== undefined && !ends.includes(token); token = this.peek())
      nodes.push(...this.scripted());
    this.depth -= 1;
    return nodes;
  }

  private peek(): string | undefined {
    while (this.tokens[this.at]?.trim() === '') this.at += 1;
    return this.tokens[this.at];
  }

  private take(): string {
    const token = this.peek() ?? '';
    this.at += 1;
    return token;
  }

  /** Return an atom with what is above and below it. */
  private scripted(): MathNode[] {
    const isLimited = limited.has(this.peek()?.slice(1) ?? '');
    const nodes = this.atom();
    const [below, above]: MathNode[][] = [[], []];
    for (let token = this.peek(); token && /^[_^']$/.test(token); token = this.peek()) {
      this.take();
      if (token === '_') below?.push(this.argument());
      else above?.push(token === '^' ? this.argument() : leaf('mo', '′'));
    }
    const scripts = [below, above].flatMap(found => (found?.length ? [row(found)] : []));
    if (!scripts.length) return nodes;
    const names = isLimited ? ['munder', 'mover', 'munderover'] : ['msub', 'msup', 'msubsup'];
    const tag = names[scripts.length === 2 ? 2 : above?.length ? 1 : 0] ?? 'mrow';
    return [{ tag, children: [row(nodes), ...scripts] }];
  }

  /** Return a group, or one atom. */
  private argument(): MathNode {
    this.depth += 1;
    if (this.depth > DEPTH_MAX) throw new RangeError('TeX is nested too deep');
    const token = this.peek() ?? '';
    let node: MathNode;
    if (/^\d./.test(token)) {
      // Of a number, TeX takes one digit.
      node = leaf('mn', token.charAt(0));
      this.tokens[this.at] = token.slice(1);
    } else node = row(this.atom());
    this.depth -= 1;
    return node;
  }

  private group(end: string): MathNode {
    const nodes = this.until(end);
    this.take();
    return row(nodes);
  }

  /** Return the text of a group as it is. */
  private word(): string {
    if (this.peek() !== '{') return this.take();
    this.take();
    let text = '';
    for (let open = 1; this.at < this.tokens.length; ) {
      const token = this.tokens[this.at++] ?? '';
      open += token === '{' ? 1 : token === '}' ? -1 : 0;
      if (!open) break;
      text += token;
    }
    return text;
  }

  private atom(): MathNode[] {
    const token = this.take();
    if (token === '{') return [this.group('}')];
    if (token.startsWith('\\')) return this.command(token.slice(1));
    if (/^\d/.test(token)) return [leaf('mn', token)];
    if (token === '~' || token === '&' || token === '') return [];
    return [leaf(/^\p{L}/u.test(token) ? 'mi' : 'mo', token === '-' ? '−' : token)];
  }

  private command(name: string): MathNode[] {
    if (SPACES.test(name)) {
      // An invisible bracket.
      if (/^(left|right)$/.test(name) && this.peek() === '.') this.take();
      return name.startsWith('q') ? [leaf('mtext', '\u2003')] : [];
    }
    if (/^[dt]?frac$/.test(name))
      return [{ tag: 'mfrac', children: [this.argument(), this.argument()] }];
    if (name === 'sqrt') return [this.root()];
    if (name === 'begin') return [this.table()];
    if (WORDS.test(name)) {
      if (this.peek() === '*') this.take();
      return [leaf('mtext', this.word())];
    }
    const alphabet = ALPHABETS[name];
    if (alphabet !== undefined) return [inLetters(this.argument(), name, alphabet)];
    const accent = accents.get(name);
    if (accent) return [{ tag: 'mover', children: [this.argument(), leaf('mo', accent)] }];
    if (FUNCTIONS.test(name)) return [leaf('mi', name)];
    const symbol = operators.get(name) ?? limited.get(name);
    if (symbol) return [leaf('mo', symbol)];
    return [leaf('mi', identifiers.get(name) ?? `\\${name}`)];
  }

  private root(): MathNode {
    if (this.peek() !== '[') return { tag: 'msqrt', children: [this.argument()] };
    this.take();
    const degree = this.group(']');
    return { tag: 'mroot', children: [this.argument(), degree] };
  }

  /** Return the cells of an environment, in its fences. */
  private table(): MathNode {
    const name = this.word();
    if (name === 'array') this.word();
    const rows: MathNode[] = [];
    let cells: MathNode[] = [];
    for (let end = ''; end !== '\\end' && this.peek() !== undefined; ) {
      cells.push({ tag: 'mtd', children: this.until('&', '\\\\', '\\end') });
      end = this.take();
      if (end === '&') continue;
      rows.push({ tag: 'mtr', children: cells });
      cells = [];
    }
    this.word();
    const [open, close] = FENCES[name] ?? '';
    const fence = (text: string | undefined) => (text ? [leaf('mo', text)] : []);
    return row([...fence(open), { tag: 'mtable', children: rows }, ...fence(close)]);
  }
}

/** Return the maths with its letters in those of an alphabet. */
function inLetters({ text, children, ...node }: MathNode, font: string, start: number): MathNode {
  const letters = text?.replace(/[A-Za-z]/g, letter => {
    const code = letter.charCodeAt(0);
    return OLD_LETTERS[font + letter] ?? String.fromCodePoint(start + code - (code < 97 ? 65 : 71));
  });
  const inside = children?.map(child => inLetters(child, font, start));
  return { ...node, text: letters, children: inside };
}

/** Return the maths; nothing if it is nested too deep. A command that is not known stays as it is. */
export function mathOf(tex: string): MathNode | undefined {
  try {
    return { tag: 'mrow', children: new Parser(tex).until() };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
