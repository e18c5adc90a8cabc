import { givenBy } from '../core/cli/command-context.ts'
import { doctorFlags } from '../core/cli/flags.ts'
import { watched, whereTheNodeIs, withChoice } from '../core/cli/live-node.ts'
import { nodeChoice, planOptions } from '../core/cli/options.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { diagnose } from '../core/explain/doctor/diagnose.ts'
import { type DoctorLook, lookForDoctor } from '../core/explain/doctor/doctor-look.ts'
import { ExitStatus } from '../core/messages/findings.ts'
import { readSnapshot } from '../core/plan/documents/snapshot-file.ts'
import { DEFAULT_SETTLE_MS } from '../core/plan/plan.ts'
import { renderDoctor } from '../core/views/doctor-view.ts'

export default class Doctor extends VolctlCommand {
  static override summary = 'Check whether volctl can work on this node, and say what to do where not. Changes nothing.'
  static override description =
    'Reads what plan reads, and says what could be read, what not, and why: the API server and the credential, its rights ' +
    'for plan and for apply, the safety rules that refuse a plan, the kubelet, the container runtime, drivers and their sockets, ' +
    'privileges, namespaces and clocks. What cannot be read hides nothing else, so that doctor answers ' +
    'where plan only fails: without an API server, without root, without a kubelet, on the wrong machine.'
  static override usage = 'doctor [FLAGS]'
  static override examples = examples({
    'Can volctl work here:': '$ doctor',
    'With the credential that apply will use:': '$ doctor --kubeconfig PATH',
    'What a snapshot can answer, on any machine:': '$ doctor --snapshot node.json -o wide',
    'For scripts; exit status 1 if plan cannot work:': '$ doctor -o json',
  })
  static override flags = doctorFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    const choice = nodeChoice(flags)
    const look: DoctorLook =
      flags.snapshot === undefined
        ? await whereTheNodeIs(choice, () => watched(this.detail, (log) => lookForDoctor({ ...choice, log })))
        : { state: withChoice(await readSnapshot(flags.snapshot), choice), failures: {} }
    const createdAt = look.state?.snapshot.capturedAt ?? new Date().toISOString()
    const doctor = diagnose(look, planOptions({}, this.config.version), createdAt)
    const given = givenBy(flags, DEFAULT_SETTLE_MS)
    await this.answer(doctor, flags.output, (screen) => renderDoctor(doctor, screen, given, this.verbose))
    this.finish(doctor.works.plan ? ExitStatus.Ok : ExitStatus.Failed)
  }
}
