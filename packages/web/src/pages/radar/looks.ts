/** How the verdict about a pair looks. */

import type { OutputOf } from '../../api/operations.ts';

export type Radar = OutputOf<'radar.show'>;
export type Pair = Radar['pairs'][number];

export const LOOKS: Readonly<Record<Pair['verdict'], readonly [glyph: string, word: string]>> = {
  conflict: ['≠', 'conflict'],
  overlap: ['~', 'overlap'],
  pending: ['…', 'not compared yet'],
  apart: ['·', 'apart'],
};
