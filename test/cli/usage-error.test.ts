import { expect, it } from 'vitest'
import { volctl } from '../helpers/run-main.ts'

it.each([
  { args: ['paln'], says: 'command paln not found', meant: 'Did you mean plan? See volctl --help' },
  { args: ['get', 'pods'], says: 'command get not found', meant: 'See volctl --help' },
  {
    args: ['plan', 'driver/d'],
    says: '"driver/d" names neither a pod nor a volume',
    meant: expect.stringMatching(/^Pods are NAMESPACE\/NAME, .* volumes are pv\/NAME/),
  },
  ...['-y', '--auto-approve', '--yes'].map((flag) => ({
    args: ['apply', flag, '/nonexistent/plan.json'],
    says: 'plan file /nonexistent/plan.json: no such file',
    meant: 'Check the path, and who may read it.',
  })),
  {
    args: ['--orphans', 'plan'],
    says: '--orphans stands where the command belongs',
    meant: 'Give the command first, as in volctl plan --orphans. See volctl --help',
  },
  {
    args: ['plan', '--orphan'],
    says: 'unknown flag: --orphan',
    meant: 'Did you mean --orphans? See volctl plan --help',
  },
  { args: ['plan', '--json'], says: 'unknown flag: --json', meant: 'Did you mean -o json? See volctl plan --help' },
  {
    args: ['plan', '-o', 'jsn'],
    says: 'Expected --output=jsn to be one of: table, wide, json, yaml',
    meant: 'See volctl plan --help',
  },
  {
    // Opposite things, equally near.
    args: ['plan', '--only', 'umount'],
    says: '--only: "umount" is not a kind of operation or a group of them.',
    meant: expect.stringMatching(/^Did you mean mount or unmount\? Groups are /),
  },
])('$args', async ({ args, says, meant }) => {
  const { status, stdout, stderr } = await volctl(args)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  const [first, second, ...rest] = stderr.split('\n')
  expect(`${first}\n`).toContain(`volctl: ${says}`)
  expect(second?.trim()).toEqual(meant)
  expect(rest).toEqual([''])
})
