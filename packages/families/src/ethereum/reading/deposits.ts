import type { DepositFact, Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import type { EvmLog, EvmTransaction } from './answers.ts'
import { readErc20Deposit, readNativeDeposit, readTransfer, type Transfer } from './events.ts'
import { findTransferCalls } from './transferCalldata.ts'

export type DepositRules = {
  /** Lower case. */
  readonly depository: string
  /** On zkSync chains every native payment also logs a transfer of the system token, which is no deposit. */
  readonly isZksyncStack: boolean
}

const zeroId: Hex = `0x${'0'.repeat(64)}`
const zksyncSystemToken = `0x${'0'.repeat(36)}800a`

/** A log that matters for deposits: an event of the depository, or a token's transfer to it. */
type DepositLog =
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
 * The deposits of one successful transaction, in on-chain order: each event of native coin, and each transfer
 * of a token to the depository. The depository logs its event after the token's transfer, so a transfer's
 * depositor and id are in the events behind it. A transfer without such an id may be a plain one, whose id is
 * in the calldata. It is looked for there only if this is the transaction's one transfer to the depository,
 * since calldata does not tell which of several it labels. Without an id anywhere the deposit has the id
 * zero.
 * @param logs ascending by index
 * @param appendedWordOf the word that follows a transfer's arguments in the calldata; called only if
 * `needsCalldata`
 * @source rules F-123, F-124
 */
export function findDeposits(
  logs: readonly EvmLog[],
  rules: DepositRules,
  appendedWordOf: (transfer: Transfer) => Hex | undefined = () => undefined,
): readonly DepositFact[] {
  const depositLogs = readDepositLogs(logs, rules)
  const onlyTransferLog = findOnlyTransfer(depositLogs)
  return depositLogs.flatMap((entry, position): DepositFact[] => {
    if (entry.kind === 'native') {
      const { log, from, amount, id } = entry
      return [
        depositFact(rules, { log, id, depositor: from, currency: ethereumCodec.nativeCurrency, amount }),
      ]
    }
    // A token's deposit is its transfer; the depository's event only adds depositor and id.
    if (entry.kind === 'erc20' || isSystemTransfer(entry, rules)) return []
    const { log, amount } = entry
    const { depositor, id: eventId } = readFollowingEvents(depositLogs, position, entry)
    const mayUseCalldata = eventId === undefined && entry === onlyTransferLog
    const id = eventId ?? (mayUseCalldata ? idOf(appendedWordOf(entry)) : undefined) ?? zeroId
    return [depositFact(rules, { log, id, depositor, currency: log.address, amount })]
  })
}

/** True if the deposit id can only be in the calldata: there is one transfer to the depository, and no event has an id. */
export function needsCalldata(logs: readonly EvmLog[], rules: DepositRules): boolean {
  const depositLogs = readDepositLogs(logs, rules)
  const onlyTransferLog = findOnlyTransfer(depositLogs)
  if (onlyTransferLog === undefined || isSystemTransfer(onlyTransferLog, rules)) return false
  return (
    readFollowingEvents(depositLogs, depositLogs.indexOf(onlyTransferLog), onlyTransferLog).id === undefined
  )
}

function readDepositLogs(logs: readonly EvmLog[], { depository }: DepositRules): readonly DepositLog[] {
  return logs.flatMap((log): DepositLog[] => {
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

type TransferLog = Extract<DepositLog, { kind: 'transfer' }>

function findOnlyTransfer(depositLogs: readonly DepositLog[]): TransferLog | undefined {
  const transfers = depositLogs.filter((entry) => entry.kind === 'transfer')
  return transfers.length === 1 ? transfers[0] : undefined
}

function isSystemTransfer({ log }: TransferLog, { isZksyncStack }: DepositRules): boolean {
  return isZksyncStack && log.address === zksyncSystemToken
}

/**
 * Depositor and id from the depository's events after a transfer, up to the next transfer. Events with the same token
 * and amount count; of several the last one does. An id of zero is none. Without an event the token's sender deposits.
 */
function readFollowingEvents(
  depositLogs: readonly DepositLog[],
  position: number,
  transfer: TransferLog,
): { readonly depositor: Hex; readonly id: Hex | undefined } {
  let depositor = transfer.from
  let id: Hex | undefined
  for (const entry of depositLogs.slice(position + 1)) {
    if (entry.kind === 'transfer') break
    if (entry.kind === 'native') continue
    if (entry.token !== transfer.log.address || entry.amount !== transfer.amount) continue
    depositor = entry.from
    if (entry.id !== zeroId) id = entry.id
  }
  return { depositor, id }
}

/**
 * Finds the word behind a transfer's arguments in the calldata, by its amount. There is none if several such transfers
 * in the calldata are followed by different words.
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

/** The word as an id; none if it begins with 16 zero bytes, as then it is an argument of some other call. */
function idOf(word: Hex | undefined): Hex | undefined {
  return word?.startsWith(`0x${'0'.repeat(32)}`) ? undefined : word
}

function depositFact(
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
