/**
 * kube-controller-manager's attach/detach controller, as far as the API sees it: a separate process that holds the lease, and attaches
 * and detaches while it leads.
 *
 *     main.ts KUBECONFIG IDENTITY LONGEST_WAIT_MS
 *
 * Each line of standard input is a command, which is answered with a line of JSON when it is done:
 *
 *     renew      one attempt to get the lease, or to keep it
 *     pass       the same; and, where it leads, one pass
 *     stop N     a pass that stops right before its N-th change, and says which it is; the change is made at `go`
 *     run        passes, one after the other, until `halt`
 *     release    gives the lease back
 */
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '../../../src/core/api/api-error.ts'
import { createKubeClient } from '../../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/api/kubeconfig/kube-config.ts'
import { ATTACHMENTS, listPath, NODES, objectPath } from '../../../src/core/model/resources.ts'
import { readyUntilEnd } from '../start-program.ts'
import { type Action, decide, type Memory } from './decide.ts'
import { acquireOrRenew, release } from './leader.ts'
import { type AttachmentObject, lookAtWorld } from './world.ts'

const [kubeconfig = '', identity = '', longestWait = '0'] = process.argv.slice(2)
const client = createKubeClient(discoverKubeConfig({ kubeconfig }))
const memory: Memory = new Map()
const lines = createInterface({ input: process.stdin })
const commands = lines[Symbol.asyncIterator]()
let halted = false

readyUntilEnd(() => client.close())
lines.on('line', (line) => {
  halted ||= line === 'halt'
})
for (;;) {
  const { value, done } = await commands.next()
  if (done) break
  process.stdout.write(`${JSON.stringify(await answer(String(value)))}\n`)
}

async function answer(line: string): Promise<object> {
  const [command, count = '0'] = line.split(' ')
  switch (command) {
    case 'renew':
      return { leads: await acquireOrRenew(client, identity) }
    case 'pass':
      return await pass(0)
    case 'stop':
      return await pass(Number(count))
    case 'run':
      return await run()
    case 'halt':
      return {}
    case 'release':
      await release(client)
      return {}
    default:
      return { error: `unknown command ${line}` }
  }
}

interface Passed {
  readonly leads: boolean
  /** Changes that the server made for it. */
  readonly did: string[]
  /** Changes that somebody else made before. */
  readonly late: string[]
  /** Attachments that it saw on the way: not attached yet, or not gone yet. */
  readonly open: number
}

async function pass(stopBefore: number): Promise<Passed> {
  const [did, late]: [string[], string[]] = [[], []]
  if (!(await acquireOrRenew(client, identity))) {
    // kube-controller-manager ends here, and what starts in its place remembers nothing.
    memory.clear()
    return { leads: false, did, late, open: 0 }
  }
  const timing = { now: Date.now(), longestWaitMs: Number(longestWait) }
  const world = await lookAtWorld(client)
  for (const [index, action] of decide(world, memory, timing).entries()) {
    const text = textOf(action)
    if (index + 1 === stopBefore) {
      process.stdout.write(`${JSON.stringify({ before: text })}\n`)
      await commands.next()
    }
    const isDone = await carryOut(action)
    ;(isDone ? did : late).push(text)
  }
  return { leads: true, did, late, open: world.attachments.filter(isOnTheWay).length }
}

function isOnTheWay({ metadata, status }: AttachmentObject): boolean {
  return metadata.deletionTimestamp != null || status?.attached !== true
}

async function run(): Promise<Omit<Passed, 'open'>> {
  const all = { leads: true, did: [] as string[], late: [] as string[] }
  for (halted = false; !halted; ) {
    const { leads, did, late } = await pass(0)
    all.leads &&= leads
    all.did.push(...did)
    all.late.push(...late)
    await pause(50)
  }
  // The command itself, which only ends the loop.
  await commands.next()
  return all
}

function textOf({ kind, node, ...action }: Action): string {
  return 'volume' in action ? `${kind} ${action.volume} ${node}` : `${kind} ${node}`
}

/** No preconditions: so does the controller (R738, R745). @returns false: somebody else was first */
async function carryOut(action: Action): Promise<boolean> {
  try {
    switch (action.kind) {
      case 'report': {
        const volumesAttached = action.volumes.map((name) => ({ name, devicePath: '' }))
        await client.mergePatch(objectPath(NODES, { name: action.node }), { status: { volumesAttached } })
        return true
      }
      case 'detach':
        await client.delete(objectPath(ATTACHMENTS, { name: action.attachment }), { kind: 'DeleteOptions' })
        return true
      case 'attach':
        await client.create(listPath(ATTACHMENTS), {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'VolumeAttachment',
          metadata: { name: action.attachment },
          spec: action.spec,
        })
        return true
      default:
        throw action satisfies never
    }
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return false
    throw error
  }
}
