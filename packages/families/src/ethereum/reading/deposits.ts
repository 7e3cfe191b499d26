import type { DepositFact, Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import type { EvmLog, EvmTransaction } from './answers.ts'
import { readErc20Deposit, readNativeDeposit, readTransfer, type Transfer } from './events.ts'
import { findTransferCalls } from './transferCalldata.ts'

export type DepositRules = {
  /** Lower case. */
  readonly depository: string
  /** On these chains the system token moves beside every native payment. */
  readonly isZksyncStack: boolean
}

const zeroId: Hex = `0x${'0'.repeat(64)}`
const zksyncSystemToken = `0x${'0'.repeat(36)}800a`

type KeptLog =
  | {
      readonly kind: 'native'
      readonly log: EvmLog
      readonly from: Hex
      readonly amount: bigint
      readonly id: Hex
    }
  | {
      readonly kind: 'erc20'
      readonly token: Hex
      readonly from: Hex
      readonly amount: bigint
      readonly id: Hex
    }
  | ({ readonly kind: 'transfer'; readonly log: EvmLog } & Transfer)

/**
 * The deposits of one successful transaction, in on-chain order.
 * @param logs ascending by index
 * @param wordBehind the word that the calldata holds behind a transfer; asked only where `needsCalldata`
 * says so
 * @source rules F-123, F-124
 */
export function findDeposits(
  logs: readonly EvmLog[],
  rules: DepositRules,
  wordBehind: (transfer: Transfer) => Hex | undefined = () => undefined,
): readonly DepositFact[] {
  const kept = keepLogs(logs, rules)
  const single = onlyTransfer(kept)
  return kept.flatMap((entry, position): DepositFact[] => {
    if (entry.kind === 'native') {
      const { log, from, amount, id } = entry
      return [fact(rules, { log, id, depositor: from, currency: ethereumCodec.nativeCurrency, amount })]
    }
    if (entry.kind === 'erc20' || isSystemTransfer(entry, rules)) return []
    const { log, amount } = entry
    const { depositor, id } = lookAhead(kept, position, entry)
    const appended = id === undefined && entry === single ? idOf(wordBehind(entry)) : undefined
    return [fact(rules, { log, id: id ?? appended ?? zeroId, depositor, currency: log.address, amount })]
  })
}

/** True when the calldata decides about an id: one transfer to the depository, and no event names one. */
export function needsCalldata(logs: readonly EvmLog[], rules: DepositRules): boolean {
  const kept = keepLogs(logs, rules)
  const single = onlyTransfer(kept)
  if (single === undefined || isSystemTransfer(single, rules)) return false
  return lookAhead(kept, kept.indexOf(single), single).id === undefined
}

function keepLogs(logs: readonly EvmLog[], { depository }: DepositRules): readonly KeptLog[] {
  return logs.flatMap((log): KeptLog[] => {
    const transfer = readTransfer(log)
    if (transfer !== undefined)
      return transfer.to === depository ? [{ kind: 'transfer', log, ...transfer }] : []
    if (log.address !== depository) return []
    const native = readNativeDeposit(log)
    if (native !== undefined) return [{ kind: 'native', log, ...native }]
    const erc20 = readErc20Deposit(log)
    return erc20 === undefined ? [] : [{ kind: 'erc20', ...erc20 }]
  })
}

type KeptTransfer = Extract<KeptLog, { kind: 'transfer' }>

function onlyTransfer(kept: readonly KeptLog[]): KeptTransfer | undefined {
  const transfers = kept.filter((entry) => entry.kind === 'transfer')
  return transfers.length === 1 ? transfers[0] : undefined
}

function isSystemTransfer({ log }: KeptTransfer, { isZksyncStack }: DepositRules): boolean {
  return isZksyncStack && log.address === zksyncSystemToken
}

/**
 * Deposit events follow the transfer they are about: those up to the next transfer that name its token and
 * amount tell the depositor and, unless zero, the id. The last one wins.
 */
function lookAhead(
  kept: readonly KeptLog[],
  position: number,
  transfer: KeptTransfer,
): { readonly depositor: Hex; readonly id: Hex | undefined } {
  let depositor = transfer.from
  let id: Hex | undefined
  for (let next = position + 1; next < kept.length; next += 1) {
    const entry = kept[next]
    if (entry === undefined || entry.kind === 'transfer') break
    if (entry.kind === 'native') continue
    if (entry.token !== transfer.log.address || entry.amount !== transfer.amount) continue
    depositor = entry.from
    if (entry.id !== zeroId) id = entry.id
  }
  return { depositor, id }
}

/**
 * The word behind the one transfer of `amount` to the depository that stands anywhere in the calldata.
 * Ambiguous means none.
 */
export function wordBehindTransfer(
  { input }: Pick<EvmTransaction, 'input'>,
  { depository }: DepositRules,
): (transfer: Transfer) => Hex | undefined {
  return ({ amount }) => {
    const [first, ...others] = findTransferCalls(input).filter(
      (call) => call.to === depository && call.amount === amount,
    )
    if (first === undefined || others.some(({ appended }) => appended !== first.appended)) return undefined
    return first.appended
  }
}

/** Id in a word, if it is one: a word that begins with 16 zero bytes is an argument of something else. */
function idOf(word: Hex | undefined): Hex | undefined {
  return word?.startsWith(`0x${'0'.repeat(32)}`) ? undefined : word
}

function fact(
  { depository }: DepositRules,
  deposit: {
    readonly log: EvmLog
    readonly id: Hex
    readonly depositor: Hex
    readonly currency: string
    readonly amount: bigint
  },
): DepositFact {
  const { log, id, depositor, currency, amount } = deposit
  return { onchainIndex: log.logIndex.toString(), depository, depositId: id, depositor, currency, amount }
}
