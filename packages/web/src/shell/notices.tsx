/** Notifications of the browser for what needs a person. Off until a person asks for them; only while the page is not seen. */

import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';

import { useDesk } from '../store/hooks.tsx';
import type { World } from '../../../copse/src/board/rules/event.ts';
import { statusTexts, stuckClause } from '../../../copse/src/explain/rules/status.ts';
import type { TaskState } from '../../../copse/src/tasks/rules/task.ts';
import { needsPerson } from './needing.ts';
import styles from './shell.module.css';

const KEY = 'copse.notices';

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Once for the page: it shows the notifications too. */
export function NoticeSwitch(): ReactNode {
  useNotices(useSyncExternalStore(subscribe, wantsNotices));
  return <NoticeButton />;
}

export function NoticeButton() {
  const isOn = useSyncExternalStore(subscribe, wantsNotices);
  if (!('Notification' in globalThis)) return null;
  const turn = async () => {
    const isWanted = !isOn && (await Notification.requestPermission()) === 'granted';
    localStorage.setItem(KEY, isWanted ? 'on' : 'off');
    for (const listener of listeners) listener();
  };
  return (
    <button type="button" className={styles.tool} aria-pressed={isOn} onClick={() => void turn()}>
      Notifications {isOn ? 'on' : 'off'}
    </button>
  );
}

function wantsNotices(): boolean {
  return (
    'Notification' in globalThis &&
    Notification.permission === 'granted' &&
    localStorage.getItem(KEY) === 'on'
  );
}

function useNotices(isOn: boolean): void {
  const { live } = useDesk();
  const [, go] = useLocation();
  useEffect(() => {
    if (!isOn) return undefined;
    const keysNow = () => new Set(needingIn(live.now.world).map(({ key }) => key));
    // Before the first snapshot the page knows of no task, and all that wait already would seem new.
    let known = live.isRead ? keysNow() : undefined;
    return live.subscribe((events) => {
      if (known === undefined) {
        if (live.isRead) known = keysNow();
        return;
      }
      if (events.length === 0) return;
      const before = known;
      const needing = needingIn(live.now.world);
      const fresh = needing.filter(({ key }) => !before.has(key));
      known = new Set(needing.map(({ key }) => key));
      if (document.visibilityState === 'visible') return;
      for (const one of fresh)
        notify(one)?.addEventListener('click', () => {
          window.focus();
          go('/inbox');
        });
    });
  }, [isOn, live, go]);
}

/** Chrome on Android shows notifications of service workers only, and refuses this one. */
function notify({ task, title, text }: Needing): Notification | undefined {
  try {
    return new Notification(`${task}: ${text}`, { body: title, tag: task });
  } catch (error) {
    console.warn('This browser shows no notification of a page.', error);
    return undefined;
  }
}

interface Needing {
  readonly task: string;
  readonly title: string;
  /** Changes when the same task needs a person again for another reason. */
  readonly key: string;
  readonly text: string;
}

function needingIn({ task, session }: World): readonly Needing[] {
  return [...task.values()]
    .filter((one) => needsPerson(one, task, session))
    .map(({ id, title, state }) => {
      const asked =
        state.status === 'in_progress' ? session.get(state.claim.session)?.question?.id : undefined;
      return {
        task: id,
        title,
        key: `${id} ${state.status} ${state.since} ${asked ?? ''}`,
        text: needText(state),
      };
    });
}

function needText(state: TaskState): string {
  if (state.status === 'in_progress') return 'its agent waits for you';
  return state.status === 'stuck' ? stuckClause(state) : statusTexts[state.status];
}
