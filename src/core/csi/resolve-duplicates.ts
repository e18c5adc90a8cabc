import type { CsiSocket } from '../model/snapshot.ts'
import type { RegistrationAnswer } from './ask-socket.ts'
import { compareVersions, highestSupportedVersion } from './versions.ts'

/**
 * Where several sockets announce one driver, the kubelet keeps the highest version, on a tie the one registered
 * first (C26). The order of registration is the kubelet's memory; the age of the socket files stands for it here.
 * The losers stay in the list, not registered, each naming the winner.
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
      error: `${winner.socket.path} announces ${winner.socket.driver} as well, and counts`,
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
