import { expect, it } from 'vitest'
import { listeners } from '../../src/core/trust/listeners.ts'

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const line = (local: string, state: string, uid: number): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 4711 1 0 100 0 0 10 0\n`

it.each([
  { name: 'root listens', table: line('0100007F:2808', '0A', 0), want: [0] },
  { name: 'another user listens', table: line('0100007F:2808', '0A', 65534), want: [65534] },
  {
    name: 'both do, on two addresses',
    table: line('0100007F:2808', '0A', 0) + line('00000000:2808', '0A', 1000),
    want: [0, 1000],
  },
  { name: 'another user is only connected', table: line('0100007F:2808', '01', 65534), want: [] },
  { name: 'another user listens on another port', table: line('0100007F:2809', '0A', 65534), want: [] },
  { name: 'nothing is known', table: '', want: [] },
])('$name on 10248: $want', ({ table, want }) =>
  expect(listeners(10248, [HEAD + table])).toEqual(want.map((uid) => ({ uid, inode: '4711' }))),
)

it.each([
  { local: '0100007F:192B', asked: '10.0.0.1', found: 0 },
  { local: '00000000000000000000000001000000:192B', asked: '10.0.0.1', found: 0 },
  { local: '0000000000000000FFFF00000100007F:192B', asked: 'fd00::1', found: 0 },
  { local: '0100007F:192B', asked: '127.0.0.1', found: 1 },
  { local: '0100007F:192B', asked: '::1', found: 1 },
  { local: '0100007F:192B', asked: '::ffff:7f00:1', found: 1 },
  // Wherever it leads.
  { local: '0100007F:192B', asked: 'api.test', found: 1 },
  { local: '00000000:192B', asked: '10.0.0.1', found: 1 },
  { local: '0100000A:192B', asked: '10.0.0.1', found: 1 },
  { local: '00000000000000000000000000000000:192B', asked: 'fd00::1', found: 1 },
])('S35: of who listens at $local $found may be $asked:6443', ({ local, asked, found }) =>
  expect(listeners(6443, [HEAD + line(local, '0A', 0)], asked)).toHaveLength(found),
)
