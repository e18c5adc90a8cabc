import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { JsonValue } from '@bufbuild/protobuf'
import type { SandboxState } from '../../../src/core/model/snapshot.ts'
import { startProgram } from '../start-program.ts'

/** What the runtime knows. */
export interface CriData {
  /** In the form of a snapshot's runtime section. */
  readonly pods?: readonly SandboxState[]
  /** Messages of the protocol as JSON, for cases that this form cannot express. */
  readonly sandboxes?: readonly JsonValue[]
  readonly containers?: readonly JsonValue[]
  /** A gRPC code, or HANG, by method. */
  readonly faults?: Readonly<Record<string, string>>
}

export interface CriServer {
  /** `unix:///…` */
  readonly endpoint: string
  readonly socketPath: string
  /** Takes effect with the next call. */
  set(data: CriData): void
  /** Ends it; the socket file stays behind, stale, after `SIGKILL`. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

/** Starts a container runtime that only knows the given data; its data file is beside the socket. */
export async function startCriServer({
  socketPath,
  ...data
}: CriData & { readonly socketPath: string }): Promise<CriServer> {
  const file = `${socketPath}.json`
  mkdirSync(dirname(socketPath), { recursive: true })
  const set = (value: CriData): void => {
    writeFileSync(`${file}.tmp`, JSON.stringify(value))
    renameSync(`${file}.tmp`, file)
  }
  set(data)
  const program = await startProgram(join(import.meta.dirname, 'main.ts'), ['--socket', socketPath, '--data', file])
  return { endpoint: `unix://${socketPath}`, socketPath, set, stop: (signal = 'SIGTERM') => program.end(signal) }
}
