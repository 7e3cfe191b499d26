import type { Hex } from '@causeway/core'
import { isNativeTransferLog } from '@causeway/core/encodings'
import type { EvmLog } from './answers.ts'

/**
 * First topics of the events that readers know. Any contract can emit any log: one with a known topic but another shape
 * than the event's is ignored. Callers must check which contract emitted it.
 * @source Depository.sol, FillContract.sol; ERC-20, EIP-3009
 */
const topics = {
  nativeDeposit: '0x8032066556caf3967d8fec4ad22a2d9e1e9576556b2903a0fcd5b1fd201e3477',
  erc20Deposit: '0x49fed1d0b752ce30eee63c7a81133f3363b532fec5d4d7dd1ccfd005de4555e1',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  solverNativeTransfer: '0xd35467972d1fda5b63c735f59d3974fa51785a41a92aa3ed1b70832836f8dba6',
  solverCallExecuted: '0x93485dcd31a905e3ffd7b012abe3438fa8fa77f98ddc9f50e879d3fa7ccdc324',
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  paid: '0x88c9994e0582236ce5163e0506e5fc65fbfecfb16e117d612a59dbc665a18290',
  relayCallExecuted: '0x4be109453ef7e895dc7215c929fff9b76b51483d56a4d04548b4866e9aa7c5ea',
} as const

/** The depository's events for native coin and for tokens. */
export const depositTopics = [topics.nativeDeposit, topics.erc20Deposit]
export const transferTopic = topics.transfer
export const paidTopic = topics.paid

