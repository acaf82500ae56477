import { bareNode, bundle, launcher, newRepository, run } from '../commands.ts';
import { type Result, type Row, inMs, interleave } from '../row.ts';

export const commandStart: Row = {
  name: 'start of a command',
  async measure(bench) {
    const repository = await newRepository(bench);
    const timesMs = await interleave(
      {
        node: () => run(bareNode, repository),
        launcher: () => run([launcher, '--version'], repository),
        bundle: () => run([...bundle, '--version'], repository),
      },
      { repetitions: bench.isQuick ? 15 : 50 },
    );
    const result = (what: string, ms: number): Result => ({
      what,
      measured: inMs(ms),
      against: `node -e 0: ${inMs(timesMs.node)}`,
      figure: ms / timesMs.node,
      goal: { atMost: 1.3, unit: '×' },
      limit: null,
    });
    return [result('./copse --version', timesMs.launcher), result('cli.js --version', timesMs.bundle)];
  },
};
