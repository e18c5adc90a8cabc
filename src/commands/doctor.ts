import { localChoice, watched, whereTheNodeIs } from '../core/cli/live-node.ts'
import { withChoice } from '../core/cli/load-node.ts'
import { apiFlags, nodeChoice, nodeFlags, snapshotFlag } from '../core/cli/node-flags.ts'
import { planOptions } from '../core/cli/plan-flags.ts'
import { outputFlag, pagerFlag, VolctlCommand } from '../core/cli/volctl-command.ts'
import { diagnose } from '../core/doctor/diagnose.ts'
import type { DoctorFacts } from '../core/doctor/facts.ts'
import { factsOfSnapshot, gatherFacts } from '../core/doctor/gather/gather-facts.ts'
import { ExitStatus } from '../core/errors/exit-status.ts'
import { snapshotWords } from '../core/plan/snapshot-words.ts'
import { readSnapshot } from '../core/snapshot/read-snapshot.ts'
import { renderDoctor } from '../core/views/doctor-view.ts'
import type { Screen } from '../core/views/screen.ts'

export default class Doctor extends VolctlCommand {
  static override summary = 'Check whether volctl can work on this node, and say what to do where not. Changes nothing.'
  static override description =
    'Reads, each on its own, all that plan and apply need: the API server and the credential, its rights by kind of ' +
    'operation, the identity of this machine, the kubelet, static pods, the container runtime, drivers and their sockets, ' +
    'privileges, namespaces, programs, limits and clocks. A check that fails hides no other one, so that doctor answers ' +
    'where plan only fails: without an API server, without root, without a kubelet, on the wrong machine.'
  static override usage = 'doctor [FLAGS]'
  static override examples = [
    { description: 'Can volctl work here:', command: '<%= config.bin %> doctor' },
    { description: 'With the credential that apply will use:', command: '<%= config.bin %> doctor --kubeconfig PATH' },
    {
      description: 'What a snapshot can answer, on any machine:',
      command: '<%= config.bin %> doctor --snapshot node.json -o wide',
    },
    { description: 'For scripts; exit status 1 if plan cannot work:', command: '<%= config.bin %> doctor -o json' },
  ]
  static override flags = {
    output: outputFlag(),
    snapshot: snapshotFlag('Check'),
    ...pagerFlag,
    ...apiFlags,
    ...nodeFlags,
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    const choice = nodeChoice(flags)
    const facts = flags.snapshot === undefined ? await this.#live(choice) : await this.#offline(choice, flags.snapshot)
    const createdAt = facts.state?.snapshot.capturedAt ?? new Date().toISOString()
    const doctor = diagnose(facts, planOptions({}, this.config.version), createdAt)
    const plan = `volctl plan${snapshotWords(flags.snapshot)}`
    const draw = (screen: Screen): string => renderDoctor(doctor, screen, plan, this.verbose || screen.wide)
    await this.answer(doctor, flags.output, draw)
    this.finish(doctor.works.plan ? ExitStatus.Ok : ExitStatus.Failed)
  }

  async #live(choice: ReturnType<typeof nodeChoice>): Promise<DoctorFacts> {
    const { kubeconfig, context } = choice
    const gather = (): Promise<DoctorFacts> =>
      watched(this.detail, (log) =>
        gatherFacts({ ...localChoice(choice), kubeconfig, context, hostRoot: choice.hostRoot, log }),
      )
    return await whereTheNodeIs(choice, gather)
  }

  async #offline(choice: ReturnType<typeof nodeChoice>, file: string): Promise<DoctorFacts> {
    return factsOfSnapshot(withChoice(await readSnapshot(file), choice))
  }
}
