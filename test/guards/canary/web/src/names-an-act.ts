export * from '../../src/tasks/act/add.ts';
