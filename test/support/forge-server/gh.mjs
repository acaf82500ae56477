#!/usr/bin/env node
// GitHub's command line program, as far as Copse uses it: the flags it has, the way it prints, the codes it ends with. What it
// does not know is an error, as it is there. It reaches the forge of the tests: FORGE_API, with the token FORGE_TOKEN.

import { appendFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const [command, ...rest] = process.argv.slice(2);
const { FORGE_API, FORGE_TOKEN, FORGE_GH_LOG, GH_PROMPT_DISABLED } = process.env;
if (FORGE_GH_LOG)
  appendFileSync(FORGE_GH_LOG, `${JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd() })}\n`);
if (GH_PROMPT_DISABLED !== '1') end('gh would ask a question without a terminal');
if (command === 'auth') auth(rest);
else if (command === 'api') await api(rest);
else end(`unknown command "${command}" for "gh"`);

function auth([part, ...argv]) {
  const { hostname } = flags(argv, { hostname: 'value' });
  if (part !== 'token') end(`unknown command "${part}" for "gh auth"`);
  if (!FORGE_TOKEN) end(`no oauth token found for ${hostname}`);
  process.stdout.write(`${FORGE_TOKEN}\n`);
}

async function api(argv) {
  const known = { hostname: 'value', method: 'value', include: 'flag', header: 'value', input: 'value' };
  const { words, method = 'GET', include, header, input } = flags(argv, known);
  if (words.length !== 1) end(`accepts 1 arg(s), received ${words.length}`);
  const body = input === '-' ? await text(process.stdin) : undefined;
  const [name, ...value] = header?.split(':') ?? [];
  const response = await fetch(`${FORGE_API}/${words[0]}`, {
    method,
    headers: { authorization: `Bearer ${FORGE_TOKEN}`, ...(header && { [name]: value.join(':').trim() }) },
    ...(body !== undefined && { body }),
  }).catch(() =>
    end('error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com'),
  );
  if (include) {
    process.stdout.write(`HTTP/2.0 ${response.status} ${response.statusText}\n`);
    for (const [key, told] of [...response.headers].toSorted()) process.stdout.write(`${key}: ${told}\r\n`);
    process.stdout.write('\r\n');
  }
  const answer = await response.text();
  process.stdout.write(answer);
  if (response.status <= 299) return;
  let message = '';
  try {
    message = JSON.parse(answer).message;
  } catch {
    // Not every error is JSON.
  }
  end(message ? `${message} (HTTP ${response.status})` : `HTTP ${response.status}`);
}

function flags(argv, known) {
  /** @type {{ words: string[], [flag: string]: any }} */
  const found = { words: [] };
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at];
    if (!word.startsWith('-') || word === '-') {
      found.words.push(word);
      continue;
    }
    const name = word.slice(2);
    if (!word.startsWith('--') || !Object.hasOwn(known, name)) end(`unknown flag: ${word}`);
    found[name] = known[name] === 'flag' ? true : argv[(at += 1)];
  }
  return found;
}

function end(message) {
  process.stderr.write(`gh: ${message}\n`);
  process.exit(1);
}
