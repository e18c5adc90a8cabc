/** The executable by itself, in short; more of it: executable.long.test.ts. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { nodeVariables } from '../../scripts/executable/read-early.ts'
import { startVolctl } from '../cli/run-volctl.ts'
import { BROKEN } from '../helpers/captures.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { executableForAll, noPackages, run, timeless, VERSION } from './roots.ts'

describeUnless(noPackages, 'the executable', () => {
  const { work, executable } = executableForAll()

  it('answers as the npm package does', async () => {
    const args = ['plan', '--orphans', '-o', 'json', '--snapshot', BROKEN]
    expect(timeless(await startVolctl(args, { program: executable }))).toEqual(timeless(await startVolctl(args)))
  })

  it('S34: takes nothing from the environment of Node.js and OpenSSL', async () => {
    const marker = join(work, 'marker')
    writeFileSync(join(work, 'evil.cjs'), `require('fs').writeFileSync(${JSON.stringify(marker)}, '')`)
    const node = readFileSync(process.execPath)
    const asked = [
      ...nodeVariables(node).keys(),
      ...(node.toString('latin1').match(/(?<=process\.env\.)NODE_\w+/g) ?? []),
    ]
    expect(asked).toEqual(expect.arrayContaining(['NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS']))
    const env = {
      ...Object.fromEntries(asked.map((name) => [name, join(work, 'evil')])),
      // Node.js ends where this is no number.
      NODE_CHANNEL_FD: undefined,
      NODE_OPTIONS: `--require=${join(work, 'evil.cjs')}`,
      NODE_V8_COVERAGE: join(work, 'coverage'),
      NODE_REDIRECT_WARNINGS: join(work, 'warnings'),
      NODE_DEBUG_NATIVE: 'SEA',
      NODE_EXTRA_CA_CERTS: join(work, 'evil.cjs'),
      OPENSSL_CONF: join(work, 'evil.cnf'),
      SSL_CERT_FILE: join(work, 'evil.cjs'),
    }
    const trace = join(work, 'trace')
    const command = ['strace', '-f', '-e', 'trace=openat,mkdir,execve', '-o', trace, executable, '--version']
    const told = await run(command, { env })
    expect(told).toMatchObject({ status: 0, stdout: expect.stringMatching(VERSION) })
    expect(readFileSync(trace, 'utf8').match(/execve\(/g)).toHaveLength(2)
    expect(readFileSync(trace, 'utf8')).not.toContain('evil')
    expect([marker, env.NODE_V8_COVERAGE, env.NODE_REDIRECT_WARNINGS].filter((path) => existsSync(path))).toEqual([])
  })
})
