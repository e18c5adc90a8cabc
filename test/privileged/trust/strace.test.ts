/** S33: each program that root's plan starts has an absolute path and an environment that is not the caller's. */
import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noMounts } from '../../helpers/namespace.ts'
import type { Started } from './strace.worker.ts'

const noTrace =
  noMounts ??
  (spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0 ? undefined : 'strace(1) does not work here')

/** SECURITY.md lists the programs, src/core/trust/environment.ts the variables. */
const KEPT =
  /^(HOME|LANG|LC_ALL|LC_CTYPE|LC_MESSAGES|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|TZ|PATH|PWD|KUBECONFIG|(HTTPS?|NO|ALL)_PROXY|https?_proxy|no_proxy|all_proxy|KUBERNETES_SERVICE_(HOST|PORT)|CONTAINER_RUNTIME_ENDPOINT|SUDO_(UID|USER)|VOLCTL_TEST_HOST)$/

describe.skipIf(noTrace !== undefined)(`strace of a plan${noTrace === undefined ? '' : ` (${noTrace})`}`, () => {
  let found: { readonly started: readonly Started[]; readonly ran: string }
  beforeAll(async () => {
    found = await inNamespace(new URL('./strace.worker.ts', import.meta.url), 'plan')
  })
  /** After the launcher itself, which is started by the caller; find(1) alone gets what is left of his. */
  const later = (): readonly Started[] => found.started.slice(1)

  it('sees the launcher, Node and more', () => {
    expect(found.started[0]?.path).toMatch(/\/bin\/volctl$/)
    expect(later().some(({ path }) => path.endsWith('/bin/node'))).toBe(true)
    expect(later().length).toBeGreaterThan(2)
  })

  it('each has an absolute path', () => expect(later().filter(({ path }) => !path.startsWith('/'))).toEqual([]))

  it("none is of the caller's PATH", () => expect(found.ran).toBe(''))

  it("Node and what it starts get nothing of the caller's environment but what is kept", () => {
    const node = later().findIndex(({ path }) => path.endsWith('/bin/node'))
    const strange = later()
      .slice(node)
      .flatMap(({ path, variables }) => variables.filter((name) => !KEPT.test(name)).map((name) => `${path}: ${name}`))
    expect(strange).toEqual([])
    for (const { path, programPath } of later().slice(node))
      expect({ path, programPath }).toMatchObject({ programPath: expect.not.stringContaining('callers-bin') })
  })

  it('what Node starts gets the fixed environment alone', () => {
    const node = later().findIndex(({ path }) => path.endsWith('/bin/node'))
    for (const { path, variables } of later().slice(node + 1)) {
      expect({ path, variables }).toEqual({ path, variables: ['LC_ALL', 'PATH', 'TZ'] })
    }
  })
})
