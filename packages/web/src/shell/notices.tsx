/** Notifications of the browser for what needs a person. Off until a person asks for them; only while the page is not seen. */

import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';

import { useDesk } from '../store/hooks.tsx';
import type { World } from '../../../copse/src/board/rules/event.ts';
import { statusTexts } from '../../../copse/src/explain/rules/status.ts';
import { needsPerson } from './needing.ts';
import styles from './shell.module.css';

const KEY = 'copse.notices';

export function NoticeSwitch() {
  const [isOn, setOn] = useState(wantsNotices);
  useNotices(isOn);
  if (!('Notification' in globalThis)) return null;
  const turn = async () => {
    const isWanted = !isOn && (await Notification.requestPermission()) === 'granted';
    localStorage.setItem(KEY, isWanted ? 'on' : 'off');
    setOn(isWanted);
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
    let known = new Set(needingIn(live.now.world).map(({ key }) => key));
    return live.subscribe((events) => {
      if (events.length === 0) return;
      const needing = needingIn(live.now.world);
      const fresh = needing.filter(({ key }) => !known.has(key));
      known = new Set(needing.map(({ key }) => key));
      if (document.visibilityState === 'visible') return;
      for (const { task, title, text } of fresh) {
        const notice = new Notification(`${task}: ${text}`, { body: title, tag: task });
        notice.addEventListener('click', () => {
          window.focus();
          go('/inbox');
        });
      }
    });
  }, [isOn, live, go]);
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
        text: state.status === 'in_progress' ? 'its agent waits for you' : statusTexts[state.status],
      };
    });
}
