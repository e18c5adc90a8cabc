/** Units whose process has the name of a kubelet or a runtime. */
import { mkdirSync, symlinkSync } from 'node:fs'

/** A program of this name: a shell, if nothing else is said. */
export function named(directory: string, name: string, of = '/bin/bash'): string {
  const program = `${directory}/bin/${name}`
  mkdirSync(`${directory}/bin`, { recursive: true })
  symlinkSync(of, program)
  return program
}

/**
 * It may start as often as tests want it to.
 *
 * @param more lines of its section Service
 */
export const unitText = (command: string, more = ''): string =>
  `[Unit]\nDefaultDependencies=no\nStartLimitIntervalSec=0\n[Service]\nExecStart=${command}\n${more}[Install]\nWantedBy=test.target\n`

/** Arguments of such a shell that make it live on. */
export const LIVES = "-c 'sleep infinity & wait'"
