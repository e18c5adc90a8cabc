import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LogEntry {
  readonly phase: 'begin' | 'end'
  /** Number of the call within this run of the driver. */
  readonly call: number
  readonly rpc: string
  /** The request as JSON, secrets masked. */
  readonly request: Readonly<Record<string, unknown>>
  /** The answer's code, at the end. */
  readonly code?: string
  readonly message?: string
}

export interface Violation {
  readonly rpc: string
  readonly text: string
  readonly request: Readonly<Record<string, unknown>>
}

/** The driver's two logs, one JSON object a line, written before the answer leaves. */
export class Journal {
  readonly #requests: string
  readonly #violations: string

  constructor(stateDir: string) {
    this.#requests = join(stateDir, 'requests.jsonl')
    this.#violations = join(stateDir, 'violations.jsonl')
  }

  log(entry: LogEntry): void {
    appendFileSync(this.#requests, `${JSON.stringify(entry)}\n`)
  }

  violation(violation: Violation): void {
    appendFileSync(this.#violations, `${JSON.stringify(violation)}\n`)
  }

  requests(): readonly LogEntry[] {
    return readLines(this.#requests) as LogEntry[]
  }

  violations(): readonly Violation[] {
    return readLines(this.#violations) as Violation[]
  }
}

function readLines(file: string): unknown[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  } catch {
    return []
  }
}
