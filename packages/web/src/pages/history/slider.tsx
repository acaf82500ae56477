/** Chooses the event: by dragging, by arrow keys, by number. */

import { useId } from 'react';

import { eventClause } from '../../../../copse/src/explain/rules/event-sentences.ts';
import type { NumberedEvent } from '../../store/world.ts';
import { brief } from '../../parts/clipped.ts';
import styles from './history.module.css';
import type { Moment } from './timeline.ts';

interface SliderProps {
  readonly last: number;
  readonly wanted: number;
  /** How far a replay is. */
  readonly way: number | undefined;
  readonly moment: Moment | undefined;
  readonly onChange: (number: number) => void;
}

export function Slider({ last, wanted, way, moment, onChange }: SliderProps) {
  const [slider, field] = [useId(), useId()];
  const move = (number: number) => onChange(Math.min(last, Math.max(0, Math.round(number) || 0)));
  const text = moment?.event === undefined ? 'before the first event' : sentenceOf(moment, moment.event);
  return (
    <div className={styles.slider}>
      <label htmlFor={slider}>Event</label>
      <input
        id={slider}
        type="range"
        min={0}
        max={last}
        value={wanted}
        aria-valuetext={`event ${wanted} of ${last}`}
        onChange={({ target }) => move(Number(target.value))}
      />
      <div className={styles.steps}>
        <button type="button" aria-label="First event" onClick={() => move(0)}>
          |←
        </button>
        <button type="button" aria-label="One event back" onClick={() => move(wanted - 1)}>
          ←
        </button>
        <label htmlFor={field} className={styles.hidden}>
          Number of the event
        </label>
        <input
          id={field}
          type="number"
          min={0}
          max={last}
          value={wanted}
          onChange={({ target }) => move(Number(target.value))}
        />
        <button type="button" aria-label="One event on" onClick={() => move(wanted + 1)}>
          →
        </button>
        <button type="button" aria-label="Last event" onClick={() => move(last)}>
          →|
        </button>
      </div>
      <p className={styles.event} role="status">
        {way === undefined ? text : `Replaying: event ${way} of ${wanted}`}
      </p>
    </div>
  );
}

/** An event of a newer Copse has no sentence here. */
function sentenceOf({ world }: Moment, { event }: NumberedEvent): string {
  const at = new Date(event.at).toLocaleString();
  const title = world.task.get(event.id)?.title;
  const about = title === undefined ? '' : ` · ${brief(title)}`;
  try {
    return `${at} · ${event.id} ${brief(eventClause(event))}${about}`;
  } catch {
    return `${at} · ${event.id} ${event.type}${about}`;
  }
}
