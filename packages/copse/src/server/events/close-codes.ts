/** Why the server closes a WebSocket. */
export const closeCodes = {
  ended: 1000,
  stopping: 1001,
  failed: 1011,
  refused: 4004,
  /** The client took or sent too much or too little in time. */
  tooMuch: 4008,
} as const;
