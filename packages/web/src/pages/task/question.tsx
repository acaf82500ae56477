/** What its agent waits for a permission for. The answer counts for the question that is shown, and for no later one. */

import { type MouseEvent, useLayoutEffect, useRef, useState } from 'react';

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { Act } from '../../parts/act.tsx';
import { usePerform } from '../../parts/perform.ts';
import { canBeSeen } from '../../parts/moment.ts';
import { useToast } from '../../parts/toasts.tsx';
import { TextButton } from './ask-text.tsx';
import type { ShownTask } from './page.tsx';
import { questionShown } from './question-shown.ts';
import { Since } from './since.tsx';
import styles from './task.module.css';

/** A page that lays a megabyte out is slow; `copse answer` shows all. */
const MOST = 20_000;

export function Question({ task: { id, question: latest } }: { readonly task: ShownTask }) {
  const place = useRef<HTMLElement>(null);
  const [isBusy, perform] = usePerform();
  const [answered, setAnswered] = useState<typeof latest>(null);
  const { question, refusal } = questionShown(latest, answered);
  const shownSince = useRef(0);
  useLayoutEffect(() => {
    shownSince.current = performance.now();
  }, [question?.id]);
  const toast = useToast();
  if (question === null) return null;
  /** What is pressed just after another question appeared was meant for what was there before. */
  const answerWhatIsSeen = (event: MouseEvent) => {
    if (canBeSeen(shownSince.current, event.timeStamp)) return;
    event.preventDefault();
    event.stopPropagation();
    toast({ text: `${id} asks this only now. Read it, then press again.` });
  };
  const { tool, what, since } = question;
  const about = `--question ${question.id}`;
  const text = shown(what);
  // The buttons are gone with the question: the keyboard goes on at the head of the page.
  const leave = () => place.current?.closest('header')?.querySelector('h1')?.focus();
  return (
    <section ref={place} className={styles.question} aria-label="Its agent asks">
      <h2>Its agent asks to use {shown(tool)}, and waits for your answer</h2>
      <p className={styles.faint}>
        asked <Since at={since} />
      </p>
      <pre className={styles.text} tabIndex={0} aria-label="What it asks for">
        {text.length <= MOST ? text : `${text.slice(0, MOST)}\n… (${text.length - MOST} more characters)`}
      </pre>
      <div className={styles.others}>
        <span className={styles.answers} onClickCapture={answerWhatIsSeen}>
          <Act
            name="question.answer"
            input={{ task: id, isAllowed: true, question: question.id }}
            label="Allow"
            command={`copse answer ${id} allow ${about}`}
            isMain
            done={() => ({ text: `${id}: allowed.` })}
            onDone={leave}
          />
          <Act
            name="question.answer"
            input={{ task: id, isAllowed: false, question: question.id }}
            label="Deny"
            command={`copse answer ${id} deny ${about}`}
            done={() => ({ text: `${id}: denied.` })}
            onDone={leave}
          />
        </span>
        <TextButton
          // What was typed about one question is not offered for the next.
          key={question.id}
          label="Deny and say why"
          command={`copse answer ${id} deny ${about} --message ${shellWord('…')}`}
          question="What its agent is told instead"
          isMain={false}
          isBusy={isBusy}
          refusal={refusal}
          onOpen={() => setAnswered(question)}
          onClose={() => setAnswered(null)}
          onText={(message) =>
            perform(
              'question.answer',
              {
                task: id,
                isAllowed: false,
                question: question.id,
                ...(message.trim() !== '' && { message: message.trim() }),
              },
              () => ({ text: `${id}: denied.` }),
              {
                onDone: leave,
                command: `copse answer ${id} deny ${about} --message ${shellWord(message.trim())}`,
              },
            )
          }
        />
      </div>
    </section>
  );
}
