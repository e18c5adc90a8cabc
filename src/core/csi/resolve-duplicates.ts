import type { CsiSocket } from '../model/snapshot.ts'
import type { RegistrationAnswer } from './ask-socket.ts'
import { compareVersions, highestSupportedVersion } from './versions.ts'

/**
 * If several sockets announce the same driver, the kubelet keeps the one with the highest version, or the one that registered
 * first (C26). Only the kubelet knows the order of registration, so the age of the socket files is used instead. The other
 * sockets stay in the list as not registered, and name the socket that is kept.
 */
export function resolveDuplicates(answers: readonly RegistrationAnswer[]): readonly CsiSocket[] {
  const winners = new Map<string, RegistrationAnswer>()
  for (const answer of answers) {
    const { driver } = answer.socket
    if (driver === undefined || highest(answer) === undefined) continue
    const other = winners.get(driver)
    if (other === undefined || beats(answer, other)) winners.set(driver, answer)
  }
  return answers.map((answer) => {
    const winner = winners.get(answer.socket.driver ?? '')
    if (winner === undefined || winner === answer || highest(answer) === undefined) return answer.socket
    return {
      ...answer.socket,
      registered: false,
      error: `${winner.socket.path} announces ${winner.socket.driver}, too, and is the one in use`,
    }
  })
}

function beats(a: RegistrationAnswer, b: RegistrationAnswer): boolean {
  const byVersion = compareVersions(highest(a) ?? '', highest(b) ?? '')
  return byVersion === 0 ? a.madeAt < b.madeAt : byVersion > 0
}

function highest({ socket }: RegistrationAnswer): string | undefined {
  return highestSupportedVersion(socket.versions ?? [])
}
