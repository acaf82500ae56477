/** Before a machine is drained: what would move, and where to. */

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { withCommand } from '../../parts/command-line.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Loading, Refused } from '../../parts/page-state.tsx';
import { usePerform } from '../../parts/perform.ts';
import { useAnswer } from '../../store/hooks.tsx';
import styles from './fleet.module.css';
import type { Node } from './machine.tsx';

interface DialogProps {
  readonly node: Node;
  readonly onClose: () => void;
}

export function Drain({ node, onClose }: DialogProps) {
  const [, perform] = usePerform();
  const answer = useAnswer('node.preview_drain', { node: node.id }, { about: ['task', 'node'] });
  const tasks = answer.data?.tasks;
  const command = `copse node drain ${shellWord(node.name)}`;
  const drain = () => {
    // A refusal appears beside the page, which an open dialog would cover.
    onClose();
    perform('node.drain', { node: node.id }, () => ({
      text: `${node.name} takes no new work.`,
      next: [`copse node resume ${shellWord(node.name)}`],
    }));
  };
  return (
    <Dialog label={`Drain ${shown(node.name)}`} onClose={onClose}>
      <p>It takes no new work. Its running tasks end, or move to another machine.</p>
      {tasks === undefined && answer.error && (
        <Refused problem={answer.error} onAgain={() => void answer.refetch()} />
      )}
      {tasks === undefined && !answer.error && <Loading what="what would move" />}
      {tasks?.length === 0 && <p>No task runs there: nothing moves.</p>}
      <ul className={styles.moves} aria-label="What would move">
        {tasks?.map(({ id, title, moves, to }) => (
          <li key={id}>
            <code>{id}</code> {shown(title)}
            <small>{moveText(moves, to)}</small>
          </li>
        ))}
      </ul>
      <code>{shown(command)}</code>
      <div className={styles.buttons}>
        <button type="button" data-main="true" {...withCommand(command)} onClick={drain}>
          Drain
        </button>
        <button type="button" onClick={onClose}>
          Leave it
        </button>
      </div>
    </Dialog>
  );
}

function moveText(moves: boolean, to: readonly string[]): string {
  if (!moves) return 'stays: a person works on it by hand';
  return to.length === 0
    ? 'waits: no other machine can take it now'
    : `moves to ${to.map(shown).join(' or ')}`;
}
