/** The last lines of a program's output, without control sequences: shown to a person as the cause of a crash. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { defaultPolicy } from '../../kernel/policy.ts';
import { shown } from '../../kernel/text.ts';

const BYTES = defaultPolicy.agentOutput.lastBytes;
const LINES = defaultPolicy.agentOutput.lastLines;
const LINE_LENGTH = 300;

/** `from` is where this turn's output begins. Empty when there is none, or when it cannot be read. */
export function lastOutput(log: string, from: number): string {
  const text = readEnd(log, from);
  const lines = text
    .replaceAll(ESCAPES, '')
    .split(/\r*\n/)
    // A carriage return overwrites the line, as progress bars do.
    .map((line) => line.slice(line.lastIndexOf('\r') + 1).trimEnd())
    .filter((line) => line !== '');
  return lines
    .slice(-LINES)
    .map((line) => shown(line.length > LINE_LENGTH ? `…${line.slice(-LINE_LENGTH)}` : line))
    .join('\n');
}

/** Colours, cursor movements, titles. */
const ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()#][\s\S]|[ -/]*[0-~])/g;

function readEnd(log: string, from: number): string {
  let file: number;
  try {
    file = openSync(log, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(file);
    const start = Math.max(from, size - BYTES);
    const buffer = Buffer.alloc(Math.max(0, Math.min(size - start, BYTES)));
    const length = readSync(file, buffer, 0, buffer.length, start);
    // It may begin in the middle of a character.
    const whole = buffer.findIndex((byte) => (byte & 0xc0) !== 0x80);
    return buffer.toString('utf8', start > from ? Math.max(0, whole) : 0, length);
  } finally {
    closeSync(file);
  }
}
