/** The last thing that was done or refused, with what to do next. */

import { type PropsWithChildren, createContext, use, useCallback, useEffect, useState } from 'react';

import { useAnnounce } from './announcer.tsx';
import styles from './toasts.module.css';

export interface Toast {
  readonly text: string;
  readonly isProblem?: boolean;
  /** Commands that a person may type next. */
  readonly next?: readonly string[];
  readonly undo?: { readonly label: string; readonly run: () => void };
}

const ToastContext = createContext<(toast: Toast) => void>(() => {});

export function useToast(): (toast: Toast) => void {
  return use(ToastContext);
}

const SHOWN_MS = 8_000;

export function Toasts({ children }: PropsWithChildren) {
  const [toast, setToast] = useState<Toast>();
  const announce = useAnnounce();
  const show = useCallback(
    (shown: Toast) => {
      setToast(shown);
      announce(shown.text);
    },
    [announce],
  );
  useEffect(() => {
    if (toast === undefined || toast.isProblem) return undefined;
    const timer = setTimeout(() => setToast(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <ToastContext value={show}>
      {children}
      {toast && (
        <div
          className={styles.toast}
          role="region"
          aria-label="What happened last"
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
                  setToast(undefined);
                  toast.undo?.run();
                }}
              >
                {toast.undo.label}
              </button>
            )}
            <button type="button" onClick={() => setToast(undefined)}>
              Close
            </button>
          </div>
        </div>
      )}
    </ToastContext>
  );
}
