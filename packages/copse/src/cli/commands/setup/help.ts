import { nearest } from '../../../config/problems/nearest.ts';
import { OperationFailed } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import type { CopseCommand } from '../../program/command.ts';
import { type Topic, everyCommand, topics } from '../../program/help.ts';

export async function run({ cli, program, words }: Invocation): Promise<void> {
  const command = commandOf(program, words);
  const topic = topicOf(words);
  if (words.join(' ') === 'all') {
    await cli.output.raw(everyCommand(program, program.helpColumns()));
    return;
  }
  if (command === undefined && topic === undefined) failUnknown(program, words);
  // `agents` is a command and a topic.
  command?.outputHelp();
  if (topic === undefined) return;
  const { topicText } = await import('../../program/topics.ts');
  if (command !== undefined) {
    cli.output.line();
    cli.output.line(cli.output.style('bold', `Topic ${topic}: ${topics[topic]}`));
    cli.output.line();
  }
  await cli.output.raw(topicText(topic, program.helpColumns()));
}

function commandOf(program: CopseCommand, words: readonly string[]): CopseCommand | undefined {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) return undefined;
    command = next as CopseCommand;
  }
  return command;
}

function topicOf(words: readonly string[]): Topic | undefined {
  const wanted = words.join(' ').replace(/^several /, '');
  return (Object.keys(topics) as Topic[]).find((topic) => topic === wanted);
}

const QUOTED_CHARACTERS = 60;

function failUnknown(program: CopseCommand, words: readonly string[]): never {
  const wanted = words.join(' ');
  const short = wanted.length > QUOTED_CHARACTERS ? `${wanted.slice(0, QUOTED_CHARACTERS)}…` : wanted;
  const known = [...Object.keys(topics), 'all', ...program.commands.map((one) => one.name())];
  // To read about a command changes nothing, so every one is suggested.
  const near = nearest(short, known);
  throw new OperationFailed({
    code: 'invalid',
    reason: `There is no command or topic ${JSON.stringify(short)}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
    next: [...(near === undefined ? [] : [`copse help ${near}`]), 'copse help'],
  });
}
