/**
 * The change of a task: its files, their differences, comments on lines, and the answer of a person. What is shown stays at one
 * commit until the person asks for the newer one. Who comes back to a newer commit, from another part of the page or after a refusal,
 * is told so, and can approve it only after going on with it: an approval is of what was read.
 */

import { useLayoutEffect, useState } from 'react';

import { shown } from '../../../../../copse/src/kernel/text.ts';
import { endsPage } from '../../../api/problem.ts';
import { Empty, Loading, Refused } from '../../../parts/page-state.tsx';
import { useAnswer } from '../../../store/hooks.tsx';
import type { ShownTask } from '../page.tsx';
import { Review } from './review.tsx';
import { type ReviewPage, usePages } from './pages.ts';
import { beginReading, setReadHead, useReadHead } from '../read-head.ts';

export default function Changes({ task }: { readonly task: ShownTask }) {
  const [since, setSince] = useState<string>();
  const asked = { task: task.id, lossy: true, ...(since !== undefined && { since }) };
  const { data, error, refetch, isPlaceholderData, isFetching, isFetchedAfterMount } = useAnswer(
    'review.show',
    asked,
    {
      about: ['task', 'landing'],
      task: task.id,
    },
  );
  if (endsPage(error, data)) return <Refused problem={error} onAgain={() => void refetch()} />;
  // The answer to an earlier question must not be taken for this one.
  const isOld = isPlaceholderData || (isFetching && !isFetchedAfterMount);
  if (data === undefined || isOld) return <Loading what="the changes" />;
  if (data.change === null) return <NoChange task={task} />;
  return (
    <Pinned
      key={since ?? ''}
      task={task}
      latest={data}
      since={since}
      onSince={setSince}
      onAgain={() => void refetch()}
    />
  );
}

interface PinnedProps {
  readonly task: ShownTask;
  readonly latest: ReviewPage;
  readonly since: string | undefined;
  readonly onSince: (since: string | undefined) => void;
  readonly onAgain: () => void;
}

function Pinned({ task, latest, since, onSince, onAgain }: PinnedProps) {
  const [first, setFirst] = useState(latest);
  const pages = usePages(task.id, first, since);
  const { change } = first;
  const readBefore = useReadHead(task.id);
  const head = change?.head;
  // Before it is painted: no warning about a reading that ended.
  useLayoutEffect(() => {
    if (head !== undefined) beginReading(task.id, head);
    // Only when it appears: what moves later is gone on with by a button.
  }, []);
  if (change === null) return <NoChange task={task} />;
  const readHead = readBefore ?? change.head;
  const newest = latest.change?.head ?? readHead;
  const goOn = () => {
    setFirst(latest);
    setReadHead(task.id, newest);
  };
  return (
    <Review
      task={task}
      shown={first}
      change={change}
      // What does not depend on the commit is always the latest.
      latest={latest}
      pages={pages}
      since={since}
      readHead={readHead}
      movedTo={newest === readHead ? null : newest}
      onSince={onSince}
      onNewest={goOn}
      onLook={onAgain}
    />
  );
}

function NoChange({ task }: { readonly task: ShownTask }) {
  const { id, status, landed } = task;
  if (landed !== null)
    return (
      <Empty title={`It landed as ${landed.commit.slice(0, 10)} on ${shown(landed.target)}.`}>
        <code>git show {landed.commit.slice(0, 10)}</code>
      </Empty>
    );
  return (
    <Empty title="No commits to show here yet.">
      <p>
        {status === 'in_progress'
          ? 'Its agent has not committed anything yet.'
          : 'Commits appear here when an agent worked on it on this machine.'}
      </p>
      <code>copse why {id}</code>
    </Empty>
  );
}
