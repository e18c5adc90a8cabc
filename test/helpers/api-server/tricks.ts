/** What a false server, or anyone on the network path, may send: everything that does not end, or ends too late. */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

/** Writes to one request's connection. @returns once the connection has taken it; rejects when that is gone */
type Write = (bytes: string | Buffer) => Promise<void>

/** By the socket itself: no server of Node.js would send these. */
export function writeTo(socket: Socket): Write {
  return async (bytes) => {
    if (socket.destroyed) throw new Error('gone')
    if (socket.write(bytes)) return await setImmediate()
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.once('drain', resolve).once('close', resolve)
    await promise
    socket.off('drain', resolve).off('close', resolve)
  }
}

const JSON_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
const CHUNKED = `${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`
const LIST = '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":['
const MEBIBYTE = 1024 * 1024

const chunk = (body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), Buffer.from(body), Buffer.from('\r\n')])

async function forEver(write: Write, bytes: string | Buffer): Promise<never> {
  for (;;) await write(bytes)
}

function whole(body: string): string {
  return `${JSON_HEAD}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** A page of the kind of list that is asked for. */
function page(path: string, next: string, items: string): string {
  const metadata = `"metadata":{"continue":"${next}"}`
  return whole(`{"kind":"${kindOf(path)}List","apiVersion":"v1",${metadata},"items":[${items}]}`)
}

function kindOf(path: string): string {
  const kinds = { pods: 'Pod', persistentvolumes: 'PersistentVolume', persistentvolumeclaims: 'PersistentVolumeClaim' }
  return Object.entries(kinds).find(([plural]) => path.includes(`/${plural}`))?.[1] ?? 'Object'
}

/** A mebibyte of pods as small as they can be: nothing costs more memory for its bytes than many small objects. */
function manySmall(): string {
  const pods: string[] = []
  for (let length = 0; length < MEBIBYTE; length += pods.at(-1)?.length ?? 0)
    pods.push(`{"metadata":{"uid":"u${pods.length}"},"spec":{"nodeName":"n","a":[{},{},{},{},{},{},{},{}]}}`)
  return pods.join(',')
}

const longText = (): string => `{"metadata":{"uid":"u"},"spec":{"nodeName":"${'\u20ac'.repeat(600_000)}"}}`

const FORBIDDEN = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'

export const TRICKS = {
  'a list without end': async (write) => {
    await write(CHUNKED + chunk(LIST).toString())
    await forEver(write, chunk(Buffer.alloc(MEBIBYTE, '{"metadata":{"name":"x"}},')))
  },
  'a few bytes that unpack without end': async (write) => {
    await write(`${JSON_HEAD}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`)
    await forEver(write, chunk(gzipSync(Buffer.alloc(4 * MEBIBYTE, ' '), { level: 9 })))
  },
  'a byte now and then': async (write) => {
    await write(CHUNKED + chunk(LIST).toString())
    for (;;) {
      await sleep(50)
      await write(chunk(' '))
    }
  },
  'pieces of one byte': async (write) => {
    await write(CHUNKED)
    await forEver(write, Buffer.alloc(6 * 100_000, '1\r\n \r\n'))
  },
  'ever new pages': (write, path) => write(page(path, randomUUID(), '')),
  'ever new pages, each large': (write, path) => write(page(path, randomUUID(), manySmall())),
  /** As of a server that does not know the limit of a page. */
  'one page of everything': (write, path) => write(page(path, '', Array(150_000).fill('{"metadata":{}}').join(','))),
  'large lists of small objects': (write, path) => write(page(path, '', Array(60).fill(manySmall()).join(','))),
  'one large list of small objects': (write, path) =>
    path.includes('/pods') ? write(page(path, '', Array(20).fill(manySmall()).join(','))) : write(FORBIDDEN),
  'one list of long texts': (write, path) =>
    path.includes('/pods') ? write(page(path, '', Array(30).fill(longText()).join(','))) : write(FORBIDDEN),
  'brackets without end': async (write) => {
    await write(CHUNKED)
    for (let sent = 0; sent < 60; sent++) await write(chunk(Buffer.alloc(MEBIBYTE, '[')))
    await write('0\r\n\r\n')
  },
  'hints without end': (write) => forEver(write, 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(1000)),
  'a head without end': async (write) => {
    await write(JSON_HEAD)
    await forEver(write, `X-More: ${'x'.repeat(1000)}\r\n`.repeat(100))
  },
  'a trailer without end': async (write) => {
    await write(`${CHUNKED}2\r\n{}\r\n0\r\n`)
    await forEver(write, `X-More: ${'x'.repeat(1000)}\r\n`.repeat(100))
  },
  'a failure without end': async (write) => {
    await write('HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n')
    await forEver(write, chunk(Buffer.alloc(MEBIBYTE, ' ')))
  },
  'a way to elsewhere': (write) =>
    write(`HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n`),
  'another protocol': (write) =>
    write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nrest'),
  'a list of nothing': (write, path) =>
    write(whole(`{"kind":"${kindOf(path)}List","apiVersion":"v1","metadata":{},"items":[null]}`)),
} satisfies Record<string, (write: Write, path: string) => Promise<void>>

export type TrickName = keyof typeof TRICKS
