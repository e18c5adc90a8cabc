/**
 * An API server that answers some requests as no API server does, and passes all others on to a sound one.
 *
 *     node main.ts --upstream URL --upstream-ca FILE --dir DIR [--mode MODE --path PART] [--plain]
 *
 * DIR receives ca.crt. Prints one line of JSON when it listens; ends when its standard input does.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as ask, createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAuthority } from '../api-server/certificates.ts'
import { gzipBomb } from './gzip-bomb.ts'
import type { OddMode } from './start.ts'

const { values: flags } = parseArgs({
  options: {
    upstream: { type: 'string', default: '' },
    'upstream-ca': { type: 'string', default: '' },
    dir: { type: 'string', default: '' },
    mode: { type: 'string' },
    path: { type: 'string', default: '' },
    plain: { type: 'boolean', default: false },
  },
})

const HEAD = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
const ITEM = '{"metadata":{"name":"a","namespace":"b","uid":"c","labels":{"a":"b"}},"spec":{"containers":[]}}'
const ITEMS = Buffer.from(`${ITEM},`.repeat(1000))
const PAGE = 500
const DEPTH = 1_000_000
const DRIP_MS = 1000

let pages = 0

const ODD: Readonly<Record<OddMode, (response: ServerResponse) => void>> = {
  endless: (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write(HEAD)
    pour(response, ITEMS)
  },
  'endless failure': (response) => {
    response.writeHead(500, { 'Content-Type': 'application/json' }).write('{"kind":"Status","message":"')
    pour(response, Buffer.alloc(1 << 16, 'a'))
  },
  bomb: (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }).end(bomb())
  },
  pages: (response) => {
    const metadata = { resourceVersion: '1', continue: `page-${++pages}` }
    const items = Array.from({ length: PAGE }, () => ITEM).join(',')
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(`{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[${items}]}`)
  },
  drip: (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write(HEAD)
    const timer = setInterval(() => response.write(' '), DRIP_MS)
    response.on('close', () => clearInterval(timer))
  },
  deep: (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(`${HEAD}${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}]}`)
  },
}

/** 4 MB that become 4 GB of blanks after the beginning of a list. */
function bomb(): Buffer {
  return gzipBomb(HEAD, 4096)
}

/** As fast as the client reads. */
function pour(response: ServerResponse, chunk: Buffer): void {
  while (!response.destroyed) {
    if (!response.write(chunk)) {
      response.once('drain', () => pour(response, chunk))
      return
    }
  }
}

const ca = readFileSync(flags['upstream-ca'])

function handOn(incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = '' } = incoming
  const outgoing = ask(`${flags.upstream}${url}`, { method, headers, ca }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  outgoing.on('error', () => response.destroy())
  incoming.pipe(outgoing)
}

function handle(incoming: IncomingMessage, response: ServerResponse): void {
  const odd = flags.mode === undefined ? undefined : ODD[flags.mode as OddMode]
  if (odd !== undefined && (incoming.url ?? '').includes(flags.path)) odd(response)
  else handOn(incoming, response)
}

const authority = createAuthority('odd test CA')
const { key, certificate } = authority.server(['127.0.0.1'])
const server = flags.plain ? createPlainServer(handle) : createServer({ key, cert: certificate }, handle)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
writeFileSync(join(flags.dir, 'ca.crt'), authority.certificate)
const url = `${flags.plain ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`
process.stdin.resume().on('end', () => process.exit(0))
process.stdout.write(`${JSON.stringify({ url })}\n`)
