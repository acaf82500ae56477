/**
 * Areas: globs of the paths that a task will change. Tasks whose areas overlap run one after another, so an overlap must
 * never be missed.
 *
 * What an area means:
 * - `*` is a run of characters inside one name (dotfiles included), `?` one character, `**` anything across folders.
 *   `**` beside other characters (`src/**.ts`) crosses folders too: of the two readings in use it is the wider one.
 * - `{a,b}` is a choice, nested at will. `[abc]`, `[a-z]`, `[!a]` match one character, and also the name as it is
 *   written: `app/[id]` is a real folder in many web projects.
 * - An area whose last name holds no `*` or `?` covers that path and everything below it, because people write folders
 *   without a slash. A trailing slash means only what is below. `.` is the whole repository.
 * - Letters are compared exactly, case included, after both sides are brought to Unicode NFC.
 *
 * Each area becomes a small automaton over characters (path-automaton.ts). Two areas overlap when the product of their
 * automata accepts a well-formed path, which takes at most the product of their lengths. Overlaps are over-reported in
 * three cases: a plain file name counts as a folder too, so `README.md` meets an area of all `.sql` files anywhere; where
 * only some alternatives at the end are plain (`{a,*.ts}`), all count as plain; and NFC may join characters that two
 * patterns see apart.
 */
import {
  ANY_CHARACTER,
  complement,
  intersection,
  literalPiece,
  shareAPath,
  toAreaAutomaton,
  toAutomaton,
  type Automaton,
  type Piece,
} from './path-automaton.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';

export interface Area {
  /** Normalised; parsing it again gives the same area. */
  readonly text: string;
  /** Every path of the area begins with it. */
  readonly beginning: string;
  /** Made when it is first needed: most areas are apart by their beginnings. */
  readonly automaton: Automaton;
}

export type AreaCheck =
  | { readonly kind: 'accepted'; readonly area: Area }
  | { readonly kind: 'refused'; readonly reason: string };

export function parseArea(text: string): AreaCheck {
  const tidy = tidyPath(text.normalize('NFC').trim());
  const problem = findProblem(tidy);
  if (problem !== undefined) return { kind: 'refused', reason: problem };
  const parsed = parsePieces(Array.from(tidy));
  if ('problem' in parsed)
    return { kind: 'refused', reason: `${quote(tidy)} is not an area: ${parsed.problem}` };
  return { kind: 'accepted', area: areaOf(tidy, parsed.pieces) };
}

