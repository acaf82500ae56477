/** The last thing that was done, and what was refused, with what to do next. */

import { type PropsWithChildren, createContext, use, useCallback, useEffect, useState } from 'react';

import { useAnnounce } from './announcer.tsx';
import { type Toast, noToasts, withToast, withoutToast } from './shown-toasts.ts';
import styles from './toasts.module.css';

export type { Toast };

const ToastContext = createContext<(toast: Toast) => void>(() => {});

export function useToast(): (toast: Toast) => void {
  return use(ToastContext);
}

const SHOWN_MS = 8_000;

export function Toasts({ children }: PropsWithChildren) {
  const [shown, setShown] = useState(noToasts);
  const announce = useAnnounce();
  const show = useCallback(
    (toast: Toast) => {
      setShown((before) => withToast(before, toast));
      announce(toast.text);
    },
    [announce],
  );
  const close = (toast: Toast) => setShown((before) => withoutToast(before, toast));
  const { problems, last } = shown;
  useEffect(() => {
    if (last === undefined) return undefined;
    const timer = setTimeout(() => setShown((before) => withoutToast(before, last)), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [last]);
  const toasts = last === undefined ? problems : [...problems, last];
  return (
    <ToastContext value={show}>
      {children}
      {toasts.length > 0 && (
        <div className={styles.toasts} role="region" aria-label="What happened last">
          {toasts.map((toast) => (
            <div
              key={toast === last ? 'last' : `${toast.text} ${toast.next?.join(' ')}`}
              className={styles.toast}
              data-problem={toast.isProblem}
              data-testid="toast"
            >
              <p>{toast.text}</p>
              {toast.next?.map((command) => (
                <code key={command}>{command}</code>
              ))}
              <div className={styles.buttons}>
                {toast.undo && (
                  <button
                    type="button"
                    onClick={() => {
                      // What it says is shown instead.
                      close(toast);
                      toast.undo?.run();
                    }}
                  >
                    {toast.undo.label}
                  </button>
                )}
                <button type="button" onClick={() => close(toast)}>
                  Close
                </button>
              </div>
            </div>
          ))}
        </div>
      )}
    </ToastContext>
  );
}
