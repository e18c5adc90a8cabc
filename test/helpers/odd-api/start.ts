import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestApiServer } from '../api-server/start.ts'
import { nodeProgram } from '../programs.ts'

/**
 * endless: a list without an end; endless failure: an HTTP 500 likewise; bomb: 4 MB of gzip that unpack to 4 GB; pages:
 * ever another page; drip: a byte a second; deep: a million brackets within each other.
 */
export type OddMode = 'endless' | 'endless failure' | 'bomb' | 'pages' | 'drip' | 'deep'

export interface OddApi {
  readonly url: string
  /** For certificate-authority-data. */
  readonly authority: string
  stop(): Promise<void>
}

export interface OddOptions {
  readonly mode?: OddMode
  /** Part of the path of the requests that are answered this way. */
  readonly path?: string
  /** Without TLS. */
  readonly plain?: boolean
}

/** Started in front of another server, whose tokens it accepts. */
export async function startOddApi(upstream: TestApiServer, options: OddOptions): Promise<OddApi> {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-odd-'))
  const args = ['--upstream', upstream.url, '--upstream-ca', join(upstream.directory, 'ca.crt'), '--dir', directory]
  if (options.mode !== undefined) args.push('--mode', options.mode)
  if (options.path !== undefined) args.push('--path', options.path)
  if (options.plain) args.push('--plain')
  const child: ChildProcess = spawn(...nodeProgram(join(import.meta.dirname, 'main.ts'), args), {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer]
  const { url } = JSON.parse(line.toString()) as { url: string }
  const authority = readFileSync(join(directory, 'ca.crt')).toString('base64')
  return {
    url,
    authority,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
