/** Which programs a plan starts, and with which environment, as the kernel is asked to. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { makeScene } from '../../helpers/scene/scene.ts'
// The launcher is what is looked at.
import { TEST_BUNDLE as VOLCTL } from '../../helpers/volctl-program.ts'

export interface Started {
  readonly path: string
  /** Names of the variables that it got, sorted. */
  readonly variables: readonly string[]
  readonly programPath: string | undefined
}

/** Each would be noticed: it names a program of the caller's, or something that Node, OpenSSL or the loader obeys. */
const LEFT_BEHIND = {
  NODE_OPTIONS: '--no-such-option',
  NODE_PATH: '/nowhere',
  NODE_EXTRA_CA_CERTS: '/nowhere',
  NODE_TLS_REJECT_UNAUTHORIZED: '0',
  OPENSSL_CONF: '/nowhere',
  SSL_CERT_FILE: '/nowhere',
  VOLCTL_REENTERED: '1',
  VOLCTL_CALLER: '/proc/1',
  BASH_ENV: '/nowhere',
  ENV: '/nowhere',
  SECRET: 'of the caller',
}

await runScenario({
  plan: async (directory) => {
    const callers = `${directory}/callers-bin`
    mkdirSync(callers)
    for (const name of ['readlink', 'find', 'env', 'node', 'stat', 'systemctl', 'nsenter', 'lsns']) {
      writeFileSync(`${callers}/${name}`, `#!/bin/sh\necho ${name} >>${directory}/ran\nexit 1\n`)
      chmodSync(`${callers}/${name}`, 0o755)
    }
    writeFileSync(`${directory}/ran`, '')
    // So that it is asked for: systemd runs, and no kubelet does; and a file system that may be dead.
    sh('mount', '-t', 'tmpfs', 'tmpfs', '/run')
    mkdirSync('/run/systemd/system', { recursive: true })
    const scene = await makeScene({ directory: `${directory}/scene-${process.pid}`, small: true })
    try {
      await scene.breakIt()
      const trace = `${directory}/trace`
      const traced = ['-f', '-v', '-s', '65536', '-e', 'trace=execve', '-o', trace]
      execFileSync('strace', [...traced, VOLCTL, 'plan', '--orphans', '-o', 'json'], {
        env: { ...scene.env, ...LEFT_BEHIND, PATH: `${callers}:/usr/bin:/bin`, HOME: '/root' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      return { started: startedOf(readFileSync(trace, 'utf8')), ran: readFileSync(`${directory}/ran`, 'utf8') }
    } finally {
      await scene.dispose()
    }
  },
})

/** `812 execve("/usr/bin/stat", ["stat", "-f"], ["LC_ALL=C", "PATH=/usr/bin"]) = 0` */
function startedOf(trace: string): Started[] {
  return trace.split('\n').flatMap((line) => {
    const [, path, , env] = /execve\("((?:[^"\\]|\\.)*)", (\[.*?\]), \[(.*)\]\) += /.exec(line) ?? []
    if (path === undefined || env === undefined) return []
    const variables = [...env.matchAll(/"([^"=\\]+)=((?:[^"\\]|\\.)*)"/g)]
    const programPath = variables.find(([, name]) => name === 'PATH')?.[2]
    return [{ path, variables: variables.map(([, name = '']) => name).sort(), programPath }]
  })
}
