import { type Hex, isAnyCaseHex32 } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import {
  MalformedAnswerError,
  NodeError,
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
import { type BlockWithHash, blockReading, parseAddress, type Reading } from './chainReadings.ts'

/**
 * Reads whole blocks for payments, so that the cost does not depend on the number of watched addresses. Native coin
 * that a contract pays is in no transaction's value. The contract usually is told the payee in its calldata, so all
 * addresses that calldata may name are returned as `named`, and the caller reads balances of those that it watches.
 */
export function blockPaymentsReading(tokens: readonly Hex[], range: PaymentRange): Reading<AddressPayments> {
  // CAST: zero, as 20 bytes of hex.
  const nativeCurrency = ethereumCodec.nativeCurrency as Hex
  const watched = { nativeCurrency, tokens: new Set(tokens) }
  const heights = heightsOf(range)
  const knownBlock = blockReading(range.known)
  const logs = {
    method: 'eth_getLogs',
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
      ...heights.map((height) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(height), true] })),
      ...(tokens.length > 0 && range.transfersFrom <= range.to ? [logs] : []),
    ],
    parse: ([knownAnswer, ...answers]) => ({
      known: knownBlock.parse([requireAnswer(knownAnswer)]),
      ...parseBlockPayments(answers, range, watched),
    }),
  }
}

/** Currencies of payments, as 20 bytes of lower-case hex. */
type WatchedCurrencies = { readonly nativeCurrency: Hex; readonly tokens: ReadonlySet<Hex> }

/**
 * @param answers a block per height, and the transfers of tokens where there are any
 * @throws MalformedAnswerError, NodeError
 */
export function parseBlockPayments(
  answers: readonly RpcAnswer[],
  range: Omit<PaymentRange, 'known'>,
  { nativeCurrency, tokens }: WatchedCurrencies,
): Omit<AddressPayments, 'known'> {
  const heights = heightsOf(range)
  const blocks = heights.map((height, index) => parseBlock(requireAnswer(answers[index]), height))
  // All blocks must be of one branch: else payments of the branch that stays could be missed.
  for (const [index, block] of blocks.entries()) {
    const previous = blocks[index - 1]
    if (previous !== undefined && block.parentHash !== previous.hash)
      throw new MalformedAnswerError(requestName)
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

const requestName = 'eth_getBlockByNumber'

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

function parseBlock(answer: RpcAnswer, height: bigint): PaidBlock {
  const result = resultOf(answer)
  const { number, hash, parentHash } = parseHead(result)
  if (number !== height) throw new MalformedAnswerError(requestName)
  const transactions = parseList(parseRecord(result, requestName)['transactions'], requestName).map(
    (value) => {
      const transaction = parseRecord(value, requestName)
      const to = transaction['to']
      return {
        transactionHash: parseHash(transaction['hash'], requestName),
        from: parseAddress(transaction['from'], requestName),
        to: to === null || to === undefined ? undefined : parseAddress(to, requestName),
        valueWei: parseQuantity(transaction['value'], requestName),
        input: parseBytes(transaction['input'], requestName),
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
 * Matches an address as the ABI encodes it: twelve zero bytes and twenty others. To leave out plain numbers, the
 * address must not begin with four zero bytes or end with eight; random addresses practically never do.
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

function transfersOf(
  answer: RpcAnswer,
  range: Omit<PaymentRange, 'known'>,
  tokens: ReadonlySet<Hex>,
): readonly Payment[] {
  return parseList(resultOf(answer), 'eth_getLogs').flatMap((value) => {
    const log = parseRecord(value, 'eth_getLogs')
    const blockNumber = parseQuantity(log['blockNumber'], 'eth_getLogs')
    if (blockNumber < range.transfersFrom || blockNumber > range.to)
      throw new MalformedAnswerError('eth_getLogs')
    const currency = parseAddress(log['address'], 'eth_getLogs')
    // The node returned a log of a contract that was not asked for: anybody's contract can write such a log.
    if (!tokens.has(currency)) throw new MalformedAnswerError('eth_getLogs')
    const [, sender, recipient] = parseList(log['topics'], 'eth_getLogs')
    const data = parseBytes(log['data'], 'eth_getLogs')
    // A Transfer event with other indexed members is not the one of a known token.
    if (recipient === undefined || !isAnyCaseHex32(data) || BigInt(data) === 0n) return []
    const [from, to] = [sender, recipient].map(
      (topic) => `0x${parseHash(topic, 'eth_getLogs').slice(26)}` as const,
    )
    if (from === undefined || to === undefined) return []
    const id = `${parseHash(log['blockHash'], 'eth_getLogs')} ${parseQuantity(log['logIndex'], 'eth_getLogs')}`
    const transactionHash = parseHash(log['transactionHash'], 'eth_getLogs')
    return [{ id, from, to, currency, amount: BigInt(data), transactionHash }]
  })
}

function requireAnswer(answer: RpcAnswer | undefined): RpcAnswer {
  if (answer === undefined) throw new MalformedAnswerError('JSON-RPC batch')
  return answer
}

function resultOf(answer: RpcAnswer): unknown {
  if (!answer.ok) throw new NodeError(answer)
  return answer.result
}
