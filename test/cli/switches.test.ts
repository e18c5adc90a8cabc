import { expect, it } from 'vitest'
import { plainSwitches } from '../../src/core/cli/volctl-command.ts'

const SWITCHES = ['yes', 'orphans']

it.each([
  { given: ['--yes'], means: ['--yes'] },
  { given: ['--yes=true'], means: ['--yes'] },
  { given: ['--yes=false'], means: [] },
  { given: ['--orphans', '--yes=false', 'node.plan'], means: ['--orphans', 'node.plan'] },
  { given: ['--pod=yes=false'], means: ['--pod=yes=false'] },
  { given: ['--', '--yes=false'], means: ['--', '--yes=false'] },
])('$given means $means', ({ given, means }) => expect(plainSwitches(given, SWITCHES)).toEqual(means))

it.each(['--yes=', '--yes=no', '--yes=0', '--orphans=False'])('%s is a usage error', (given) => {
  expect(() => plainSwitches([given], SWITCHES)).toThrow(/is neither true nor false/)
})
