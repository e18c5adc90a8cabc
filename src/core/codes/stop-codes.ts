/** What stands in the way of stopping the kubelet for an apply, and how that ends (S35). */
import type { CodeEntry } from './code-entry.ts'

export const STOP_CODES = {
  NoKubeletUnit: {
    in: ['refusal'],
    cause: 'kubelet',
    means: 'the kubelet runs in no systemd unit that volctl could stop and start again',
    next: 'Stop what runs the kubelet yourself, then: volctl apply; and start it again.',
    rules: ['S35'],
  },
  KubeletUnsteady: {
    in: ['refusal'],
    cause: 'kubelet',
    means: "the kubelet's unit does not run steadily, or something else may start it at any moment",
    next: 'See why (systemctl status UNIT). volctl stops only a unit that runs, and that stays stopped.',
    rules: ['S35'],
  },
  UnitRunsMore: {
    in: ['refusal'],
    cause: 'kubelet',
    means: "more than the kubelet would stop with its unit: this node's API server, containers or other units",
    next: 'For an API server, give the --kubeconfig of another one; for the rest, see the message.',
    rules: ['S35'],
  },
  TimerNotArmed: {
    in: ['refusal'],
    cause: 'kubelet',
    means: 'systemd did not set the timer that starts the kubelet again whatever happens',
    next: 'Stop and start the kubelet yourself, around: volctl apply',
    rules: ['S35'],
  },
  NoTimeLeft: {
    in: ['outcome'],
    cause: 'kubelet',
    means: 'the operation was not begun: it could not end before the kubelet has to run again',
    next: 'Run the same command again, or with a longer --max-downtime.',
    rules: ['S35'],
  },
  KubeletNotStarted: {
    in: ['error'],
    means: "the kubelet's unit did not start again after the apply",
    next: 'See why (journalctl -u UNIT). systemd tries once more when --max-downtime is over.',
    rules: ['S35'],
  },
} as const satisfies Record<string, CodeEntry>
