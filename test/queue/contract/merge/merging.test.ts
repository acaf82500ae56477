/** Candidates and trials of many kinds of histories: they are what plain git makes of them. */

import { git } from '../../../support/cli.ts';
import { type History, compareWithGit } from '../../../support/queue/merging-comparison.ts';
import { text } from '../../../support/queue/merging.ts';

const histories: Readonly<Record<string, History>> = {
  'changes of both sides in one file': (scene) => {
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('task', { 'a.txt': text({ 1: 'task\n', 2: 'again\n' }), 'new ü.txt': 'n\n' });
    scene.commit('main', { 'a.txt': text({ 10: 'main\n' }) });
  },
  'a file that the target renamed': (scene) => {
    scene.commit('task', { 'dir/c.txt': text({ 3: 'c\n', 8: 'task\n' }) });
    scene.commit('main', { 'dir/c.txt': null, 'moved/c.txt': text({ 3: 'c\n', 1: 'main\n' }) });
  },
  'a file that the task renamed': (scene) => {
    scene.commit('task', { 'dir/c.txt': null, 'moved/c.txt': text({ 3: 'c\n', 8: 'task\n' }) });
    scene.commit('main', { 'dir/c.txt': text({ 3: 'c\n', 1: 'main\n' }) });
  },
  'modes and links': (scene) => {
    scene.commit('task', { tool: { program: '#!/bin/sh\n' }, link: { link: 'a.txt' } });
    scene.commit('main', { 'b.txt': { link: 'a.txt' } });
  },
  'binary files': (scene) => {
    scene.commit('task', { bin: Buffer.from([0, 9, 9, 9, 0, 13, 10]) });
    scene.commit('main', { 'other bin': Buffer.from([0, 1]) });
  },
  'binary files that both changed': (scene) => {
    scene.commit('task', { bin: Buffer.from([0, 9]) });
    scene.commit('main', { bin: Buffer.from([0, 1]) });
  },
  'line endings': (scene) => {
    scene.commit('task', { 'crlf.txt': text({ 1: 'task\n' }).replaceAll('\n', '\r\n') });
    scene.commit('main', { 'crlf.txt': text({ 10: 'main\n' }).replaceAll('\n', '\r\n') });
  },
  'a change of what the target deleted': (scene) => {
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('main', { 'a.txt': null });
  },
  'a file in place of a folder': (scene) => {
    scene.commit('task', { dir: 'a file\n' });
    scene.commit('main', { 'b.txt': 'main\n' });
  },
  'commits that were empty from the beginning, and one that becomes so': (scene) => {
    scene.commit('task', {}, { message: 'nothing, on purpose\n' });
    scene.commit('task', { 'b.txt': 'the same\n' });
    scene.commit('task', { 'n.txt': 'n\n' });
    scene.commit('task', {}, { message: 'nothing again\n' });
    scene.commit('main', { 'b.txt': 'the same\n' });
  },
  'names and messages in other scripts': (scene) => {
    const author = 'Ødïn 林 "x" <o@exämple.invalid>';
    scene.commit(
      'task',
      { 'n.txt': 'n\n' },
      { author, message: 'añade 林\n\nbody\n\n  indented\n\n\tlast\n' },
    );
    scene.commit('main', { 'b.txt': 'main\n' });
  },
  'a message in Latin-1': (scene) => {
    const message = Buffer.from('f\xfcr\n\nB\xf6dy\n', 'latin1');
    scene.commit('task', { 'n.txt': 'n\n' }, { message, config: ['i18n.commitEncoding=ISO-8859-1'] });
    scene.commit('main', { 'b.txt': 'main\n' });
  },
  'a commit that the target has already, and went on from': (scene) => {
    const picked = scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('task', { 'n.txt': 'n\n' });
    git(scene.desk, 'checkout', '--quiet', '--detach', 'main');
    git(scene.desk, 'cherry-pick', picked);
    git(scene.desk, 'update-ref', 'refs/heads/main', 'HEAD');
    scene.commit('main', { 'a.txt': text({ 1: 'main went on\n' }) });
  },
  'nothing new in the target': (scene) => {
    scene.commit('task', { 'a.txt': text({ 1: 'task\n' }) });
    scene.commit('task', { 'a.txt': text({ 2: 'task\n' }) });
  },
};

/** What depends on how objects are named. */
compareWithGit(histories, {
  inSha256: [
    'changes of both sides in one file',
    'commits that were empty from the beginning, and one that becomes so',
    'a message in Latin-1',
  ],
});
