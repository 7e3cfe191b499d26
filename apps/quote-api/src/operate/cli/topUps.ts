import { z } from 'zod'
import {
  creditSuspense,
  findTransactionTopUps,
  haltedTopUps,
  listSuspense,
  resumeHalted,
  reverseFinal,
} from '../../money/topUps/operator.ts'
import type { Command } from './command.ts'
import { CommandError } from './commandError.ts'
import { integer, readId32, readReason, readUsd, readValue, readWallet, reasonFlag } from './readValue.ts'
import { tableOf } from './tableOf.ts'

const hoursBack = z
  .string()
  .regex(/^[1-9][0-9]{0,3}$/, 'expected 1 to 9999 hours')
  .transform(Number)
const pageSize = 1_000
const unknownAdvice =
  'Book what was paid: `solver fills <since>` prints it into a file, and `ledger fills <file>` says of whom it was.'

export const topUpCommands: readonly Command[] = [
  {
    words: 'topup calldata',
    about: 'Print the transaction that tops a balance up; any wallet can send it',
    flags: {
      usdc: { value: '<amount>', about: 'How much, e.g. 25', isRequired: true },
      wallet: { value: '<address>', about: 'Whose balance; default: the sender of the transaction' },
    },
    async run({ chain }, args) {
      const amountMicroUsd = readUsd(args.text('usdc') ?? '', '--usdc')
      const wallet = args.text('wallet')
      const owner = wallet === undefined ? undefined : readWallet(wallet, '--wallet')
      const { transaction, lines } = (await chain()).topUp({ amountMicroUsd, owner })
      return { data: transaction, lines }
    },
  },
  {
    words: 'topup find',
    about: 'Show what became of a transaction: its top-ups with their ids',
    operands: ['chain', 'transaction'],
    async run({ database }, args) {
      const chainId = Number(readValue(integer, args.operand('chain'), '<chain>'))
      const transactionHash = readId32(args.operand('transaction'), '<transaction>')
      const events = await findTransactionTopUps(database, { chainId, transactionHash })
      const rows = events.map((event) => ({
        id: event.id.toString(),
        state: event.state,
        block: event.blockNumber.toString(),
        microUsdc: event.value.toString(),
        owner: event.creditedOwner ?? event.claimedOwner ?? 'suspense',
      }))
      return { data: { events }, lines: rows.length === 0 ? ['No top-up is known.'] : tableOf(rows) }
    },
  },
  {
    words: 'topup halted',
    about: 'List accounts whose top-ups stopped because a final block changed',
    async run({ database }) {
      const halted = await haltedTopUps(database)
      const lines = halted.map(
        ({ account, cursor }) =>
          `chain ${account.chainId}, custody ${account.custody}: ${cursor.haltedReason}`,
      )
      return { data: { halted }, lines: lines.length === 0 ? ['Nothing is halted.'] : lines }
    },
  },
  {
    words: 'topup reverse',
    changes: true,
    about: 'Take a final top-up back that its chain dropped; what is spent is booked as a loss',
    operands: ['id'],
    flags: { reason: reasonFlag },
    async run({ database, actor }, args) {
      const eventId = readValue(integer, args.operand('id'), '<id>')
      await reverseFinal(database, { eventId, actor, reason: readReason(args) })
      return { data: { id: eventId }, lines: [`Top-up ${eventId} is reversed.`] }
    },
  },
  {
    words: 'topup resume',
    changes: true,
    about: 'Let a halted chain go on behind a block that everybody agrees on',
    operands: ['chain'],
    flags: {
      block: { value: '<number>', about: 'Everything up to it counts as settled', isRequired: true },
      hash: { value: '<hash>', about: 'Its hash, from sources outside this service', isRequired: true },
      reason: reasonFlag,
    },
    async run({ database, actor }, args) {
      const chainId = Number(readValue(integer, args.operand('chain'), '<chain>'))
      const finalTo = readValue(integer, args.text('block'), '--block')
      const finalHash = readId32(args.text('hash') ?? '', '--hash')
      const reason = readReason(args)
      const resumed = await resumeHalted(database, { chainId, finalTo, finalHash, actor, reason })
      if (resumed === 0) throw new CommandError(`Nothing is halted on chain ${chainId}.`)
      return {
        data: { chainId, finalTo, finalHash },
        lines: [`Chain ${chainId} goes on behind block ${finalTo}.`],
      }
    },
  },
  {
    words: 'suspense list',
    about: 'List money that arrived and names no balance, oldest first',
    flags: { after: { value: '<id>', about: 'Go on behind this entry' } },
    async run({ database }, args) {
      const after = readValue(integer, args.text('after') ?? '0', '--after')
      const events = await listSuspense(database, { after, limit: pageSize })
      const rows = events.map((event) => ({
        id: event.id.toString(),
        transaction: event.transactionHash,
        from: event.from,
        microUsdc: event.value.toString(),
        // Reading the credited wallet from suspended money failed; `parse` says why.
        why: event.parse,
      }))
      return { data: { events }, lines: rows.length === 0 ? ['Nothing is in suspense.'] : tableOf(rows) }
    },
  },
  {
    words: 'suspense credit',
    changes: true,
    about: 'Give money in suspense to the balance of a wallet',
    operands: ['id', 'wallet'],
    flags: { reason: reasonFlag },
    async run({ database, actor }, args) {
      const eventId = readValue(integer, args.operand('id'), '<id>')
      const wallet = readWallet(args.operand('wallet'), '<wallet>')
      const reason = readReason(args)
      await creditSuspense(database, { eventId, wallet, actor, reason })
      return { data: { id: eventId, wallet }, lines: [`Entry ${eventId} is credited to ${wallet}.`] }
    },
  },
  {
    words: 'ledger reconcile',
    about:
      'Compare settled top-ups with another endpoint, and payments of the fill wallet with requests; exit code 1 when they differ',
    flags: {
      from: { value: '<block>', about: 'First block; default: the first one watched' },
      to: { value: '<block>', about: 'Last block; default: the last settled one' },
      hours: { value: '<count>', about: 'Of which payments are compared; default: 24' },
    },
    async run({ chain }, args) {
      const [from, to] = ['from', 'to'].map((name) => {
        const text = args.text(name)
        return text === undefined ? undefined : readValue(integer, text, `--${name}`)
      })
      const hours = readValue(hoursBack, args.text('hours') ?? '24', '--hours')
      const opened = await chain()
      const reconciliation = await opened.reconcile({ from, to })
      const unknown = await opened.unknownPayments({ hours })
      const lines = [
        `Blocks ${reconciliation.from} to ${reconciliation.to}: ${reconciliation.explainedMicroUsd} of ${reconciliation.totalMicroUsd} micro-USDC explained.`,
        ...reconciliation.differences.map(
          ({ kind, transactionHash, logIndex, valueMicroUsd }) =>
            `${kind}: ${transactionHash} log ${logIndex}, ${valueMicroUsd} micro-USDC`,
        ),
        `Payments of the last ${hours} h that no request here explains: ${unknown.payments.length}.`,
        ...unknown.payments.map(
          ({ chain: key, transactionId, orderId }) => `unknown: ${transactionId} on ${key}, order ${orderId}`,
        ),
        ...(unknown.payments.length === 0 ? [] : [unknownAdvice]),
        ...(unknown.notCompared.length === 0 ? [] : [`Not compared: ${unknown.notCompared.join(', ')}.`]),
      ]
      return {
        data: { ...reconciliation, unknownPayments: unknown.payments, notCompared: unknown.notCompared },
        lines,
        isFailure: reconciliation.differences.length + unknown.payments.length > 0,
      }
    },
  },
]
