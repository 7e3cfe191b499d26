import { type Hex, isAnyCaseHex32 } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import {
  MalformedAnswerError,
  parseBytes,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
  toQuantity,
} from '@causeway/rpc'
import type { Payment } from '../../shared/addressPayments.ts'
import type { AddressPayments, PaymentRange } from '../../shared/settlingChain.ts'
import { parseHead } from '../agreement/head.ts'
import { transferTopic } from '../rules/topUps/transferLogs.ts'
import { type BlockWithHash, blockReading, parseAddress, type Reading, resultOf } from './chainReadings.ts'

const blockMethod = 'eth_getBlockByNumber'
const logsMethod = 'eth_getLogs'

/**
 * Reads whole blocks for payments, so that the cost does not depend on the number of watched addresses. Native coin
 * that a contract pays is in no transaction's value. The contract usually is told the payee in its calldata, so all
 * addresses that calldata may name are returned as `named`, and the caller reads balances of those that it watches.
 * By the hash at `range.known`, the last block of its previous reading, it sees whether that was reorganised.
 */
export function blockPaymentsReading(tokens: readonly Hex[], range: PaymentRange): Reading<AddressPayments> {
  // CAST: zero, as 20 bytes of hex.
  const nativeCurrency = ethereumCodec.nativeCurrency as Hex
  const watched = { nativeCurrency, tokens: new Set(tokens) }
  const heights = heightsOf(range)
  const knownBlock = blockReading(range.known)
  const logs = {
    method: logsMethod,
    params: [
      {
        address: tokens,
        topics: [transferTopic],
        fromBlock: toQuantity(range.transfersFrom),
        toBlock: toQuantity(range.to),
      },
    ],
  }
  return {
    calls: [
      ...knownBlock.calls,
      ...heights.map((height) => ({ method: blockMethod, params: [toQuantity(height), true] })),
      ...(tokens.length > 0 && range.transfersFrom <= range.to ? [logs] : []),
    ],
    parse: ([knownAnswer, ...answers]) => ({
      known: knownBlock.parse([knownAnswer]),
      ...parseBlockPayments(answers, range, watched),
    }),
  }
}

/** Currencies of payments, as 20 bytes of lower-case hex. */
type WatchedCurrencies = { readonly nativeCurrency: Hex; readonly tokens: ReadonlySet<Hex> }

/**
 * Payments in the range's blocks, and in transfers of tokens since `transfersFrom`, which may be below the range.
 * @param answers a block per height, and the transfers if they were asked for
 * @throws MalformedAnswerError, NodeError
 */
export function parseBlockPayments(
  answers: readonly (RpcAnswer | undefined)[],
  range: Omit<PaymentRange, 'known'>,
  { nativeCurrency, tokens }: WatchedCurrencies,
): Omit<AddressPayments, 'known'> {
  const heights = heightsOf(range)
  const blocks = heights.map((height, index) => parseBlock(answers[index], height))
  // All blocks must be of one branch: else payments of the branch that stays could be missed.
  for (const [index, block] of blocks.entries()) {
    const previous = blocks[index - 1]
    if (previous !== undefined && block.parentHash !== previous.hash)
      throw new MalformedAnswerError(blockMethod)
  }
  const nativePayments = blocks.flatMap(({ payments }) =>
    payments.map(({ valueWei, ...rest }) => ({ ...rest, currency: nativeCurrency, amount: valueWei })),
  )
  const tokenPayments = answers.slice(heights.length).flatMap((answer) => transfersOf(answer, range, tokens))
  const last = blocks.at(-1)
  return {
    last: last && { number: last.number, hash: last.hash },
    payments: [...nativePayments, ...tokenPayments],
    named: [...new Set(blocks.flatMap(({ named }) => named))],
  }
}

function heightsOf({ from, to }: { readonly from: bigint; readonly to: bigint }): readonly bigint[] {
  return Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index))
}