function areaOf(text: string, pieces: readonly Piece[]): Area {
  const [beginning = ''] = text.split(/[*?[{]/, 1);
  let automaton: Automaton | undefined;
  return {
    text,
    // `src/**` may mean the folder too.
    beginning: beginning.replace(/\/$/, ''),
    get automaton() {
      automaton ??= toAreaAutomaton(pieces);
      return automaton;
    },
  };
}

export type AreasOverlap =
  | { readonly kind: 'apart' }
  | { readonly kind: 'overlap'; readonly between: readonly [string, string] };

/** Whether a path could belong to both lists; if so, the first two areas that share one. */
export function areasOverlap(a: readonly Area[], b: readonly Area[]): AreasOverlap {
  for (const left of a) {
    for (const right of b) {
      if (mayBeginAlike(left, right) && shareAPath(left.automaton, right.automaton))
        return { kind: 'overlap', between: [left.text, right.text] };
    }
  }
  return { kind: 'apart' };
}

function mayBeginAlike({ beginning: one }: Area, { beginning: other }: Area): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** Whether a path, relative to the repository and with `/` between names, belongs to the area. */
export function areaMatches(area: Area, path: string): boolean {
  return shareAPath(area.automaton, toAutomaton(Array.from(path.normalize('NFC'), literalPiece)));
}

function tidyPath(text: string): string {
  const tidy = text
    .replace(/\/(?:\.?\/)+/g, '/')
    .replace(/^(?:\.\/)+/, '')
    .replace(/\/\.$/, '/');
  return tidy === '.' || (tidy === '' && text !== '') ? '**' : tidy;
}

function findProblem(text: string): string | undefined {
  const longest = defaultPolicy.text.areaLength;
  if (text === '') return 'An area is empty: name a path such as src/auth/**, or . for the whole repository';
  if (text.length > longest) return `An area has at most ${longest} characters; this one has ${text.length}`;
  if (/\p{Cc}/u.test(text) || !text.isWellFormed())
    return 'An area contains a control character or half a character: remove it';
  const wrong = (why: string): string => `${quote(text)} is not an area: ${why}`;
  if (text.includes('\\'))
    return wrong('write / between folders; \\ is neither a separator nor an escape here');
  if (/^(?:\/|~\/|[A-Za-z]:\/)/.test(text)) return wrong('write the path relative to the repository');
  if (text.startsWith('!')) return wrong('an area cannot exclude paths; name what the task will touch');
  if (/[@?*+!]\(/.test(text)) return wrong('write a choice as {a,b}');
  if (text.includes('[:')) return wrong('write a character class as a range, such as [a-z]');
  if (/\{[^{},/]*\.\.[^{},/]*\}/.test(text)) return wrong('write every alternative out, such as {1,2,3}');
  if (/(?:^|[/{,])\.\.?(?=$|[/},])/.test(text)) return wrong('. and .. cannot be part of it');
  return undefined;
}

type Parsed = { readonly pieces: readonly Piece[] } | { readonly problem: string };

function parsePieces(characters: readonly string[]): Parsed {
  const choices: { readonly before: Piece[]; readonly alternatives: Piece[][] }[] = [];
  let pieces: Piece[] = [];
  let at = 0;
  while (at < characters.length) {
    const character = characters[at] ?? '';
    at += 1;
    const choice = choices.at(-1);
    if (character === '*') {
      const isDouble = characters[at] === '*';
      while (characters[at] === '*') at += 1;
      pieces.push({ kind: isDouble ? 'anything' : 'run' });
    } else if (character === '?') {
      pieces.push({ kind: 'character', set: ANY_CHARACTER });
    } else if (character === '[') {
      const end = endOfClass(characters, at);
      if (end === undefined) return { problem: 'a [ is not closed in the same name' };
      pieces.push(classPiece(characters.slice(at - 1, end + 1)));
      at = end + 1;
    } else if (character === '{') {
      choices.push({ before: pieces, alternatives: [] });
      pieces = [];
    } else if (character === ',' && choice !== undefined) {
      choice.alternatives.push(pieces);
      pieces = [];
    } else if (character === '}') {
      if (choice === undefined) return { problem: 'a } closes nothing' };
      choices.pop();
      pieces = [...choice.before, ...choicePieces([...choice.alternatives, pieces])];
    } else {
      pieces.push(literalPiece(character));
    }
  }
  return choices.length > 0 ? { problem: 'a { is not closed' } : { pieces };
}

// Braces around a single alternative are part of the name, as in a shell.
function choicePieces(alternatives: readonly (readonly Piece[])[]): readonly Piece[] {
  const [only, ...others] = alternatives;
  if (only !== undefined && others.length === 0) return [literalPiece('{'), ...only, literalPiece('}')];
  return [{ kind: 'choice', alternatives }];
}

/** The index of the `]` that closes the class whose `[` is before `start`. A `]` in first place is a member. */
function endOfClass(characters: readonly string[], start: number): number | undefined {
  const first = characters[start] === '!' || characters[start] === '^' ? start + 1 : start;
  for (let at = first; at < characters.length && characters[at] !== '/'; at += 1) {
    if (characters[at] === ']' && at > first) return at;
  }
  return undefined;
}

function classPiece(written: readonly string[]): Piece {
  const isNegated = written[1] === '!' || written[1] === '^';
  const members = written.slice(isNegated ? 2 : 1, -1).map((character) => character.codePointAt(0) ?? 0);
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] ?? 0;
    const to = members[at + 2];
    if (members[at + 1] === DASH && to !== undefined) {
      ranges.push([from, to]);
      at += 2;
    } else {
      ranges.push([from, from]);
    }
  }
  const set = isNegated
    ? complement(ranges)
    : ranges.flatMap((range) => intersection([range], ANY_CHARACTER));
  return { kind: 'choice', alternatives: [[{ kind: 'character', set }], written.map(literalPiece)] };
}

const DASH = 0x2d;

function quote(text: string): string {
  return JSON.stringify(text);
}
