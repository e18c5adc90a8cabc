import { readFileSync } from 'node:fs'

/** How many operations a plan in JSON has. */
export function plannedOperations(file: string): number {
  const { operations } = JSON.parse(readFileSync(file, 'utf8')) as { operations: readonly unknown[] }
  return operations.length
}
