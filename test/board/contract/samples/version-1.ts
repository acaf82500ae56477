/**
 * A board of version 1 as its Copse left it: rows written out, not made by today's code, so that they stay what
 * they were when the code moves on.
 */

export const version1 = {
  board: [{ id: 'b0a7d', version: 1, created_at: 1_700_000_000_000, last_event: 2 }],
  tasks: [
    {
      id: 'cp-old1',
      data: '{"title":"Old task","priority":4,"kind":"code","dependsOn":[],"areas":["src/**"],"requires":[],"plan":null,"agent":null,"accept":["npm test"],"workItem":null,"id":"cp-old1","createdAt":1700000000000,"updatedAt":1700000000000,"state":{"status":"ready","since":1700000000000,"delay":null},"token":0,"retries":0,"handbacks":{},"session":null}',
      body: '"with \\u0000 and \\ud800 inside"',
      status: 'ready',
      finished: 0,
      priority: 4,
      plan: null,
      agent: null,
      work_item: null,
      not_before: 0,
      created_at: 1_700_000_000_000,
      updated_at: 1_700_000_000_000,
    },
  ],
  ledger: [
    {
      id: 'le-old1',
      data: '{"id":"le-old1","task":"cp-old1","session":null,"kind":"learning","text":"Run the migrations first","at":1700000000500}',
      task: 'cp-old1',
      created_at: 1_700_000_000_500,
    },
  ],
  events: [
    {
      number: 1,
      at: 1_700_000_000_000,
      type: 'task.created',
      subject: 'cp-old1',
      task: 'cp-old1',
      data: '{"by":{"kind":"person","name":null},"event":{"type":"task.created","id":"cp-old1","at":1700000000000,"definition":{"title":"Old task","body":"with \\u0000 and \\ud800 inside","priority":4,"kind":"code","dependsOn":[],"areas":["src/**"],"requires":[],"plan":null,"agent":null,"accept":["npm test"],"workItem":null},"status":"ready"}}',
    },
    {
      number: 2,
      at: 1_700_000_000_500,
      type: 'ledger.added',
      subject: 'le-old1',
      task: 'cp-old1',
      data: '{"by":{"kind":"person","name":null},"event":{"type":"ledger.added","id":"le-old1","task":"cp-old1","session":null,"kind":"learning","text":"Run the migrations first","at":1700000000500}}',
    },
  ],
} as const;
