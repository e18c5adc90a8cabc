import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { runtimeEndpoints } from '../../src/core/node/locate-node.ts'
import { allDoubts } from '../../src/core/trust/files.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

describe('where the container runtime listens', () => {
  let dir: string
  let config: string
  beforeEach(() => {
    dir = temporaryDirectory()
    config = join(dir, 'crictl.yaml')
  })
  const write = (text: string, mode = 0o644): void => writeFileSync(config, text, { mode })

  it.each([
    { name: 'nothing is said', given: undefined, configured: undefined, variable: undefined, required: [], others: [] },
    { name: "the kubelet's", given: undefined, configured: '/k', variable: undefined, required: ['/k'], others: [] },
    { name: 'the flag first', given: '/f', configured: '/k', variable: undefined, required: ['/f'], others: ['/k'] },
    { name: 'the variable', given: undefined, configured: undefined, variable: '/v', required: ['/v'], others: [] },
  ])('$name', ({ given, configured, variable, required, others }) => {
    expect(runtimeEndpoints(given, configured, variable, config)).toEqual({ required, others })
  })

  it.each(['runtime-endpoint: [', 'runtime-endpoint: 7', '- a', '', 'runtime-endpoint: tcp://127.0.0.1:1'])(
    'what is none there is passed over: %s',
    (text) => {
      write(text)
      expect(runtimeEndpoints(undefined, undefined, undefined, config)).toEqual({ required: [], others: [] })
    },
  )

  it('S32: a socket where others could have put it is not asked, and that is said', () => {
    const open = join(dir, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    expect(runtimeEndpoints(undefined, undefined, join(open, 'x.sock'), config).required).toEqual([])
    expect(allDoubts().some(({ what }) => what.includes('x.sock'))).toBe(true)
  })

  it.each(['tcp://127.0.0.1:1', 'npipe:x'])(
    '--runtime-endpoint that is no unix socket is a usage error: %s',
    (given) => {
      expect(() => runtimeEndpoints(given, undefined, undefined, config)).toThrow(/is not a unix socket/)
    },
  )
})
