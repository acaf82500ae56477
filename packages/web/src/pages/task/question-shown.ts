/** Which question is on the page: the one that a person is answering stays, also when its agent asks another one meanwhile. */

interface QuestionShown<Q> {
  readonly question: Q | null;
  /** Why the text cannot be sent. */
  readonly refusal: string | undefined;
}

export function questionShown<Q extends { readonly id: string }>(
  latest: Q | null,
  answered: Q | null,
): QuestionShown<Q> {
  if (answered === null || answered.id === latest?.id) return { question: latest, refusal: undefined };
  const refusal = 'Its agent does not wait for this answer now. Your text is not sent: copy it, or leave it.';
  return { question: answered, refusal };
}
