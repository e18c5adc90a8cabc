/** What is longer than the terminal goes through a pager, and nothing else does. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CAPTURES } from '../helpers/captures.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'

const STUCK = join(CAPTURES, 'stuck', 'before.json')
const HEALTHY = join(CAPTURES, 'healthy', 'node.json')

/** On a terminal, of 80 columns and 24 lines where nothing else is said, by script(1). @param keys typed ahead */
function onTerminal(
  args: string,
  keys: string,
  size = 'rows 24 cols 80',
): { readonly screen: string; readonly status: number | null } {
  const { stdout, status } = spawnSync('script', ['-qec', `stty ${size}; ${BUNDLE} ${args}`, '/dev/null'], {
    encoding: 'utf8',
    input: keys,
    timeout: 30_000,
    env: { ...process.env, TERM: 'xterm', PAGER: 'false', LESS: '--no-such-option', SHELL: '/bin/sh' },
  })
  return { screen: stdout.replaceAll('\r', ''), status }
}

const noLess = spawnSync('less', ['--version']).status === 0 ? undefined : 'less is not installed here'

describe.skipIf(noLess !== undefined)(`a plan on a terminal${noLess === undefined ? '' : `: ${noLess}`}`, () => {
  it('is paged where it is longer, and begins with the answer; to quit early is no failure', () => {
    const { screen, status } = onTerminal(`plan -v --snapshot ${STUCK}`, 'q')
    expect(screen).toContain('Ready: unmount, clean up, unstage and detach for 2 deleted pods (13 operations)')
    expect(screen).not.toContain('Next: ')
    expect(status).toBe(0)
  })

  it.each([
    ['--no-pager', `plan --no-pager --snapshot ${STUCK}`, /Next: on node pg-node: volctl apply\n +# .*\n$/],
    ['a short one', `plan --snapshot ${HEALTHY}`, /as it should be\.\n$/],
    ['-o json', `plan -o json --snapshot ${STUCK}`, /\n\}\n$/],
  ])('is printed: %s', (_name, args, last) => {
    // A pager would wait for ever for a key that nobody types.
    const { screen, status } = onTerminal(args, '')
    expect(screen).toMatch(last)
    expect(status).toBe(0)
  })

  it('is printed on a terminal without a size', () => {
    const { screen, status } = onTerminal(`plan --snapshot ${STUCK}`, '', 'rows 0 cols 0')
    expect(screen).toMatch(/Next: on node pg-node: volctl apply\s+# .*\n$/)
    expect(status).toBe(0)
  })
})
