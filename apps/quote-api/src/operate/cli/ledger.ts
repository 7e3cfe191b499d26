import type { LedgerFinding } from '@causeway/ledger'
import { z } from 'zod'
import type { Command } from './command.ts'
import { readReason, readValue, readWallet, reasonFlag } from './readValue.ts'

const sequence = z
  .string()
  .regex(/^[0-9]{1,18}$/, 'expected a sequence number')
  .transform(BigInt)

export const ledgerCommands: readonly Command[] = [
  {
    words: 'ledger verify',
    changes: true,
    about: 'Check that every micro-dollar is explained; what is not stops reservations, exit code 1',
    flags: { cheap: { about: 'Counters and open holds only, without replaying the history' } },
    async run({ administration, actor }, args) {
      const findings = await administration.ledger.verify(args.isOn('cheap') ? 'cheap' : 'all', actor)
      const halt = await administration.ledger.halt()
      const haltLines =
        halt === undefined ? [] : [`New reservations are halted since ${halt.haltedAt.toISOString()}.`]
      const lines = findings.length === 0 ? ['The books add up.'] : linesOf(findings)
      return {
        data: { findings, haltedAt: halt?.haltedAt ?? null },
        lines: [...lines, ...haltLines],
        isFailure: findings.length > 0,
      }
    },
  },
  {
    words: 'ledger resume',
    changes: true,
    about: 'Check everything; when the books add up, let halted reservations go on',
    flags: { reason: reasonFlag },
    async run({ administration, actor }, args) {
      const { findings, wasHalted } = await administration.ledger.resume({ actor, reason: readReason(args) })
      const doneLine = wasHalted ? 'Reservations go on.' : 'Nothing was halted.'
      return {
        data: { findings, wasHalted },
        lines: findings.length === 0 ? [doneLine] : [...linesOf(findings), 'Reservations stay halted.'],
        isFailure: findings.length > 0,
      }
    },
  },
  {
    words: 'ledger backup',
    about: 'Print all tables as text from one snapshot, for a file; the service may go on',
    async run({ administration, print }) {
      // `print` ends each line itself.
      await administration.ledger.backup((lines) => print(lines.trimEnd()))
      return undefined
    },
  },
  {
    words: 'ledger restore',
    changes: true,
    about: 'Fill an empty database from a backup, all or nothing',
    operands: ['file'],
    async run({ administration, actor, readLines }, args) {
      await administration.ledger.restore(readLines(args.operand('file')), actor)
      return { data: { restored: true }, lines: ['Restored. Run ledger verify now.'] }
    },
  },
  ...[true, false].map((isFrozen): Command => {
    const verb = isFrozen ? 'freeze' : 'unfreeze'
    return {
      words: `sponsor ${verb}`,
      changes: true,
      about: isFrozen
        ? "Stop a wallet's money: no new holds, no payments; posts of holds go on"
        : "Let a wallet's money move again",
      operands: ['wallet'],
      flags: { reason: reasonFlag },
      async run({ administration, actor }, args) {
        const wallet = readWallet(args.operand('wallet'), '<wallet>')
        const auditNote = { actor, reason: readReason(args) }
        const isDone = await administration.ledger.setFrozen(wallet, isFrozen, auditNote)
        const line = isDone
          ? `${wallet} is ${isFrozen ? 'frozen' : 'free'}.`
          : `${wallet} has no balance or is so already.`
        return { data: { wallet, frozen: isFrozen, done: isDone }, lines: [line], isFailure: !isDone }
      },
    }
  }),
  {
    words: 'ledger export',
    about: 'Print every transfer as one line of JSON, oldest first',
    flags: { after: { value: '<seq>', about: 'Go on behind this sequence number' } },
    async run({ administration, print }, args) {
      const after = readValue(sequence, args.text('after') ?? '0', '--after')
      for await (const line of administration.ledger.export(after)) await print(line.trimEnd())
      return undefined
    },
  },
]

function linesOf(findings: readonly LedgerFinding[]): readonly string[] {
  return findings.map(
    ({ invariant, problem, figures }) => `${invariant}: ${problem} ${JSON.stringify(figures)}`,
  )
}
