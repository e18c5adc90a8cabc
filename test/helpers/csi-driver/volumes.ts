import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The driver's record of one publication. */
export interface Publication {
  /** The request's lasting part (no tokens, no secrets), for comparison with a second one. */
  readonly parameters: string
  readonly readonly: boolean
}

export interface Volume {
  readonly id: string
  readonly access: 'mount' | 'block'
  readonly ephemeral: boolean
  readonly staged: { readonly path: string; readonly parameters: string } | null
  /** By target path. */
  readonly published: Readonly<Record<string, Publication>>
}

/** The driver's records, kept in one file that is replaced whole at every change. */
export class Volumes {
  readonly #file: string
  #byId: Readonly<Record<string, Volume>>

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'volumes.json')
    try {
      this.#byId = JSON.parse(readFileSync(this.#file, 'utf8'))
    } catch {
      this.#byId = {}
    }
  }

  get(id: string): Volume | undefined {
    return this.#byId[id]
  }

  put(volume: Volume): void {
    this.#write({ ...this.#byId, [volume.id]: volume })
  }

  forget(id: string): void {
    const { [id]: _, ...rest } = this.#byId
    this.#write(rest)
  }

  #write(byId: Readonly<Record<string, Volume>>): void {
    this.#byId = byId
    writeFileSync(`${this.#file}.tmp`, JSON.stringify(byId, null, 1))
    renameSync(`${this.#file}.tmp`, this.#file)
  }
}