/** Payments of native coin in one block, and addresses that its calldata may name. */
type PaidBlock = BlockWithHash & {
  readonly parentHash: Hex
  readonly payments: readonly {
    readonly from: Hex
    readonly to: Hex
    readonly valueWei: bigint
    readonly transactionHash: Hex
  }[]
  readonly named: readonly Hex[]
}

function parseBlock(answer: RpcAnswer | undefined, height: bigint): PaidBlock {
  const result = resultOf(answer)
  const { number, hash, parentHash } = parseHead(result)
  if (number !== height) throw new MalformedAnswerError(blockMethod)
  const transactions = parseList(parseRecord(result, blockMethod)['transactions'], blockMethod).map(
    (value) => {
      const transaction = parseRecord(value, blockMethod)
      const to = transaction['to']
      return {
        transactionHash: parseHash(transaction['hash'], blockMethod),
        from: parseAddress(transaction['from'], blockMethod),
        to: to === null || to === undefined ? undefined : parseAddress(to, blockMethod),
        valueWei: parseQuantity(transaction['value'], blockMethod),
        input: parseBytes(transaction['input'], blockMethod),
      }
    },
  )
  const payments = transactions.flatMap(({ from, to, valueWei, transactionHash }) =>
    to === undefined || valueWei === 0n ? [] : [{ from, to, valueWei, transactionHash }],
  )
  const named = transactions.flatMap(({ to, input }) => (to === undefined ? [] : addressesIn(input)))
  return { number, hash, parentHash, payments, named }
}

/**
 * Matches an address as the ABI encodes it: twelve zero bytes and twenty others. By the lookahead, matches may overlap.
 * To leave out plain numbers, the address must not begin with four zero bytes or end with eight, which random addresses
 * practically never do.
 */
const addressWord = /(?=0{24}(?!0{8}|[0-9a-f]{24}0{16})([0-9a-f]{40}))/g
/** Words of nested calls are shifted by their selectors, by four bytes each. */
const alignmentHexDigits = 8

/** Addresses that calldata may name, each once. Pure. */
export function addressesIn(input: Hex): readonly Hex[] {
  const addresses = new Set<Hex>()
  for (const { index, 1: address } of input.slice(2).matchAll(addressWord)) {
    if (index % alignmentHexDigits === 0 && address !== undefined) addresses.add(`0x${address}`)
  }
  return [...addresses]
}

/** Transfers of tokens in an answer. @throws MalformedAnswerError, also for a log that was not asked for */
function transfersOf(
  answer: RpcAnswer | undefined,
  range: Omit<PaymentRange, 'known'>,
  tokens: ReadonlySet<Hex>,
): readonly Payment[] {
  return parseList(resultOf(answer), logsMethod).flatMap((value) => {
    const log = parseRecord(value, logsMethod)
    const blockNumber = parseQuantity(log['blockNumber'], logsMethod)
    if (blockNumber < range.transfersFrom || blockNumber > range.to)
      throw new MalformedAnswerError(logsMethod)
    const currency = parseAddress(log['address'], logsMethod)
    // The node returned a log of a contract that was not asked for: anybody's contract can write such a log.
    if (!tokens.has(currency)) throw new MalformedAnswerError(logsMethod)
    return parseTransfer(log, currency) ?? []
  })
}

/** `undefined` for a transfer of 0, and for an event of another shape than a known token's. */
function parseTransfer(log: Readonly<Record<string, unknown>>, currency: Hex): Payment | undefined {
  const [, sender, recipient] = parseList(log['topics'], logsMethod)
  const data = parseBytes(log['data'], logsMethod)
  if (recipient === undefined || !isAnyCaseHex32(data) || BigInt(data) === 0n) return undefined
  return {
    id: `${parseHash(log['blockHash'], logsMethod)} ${parseQuantity(log['logIndex'], logsMethod)}`,
    from: topicAddress(sender),
    to: topicAddress(recipient),
    currency,
    amount: BigInt(data),
    transactionHash: parseHash(log['transactionHash'], logsMethod),
  }
}

function topicAddress(topic: unknown): Hex {
  return `0x${parseHash(topic, logsMethod).slice(26)}`
}
