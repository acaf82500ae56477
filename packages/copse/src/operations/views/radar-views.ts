/** What `--json` prints about live branches that conflict or overlap. */

import type { Finding, Pair, Sighting, PairVerdict } from '../../radar/rules/radar.ts';
import { time } from '../../kernel/time.ts';

export function radarView({ at, branches, pairs, omitted }: Sighting) {
  return { at: time(at), branches, pairs: pairs.map(pairView), omitted };
}

/** One pair, from the view of one of its tasks. */
export function findingView({ other, verdict, since }: Finding) {
  return { task: other, ...verdictView(verdict), since: time(since) };
}

function pairView({ tasks, tips, verdict, since }: Pair) {
  return { tasks, tips, ...verdictView(verdict), since: time(since) };
}

function verdictView(verdict: PairVerdict) {
  const { files, omitted } = 'files' in verdict ? verdict : { files: [], omitted: 0 };
  return { verdict: verdict.kind, files, omittedFiles: omitted };
}