/** An address as a topic of an event, for filters. */
export const addressTopic = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`

export type NativeDeposit = { readonly from: Hex; readonly amount: bigint; readonly id: Hex }
export type Erc20Deposit = NativeDeposit & { readonly token: Hex }
export type Transfer = { readonly from: Hex; readonly to: Hex; readonly amount: bigint }
/** Events of a fill contract. */
export type SolverNativeTransfer = { readonly to: Hex; readonly amount: bigint }
export type ExecutedCall = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

export function readNativeDeposit({ topics: logTopics, data }: EvmLog): NativeDeposit | undefined {
  if (!isPlain(logTopics, topics.nativeDeposit) || wordCount(data) !== 3) return undefined
  const from = addressAt(data, 0)
  return from && { from, amount: uintAt(data, 1), id: wordAt(data, 2) }
}

export function readErc20Deposit({ topics: logTopics, data }: EvmLog): Erc20Deposit | undefined {
  if (!isPlain(logTopics, topics.erc20Deposit) || wordCount(data) !== 4) return undefined
  const from = addressAt(data, 0)
  const token = addressAt(data, 1)
  return from && token && { from, token, amount: uintAt(data, 2), id: wordAt(data, 3) }
}

/** Sender of a transfer of an ERC-20, ERC-721 or ERC-1155 token. */
export function readTransferSender(log: EvmLog): Hex | undefined {
  const [topic, first, second] = log.topics
  if (isNativeTransferLog(log)) return undefined
  // An ERC-1155 event names an operator before the sender.
  const sender = topic === topics.transfer ? first : topics1155.has(topic ?? '') ? second : undefined
  return sender === undefined ? undefined : addressAt(sender, 0)
}

/** `TransferSingle` and `TransferBatch`. */
const topics1155: ReadonlySet<string> = new Set([
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
])

/** An ERC-20 transfer. ERC-721 transfers have a fourth topic; they, and logs of native transfers, are ignored. */
export function readTransfer(log: EvmLog): Transfer | undefined {
  const { topics: logTopics, data } = log
  const [topic, from, to, more] = logTopics
  if (isNativeTransferLog(log)) return undefined
  if (topic !== topics.transfer || from === undefined || to === undefined || more !== undefined)
    return undefined
  if (wordCount(data) !== 1) return undefined
  const sender = addressAt(from, 0)
  const receiver = addressAt(to, 0)
  return sender && receiver && { from: sender, to: receiver, amount: uintAt(data, 0) }
}

export function readSolverNativeTransfer({
  topics: logTopics,
  data,
}: EvmLog): SolverNativeTransfer | undefined {
  if (!isPlain(logTopics, topics.solverNativeTransfer) || wordCount(data) !== 2) return undefined
  const to = addressAt(data, 0)
  return to && { to, amount: uintAt(data, 1) }
}

/** `SolverCallExecuted(address to, bytes data, uint256 value)`. */
export function readSolverCallExecuted({ topics: logTopics, data }: EvmLog): ExecutedCall | undefined {
  if (!isPlain(logTopics, topics.solverCallExecuted)) return undefined
  const to = addressAt(data, 0)
  const bytes = bytesAt(data, { head: 1, base: 0 })
  return to && bytes && { to, data: bytes, value: uintAt(data, 2) }
}

/** `Paid(address indexed filler, bytes32 indexed id)` of our fill contract. */
export function readPaid({
  topics: logTopics,
  data,
}: EvmLog): { readonly filler: Hex; readonly id: Hex } | undefined {
  const [topic, filler, id, more] = logTopics
  if (topic !== topics.paid || filler === undefined || id === undefined || more !== undefined)
    return undefined
  const account = data === '0x' ? addressAt(filler, 0) : undefined
  return account && { filler: account, id }
}

/** Signer of an EIP-3009 authorization: `AuthorizationUsed(address indexed, bytes32 indexed)`. */
export function readAuthorizer({ topics: logTopics }: EvmLog): Hex | undefined {
  const [topic, authorizer] = logTopics
  return topic === topics.authorizationUsed && authorizer !== undefined ? addressAt(authorizer, 0) : undefined
}

/** `RelayCallExecuted(bytes32 id, (address to, bytes data, uint256 value, bool allowFailure) call)`. */
export function readRelayCallExecuted({
  topics: logTopics,
  data,
}: EvmLog): (ExecutedCall & { readonly id: Hex }) | undefined {
  // At least seven words: id, offset of the call, its four members, and the length of its data.
  if (!isPlain(logTopics, topics.relayCallExecuted) || wordCount(data) < 7) return undefined
  const base = wordOffset(data, 1, 0)
  if (base === undefined || wordCount(data) < base + 4) return undefined
  const to = addressAt(data, base)
  const bytes = bytesAt(data, { head: base + 1, base })
  return to && bytes && { id: wordAt(data, 0), to, data: bytes, value: uintAt(data, base + 2) }
}

/** True if the event's topic is the only one: none of these events has an indexed member. */
function isPlain(logTopics: readonly Hex[], topic: Hex): boolean {
  return logTopics.length === 1 && logTopics[0] === topic
}

function wordCount(data: Hex): number {
  return (data.length - 2) / 64
}

function wordAt(data: Hex, word: number): Hex {
  return `0x${data.slice(2 + 64 * word, 66 + 64 * word)}`
}

function uintAt(data: Hex, word: number): bigint {
  return BigInt(wordAt(data, word))
}

/** `undefined` when the word is missing or its upper bytes are not zero. */
function addressAt(data: Hex, word: number): Hex | undefined {
  const text = wordAt(data, word)
  return text.length === 66 && text.startsWith(addressPadding) ? `0x${text.slice(26)}` : undefined
}

/** Word to which the offset in `word` points: it counts bytes from word `base`, the first of its tuple. */
function wordOffset(data: Hex, word: number, base: number): number | undefined {
  const bytes = uintAt(data, word)
  // A loose bound that keeps the number small; callers check that the words behind the offset are there.
  return bytes % 32n === 0n && bytes < BigInt(data.length) ? base + Number(bytes / 32n) : undefined
}

/** The `bytes` member whose offset is in word `head`; `undefined` when it does not lie inside `data`. */
function bytesAt(
  data: Hex,
  { head, base }: { readonly head: number; readonly base: number },
): Hex | undefined {
  // Both events have a member behind the offset, which callers read.
  if (wordCount(data) < head + 2) return undefined
  const start = wordOffset(data, head, base)
  if (start === undefined || wordCount(data) < start + 1) return undefined
  const length = uintAt(data, start)
  const dataStart = 2 + 64 * (start + 1)
  if (BigInt(dataStart) + 2n * length > BigInt(data.length)) return undefined
  return `0x${data.slice(dataStart, dataStart + 2 * Number(length))}`
}

const addressPadding = `0x${'0'.repeat(24)}`
