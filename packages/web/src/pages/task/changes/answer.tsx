/** The answer to finished work: approve the commit that is shown, or send it back with all comments at once. */

import { type ReactNode, useId, useState } from 'react';

import { counted, shown } from '../../../../../copse/src/kernel/text.ts';
import { reviewComment } from '../../../../../copse/src/review/rules/line-comments.ts';
import { usePerform } from '../../../parts/perform.ts';
import { withCommand } from '../../../parts/command-line.ts';
import { useToast } from '../../../parts/toasts.tsx';
import { useDesk } from '../../../store/hooks.tsx';
import { asProblem } from '../../../api/as-problem.ts';
import type { ShownTask } from '../page.tsx';
import { endReading } from '../read-head.ts';
import taskStyles from '../task.module.css';
import styles from './changes.module.css';
import { DraftNote } from './comment.tsx';
import { type Draft, withAdded, withoutSent } from './kept-reviews.ts';
import { useKept } from './kept.ts';

interface AnswerProps {
  readonly task: ShownTask;
  readonly head: string;
  /** False: the page cannot show what lands, or the person has read another commit. */
  readonly canApprove: boolean;
  /** Comments whose line the page does not show. */
  readonly apart: { readonly form: ReactNode; readonly drafts: readonly Draft[] };
  /** Asks for the commit of the branch again. */
  readonly onLook: () => void;
}

export function Answer({ task: { id, status }, head, canApprove, apart, onLook }: AnswerProps) {
  const { client } = useDesk();
  const toast = useToast();
  const { kept, keep, isSaved } = useKept(id);
  const [isBusy, perform] = usePerform();
  const [isApproving, setApproving] = useState(false);
  const field = useId();
  const { comment } = kept;
  // What is in the form now is sent too: a person who sends back means all that is written.
  const { drafts = kept.drafts } = withAdded(kept, 'open');
  const lines = drafts.map((draft) => draft.comment);
  const of = headOf(drafts);
  const text = reviewComment({ comment, lines, head: of });
  const canAnswer = status === 'in_review' || status === 'needs_attention';
  const others = (
    <>
      {!isSaved && (
        <p role="alert">
          This browser has no room left: what you write here is lost when you close this tab.
        </p>
      )}
      {apart.form}
      {apart.drafts.length > 0 && <p>Comments on lines that are not shown:</p>}
      {apart.drafts.map((draft) => (
        <DraftNote key={draft.id} isApart {...{ draft, keep }} />
      ))}
    </>
  );
  if (!canAnswer)
    return kept.drafts.length === 0 && kept.open === null ? null : (
      <section className={styles.answer} aria-label="Your comments">
        {kept.drafts.length > 0 && (
          <p>{`${counted(kept.drafts.length, 'comment')} not sent: it waits for no review now.`}</p>
        )}
        {others}
      </section>
    );
  const approve = async () => {
    if (isBusy || isApproving) return;
    setApproving(true);
    try {
      const { target } = await client.call('review.approve', { task: id, head });
      toast({ text: `Approved: ${head.slice(0, 10)} lands on ${target} through the queue.` });
    } catch (error) {
      const { message, next } = asProblem(error);
      toast({ text: message, isProblem: true, next });
      // The page keeps what was read, and says if there is a newer commit.
      onLook();
    } finally {
      setApproving(false);
    }
  };
  return (
    <section className={styles.answer} aria-label="Your answer">
      {others}
      {drafts.length > 0 && (
        <details>
          <summary>{`${counted(drafts.length, 'comment')} on lines: what its agent gets`}</summary>
          <pre className={taskStyles.text}>{shown(text)}</pre>
        </details>
      )}
      <label htmlFor={field}>A comment on the whole</label>
      <div className={styles.say}>
        <textarea
          id={field}
          rows={2}
          value={comment}
          onChange={({ target }) => keep(() => ({ comment: target.value }))}
        />
        <div className={taskStyles.others}>
          {status === 'in_review' && canApprove && (
            <button
              type="button"
              className={taskStyles.button}
              data-main={drafts.length === 0}
              aria-disabled={isBusy || isApproving}
              {...withCommand(`copse review ${id} --approve --head ${head.slice(0, 10)}`)}
              onClick={() => void approve()}
            >
              {`Approve ${head.slice(0, 10)}`}
            </button>
          )}
          <button
            type="button"
            className={taskStyles.button}
            data-main={drafts.length > 0}
            aria-disabled={isBusy || text.trim() === ''}
            {...withCommand(`copse review ${id} --send-back "…"`)}
            onClick={() => {
              if (isBusy || text.trim() === '') return;
              const written = crypto.randomUUID();
              const sent = withAdded(kept, written).drafts ?? kept.drafts;
              keep((now) => withAdded(now, written));
              perform(
                'review.send_back',
                {
                  task: id,
                  ...(comment.trim() !== '' && { comment }),
                  lines,
                  ...(of !== undefined && { head: of }),
                },
                ({ agent }) => ({
                  text:
                    agent === null
                      ? `Sent back: ${id} waits for a free agent.`
                      : `Sent back: ${agent} goes on.`,
                }),
                {
                  onDone: () => {
                    keep((now) => withoutSent(now, { drafts: sent, comment }));
                    endReading(id);
                  },
                },
              );
            }}
          >
            {drafts.length === 0 ? 'Send back' : `Send back with ${counted(drafts.length, 'comment')}`}
          </button>
        </div>
      </div>
    </section>
  );
}

/** Undefined when comments are on lines of several commits. */
function headOf(drafts: readonly Draft[]): string | undefined {
  const heads = new Set(drafts.map(({ head }) => head));
  return heads.size === 1 ? [...heads][0] : undefined;
}
