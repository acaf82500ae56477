/** Pause and resume. */

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { Act } from '../../parts/act.tsx';
import type { Queue } from './page.tsx';
import styles from './queue.module.css';

export function Controls({ queue: { target, paused } }: { readonly queue: Queue }) {
  const to = `--target ${shellWord(target)}`;
  return (
    <div className={styles.buttons}>
      {paused.land === null && (
        <Act
          name="queue.pause"
          input={{ target, land: true }}
          label="Pause landing"
          command={`copse queue pause ${to}`}
          done={() => ({
            text: `Nothing lands on ${target} until you resume.`,
            next: [`copse queue resume ${to}`],
          })}
        />
      )}
      {paused.accept === null && (
        <Act
          name="queue.pause"
          input={{ target, accept: true }}
          label="Accept no new tasks"
          command={`copse queue pause --accept ${to}`}
          done={() => ({
            text: `Tasks that join the queue of ${target} from now on wait.`,
            next: [`copse queue resume ${to}`],
          })}
        />
      )}
    </div>
  );
}

export function Resume({ target, what }: { readonly target: string; readonly what: 'land' | 'accept' }) {
  const isLanding = what === 'land';
  return (
    <Act
      name="queue.resume"
      input={isLanding ? { target, land: true } : { target, accept: true }}
      label={isLanding ? 'Resume landing' : 'Accept tasks again'}
      command={`copse queue resume --${what} --target ${shellWord(target)}`}
      done={() => ({ text: isLanding ? `${target} lands again.` : `${target} accepts tasks again.` })}
      isMain
    />
  );
}
