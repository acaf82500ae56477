/**
 * What stands behind an arrow can be pasted: a next step is a command, `command # remark`, or, where no command exists, a
 * sentence that begins with a capital letter and is printed without an arrow.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { type Argument, type CallExpression, type Expression, parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';

import { projectRoot } from './working-copy.ts';

const PROGRAMS = 'copse|git|cd|ls|less|rm|mkdir|npm|tmux|createdb|pg_dump|await';
/** A text in braces is only known when it runs. */
const COMMAND = new RegExp(String.raw`^(?:(?:${PROGRAMS})(?: |$)|\{)`);
/** `Correct it: copse config check` hides a command. */
const SENTENCE = new RegExp(String.raw`^[A-Z](?!.*[:,] (?:${PROGRAMS}) ).*\.$`, 's');

/** Functions whose arguments from this one on are next steps. */
const CALLS: ReadonlyMap<string, number> = new Map([
  ['fail', 2],
  ['refused', 2],
  ['refuse', 2],
  ['problem', 2],
  ['missing', 2],
  ['printSteps', 1],
]);
const ERRORS = /^(?:\w+Unavailable|Unavailable|BoardAway|BoardTooNew|BeyondLimits|ObjectMissing|Kind)$/;
/** Its texts are for the agent's log. */
const OTHER_ERROR = 'RuntimeUnavailable';

/** Has a function of its own named `problem`. */
const CONFIG_PROBLEMS = path.join('config', 'problems');

type Node = Argument | Expression | null | undefined;

function textsIn(node: Node): readonly string[] {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : [];
    case 'TemplateLiteral':
      return [node.quasis.map(({ value }) => value.cooked).join('{}')];
    case 'ConditionalExpression':
      return [...textsIn(node.consequent), ...textsIn(node.alternate)];
    case 'LogicalExpression':
      return textsIn(node.right);
    case 'SpreadElement':
      return textsIn(node.argument);
    case 'ParenthesizedExpression':
      return textsIn(node.expression);
    case 'ArrayExpression':
      return node.elements.flatMap(textsIn);
    default:
      return [];
  }
}

function stepsIn(code: string): readonly string[] {
  const steps: string[] = [];
  const nameOf = ({ callee }: Pick<CallExpression, 'callee'>): string => {
    const name = callee.type === 'MemberExpression' ? callee.property : callee;
    return name.type === 'Identifier' ? name.name : '';
  };
  new Visitor({
    Property({ key, value }) {
      if (
        'name' in key &&
        (key.name === 'remedy' || (key.name === 'next' && value.type === 'ArrayExpression'))
      )
        steps.push(...textsIn(value as Node));
    },
    CallExpression(call) {
      const from = CALLS.get(nameOf(call));
      if (from !== undefined) steps.push(...call.arguments.slice(from).flatMap(textsIn));
    },
    NewExpression({ callee, arguments: [, remedy] }) {
      const isUnavailable =
        callee.type === 'Identifier' && callee.name !== OTHER_ERROR && ERRORS.test(callee.name);
      if (isUnavailable) steps.push(...textsIn(remedy));
    },
    Literal({ value }) {
      if (typeof value === 'string' && /^ *→ [a-z]/i.test(value)) steps.push(value.replace(/^ *→ /, ''));
    },
  }).visit(parseSync('source.ts', code).program);
  return steps;
}

const isStep = (step: string): boolean => COMMAND.test(step) || SENTENCE.test(step);

it('each next step is a command, or a sentence', () => {
  const sources = path.join(projectRoot, 'packages', 'copse', 'src');
  const wrong = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith(CONFIG_PROBLEMS))
    .flatMap((name) =>
      stepsIn(readFileSync(path.join(sources, name), 'utf8'))
        .filter((step) => !isStep(step))
        .map((step) => `${name}: ${step}`),
    );
  expect(wrong).toEqual([]);
});

it('the guard sees prose where a command is expected', () => {
  const code = `
    fail('invalid', 'No.', 'set it in copse.yml', ...(more ? ['install tmux'] : []));
    throw new BoardUnavailable('Gone.', 'Move it away, then: copse status');
    const refusal = { reason, next: [\`read \${log}\`] };
    output.line('  → Ctrl+C in its terminal');
    refused('invalid', 'No.', 'copse list # to see them', \`git -C "\${folder}" status\`, 'Install lsof.');`;
  expect(stepsIn(code).filter((step) => !isStep(step))).toEqual([
    'set it in copse.yml',
    'install tmux',
    'Move it away, then: copse status',
    'read {}',
    'Ctrl+C in its terminal',
  ]);
});
