import { closeSync } from 'node:fs'

/** What is made of an open file or directory, which is closed whatever becomes of that. */
export function closing<T>(opened: number, work: (fd: number) => T): T {
  try {
    return work(opened)
  } finally {
    closeSync(opened)
  }
}

/** The same of one that is handed on: it stays open, unless that fails. */
export function closingOnError<T>(opened: number, work: (fd: number) => T): T {
  try {
    return work(opened)
  } catch (error) {
    closeSync(opened)
    throw error
  }
}
