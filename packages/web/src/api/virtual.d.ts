/** Made by vite.config.ts from the registry. */
declare module 'virtual:operations' {
  const described: unknown;
  export default described;
}

declare module 'virtual:destroying' {
  const described: unknown;
  export default described;
}

declare module 'virtual:operation-forms' {
  const forms: unknown;
  export default forms;
}
