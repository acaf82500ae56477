export * from '../../src/operations/names-the-cli.ts';
