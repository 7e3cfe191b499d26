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
import { type BlockReference, blockReading, parseAddress, type Reading } from './chainReadings.ts'

/**
 * Reads whole blocks: their size is the cost, not the number of addresses that somebody watches. A payment by
 * a contract is in no transaction's own value; the contract is told whom to pay, so the address is named.
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
        ...{ address: tokens, topics: [transferTopic] },
        ...{ fromBlock: toQuantity(range.transfersFrom), toBlock: toQuantity(range.to) },
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
  // Blocks of two branches would hide what the branch that stays has paid.
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1]
    if (before !== undefined && block.parentHash !== before.hash) throw new MalformedAnswerError(requestName)
  }
  const coins = blocks.flatMap(({ payments }) =>
    payments.map(({ valueWei, ...rest }) => ({ ...rest, currency: nativeCurrency, amount: valueWei })),
  )
  const received = answers.slice(heights.length).flatMap((answer) => transfersOf(answer, range, tokens))
  const last = blocks.at(-1)
  return {
    last: last && { number: last.number, hash: last.hash },
    payments: [...coins, ...received],
    named: [...new Set(blocks.flatMap(({ named }) => named))],
  }
}

function heightsOf({ from, to }: { readonly from: bigint; readonly to: bigint }): readonly bigint[] {
  return Array.from({ length: Number(to - from) + 1 }, (_, at) => from + BigInt(at))
}

const requestName = 'eth_getBlockByNumber'

type PaidBlock = BlockReference & {
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
 * Twelve zero bytes and twenty others, as the ABI writes an address. Not what is a number at the end of a word:
 * no address that anybody finds by chance begins with four zero bytes or ends with eight.
 */
const addressWord = /(?=0{24}(?!0{8}|[0-9a-f]{24}0{16})([0-9a-f]{40}))/g
/** Selectors of calls inside calls shift the words by four bytes each. */
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
    // Anybody's contract can write such a log.
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
